import type { PromiseActorLogic } from 'xstate';
import type { actionMachine } from '../action/action.machine.ts';
import type { attemptMachine } from '../attempt/attempt.machine.ts';
import type { CompareAnswersInput, ContextMeasures, MeasureContextInput } from '../contracts/context-measures.ts';
import type { Retrieval } from '../contracts/passage.ts';
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

/** What the chain asks of the world: two machines with their own ports filled, a search, and two measurements. */
export const chainPorts = {
  attempt: port<typeof attemptMachine>('attempt'),
  action: port<typeof actionMachine>('action'),
  retrievePassages: port<RetrievePassages>('retrievePassages'),
  measureContext: port<MeasureContext>('measureContext'),
  compareAnswers: port<CompareAnswers>('compareAnswers'),
};
