import type { PromiseActorLogic } from 'xstate';
import type { actionMachine } from '../action/action.machine.ts';
import type { attemptMachine } from '../attempt/attempt.machine.ts';
import type { CompareAnswersInput, ContextMeasures, MeasureContextInput } from '../contracts/context.ts';
import type { Retrieval } from '../contracts/passage.ts';
import type { RecalledSession, SessionTurn } from '../contracts/session.ts';
import { port } from '../ports.ts';

export interface RetrievePassagesInput {
  readonly query: string;
  readonly limit: number;
  readonly minRelevance: number;
}

/** Searches what is known. It may reject: a dead source degrades Experience, it does not fail it [C5]. */
export type RetrievePassages = PromiseActorLogic<Retrieval, RetrievePassagesInput>;

/** Counts tokens and compares messages with the request. It may reject: tokens are then estimated. */
export type MeasureContext = PromiseActorLogic<ContextMeasures, MeasureContextInput>;

/** How much an answer changed by its embedding, 0..1; null where that could not be told. It may reject. */
export type CompareAnswers = PromiseActorLogic<number | null, CompareAnswersInput>;

export interface RecallSessionInput {
  readonly sessionId: string;
  /** At most so many, the newest. */
  readonly turns: number;
}

/** Recalls a session. It may reject: the run then goes on without what was remembered. */
export type RecallSession = PromiseActorLogic<RecalledSession, RecallSessionInput>;

export interface AppendTurnInput {
  readonly sessionId: string;
  readonly turn: SessionTurn;
}

/** Adds a turn to a session. It may reject: the answer is there already. */
export type AppendTurn = PromiseActorLogic<void, AppendTurnInput>;

/** What the chain asks of the world: two machines with their own ports filled, a search, two measurements, and the session. */
export const chainPorts = {
  attempt: port<typeof attemptMachine>('attempt'),
  action: port<typeof actionMachine>('action'),
  retrievePassages: port<RetrievePassages>('retrievePassages'),
  measureContext: port<MeasureContext>('measureContext'),
  compareAnswers: port<CompareAnswers>('compareAnswers'),
  recallSession: port<RecallSession>('recallSession'),
  appendTurn: port<AppendTurn>('appendTurn'),
};
