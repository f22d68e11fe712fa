import type { PromiseActorLogic } from 'xstate';
import type { actionMachine } from '../action/action.machine.ts';
import type { attemptMachine } from '../attempt/attempt.machine.ts';
import type { CallAheadInput, EarlyReply } from '../contracts/attempt.ts';
import type { CompareAnswersInput, ContextMeasures, MeasureContextInput } from '../contracts/context.ts';
import type { Grading, GradingInput } from '../contracts/grading.ts';
import type { Retrieval, RetrievePassagesInput } from '../contracts/passage.ts';
import type { RecalledSession, SessionTurn } from '../contracts/session.ts';
import { missingActor } from '../missing-actor.ts';

export interface RecallSessionInput {
  readonly sessionId: string;
  /** The maximum number of turns to recall; the newest are preferred. */
  readonly turns: number;
}

export interface AppendTurnInput {
  readonly sessionId: string;
  readonly turn: SessionTurn;
}

/** The actors that the chain invokes. Every promise may reject: the run continues without its result. */
export type ChainActors = {
  readonly attempt: typeof attemptMachine;
  readonly action: typeof actionMachine;
  /** Makes the first call of an attempt before its phase starts. A failure of the model is in the result and does not reject. */
  readonly callAhead: PromiseActorLogic<EarlyReply, CallAheadInput>;
  /** Searches the documents. */
  readonly retrievePassages: PromiseActorLogic<Retrieval, RetrievePassagesInput>;
  /** Counts tokens and compares messages with the request. Without a result, tokens are estimated. */
  readonly measureContext: PromiseActorLogic<ContextMeasures, MeasureContextInput>;
  /** Measures by embeddings how much an answer changed, 0 to 1; null if that is unknown. */
  readonly compareAnswers: PromiseActorLogic<number | null, CompareAnswersInput>;
  /** Grades the answer with the user's grader or judge. Without a result, the default grades count. */
  readonly gradeAnswer: PromiseActorLogic<Grading, GradingInput>;
  readonly recallSession: PromiseActorLogic<RecalledSession, RecallSessionInput>;
  readonly appendTurn: PromiseActorLogic<void, AppendTurnInput>;
};

export const missingChainActors: ChainActors = {
  attempt: missingActor('attempt'),
  action: missingActor('action'),
  callAhead: missingActor('callAhead'),
  retrievePassages: missingActor('retrievePassages'),
  measureContext: missingActor('measureContext'),
  compareAnswers: missingActor('compareAnswers'),
  gradeAnswer: missingActor('gradeAnswer'),
  recallSession: missingActor('recallSession'),
  appendTurn: missingActor('appendTurn'),
};
