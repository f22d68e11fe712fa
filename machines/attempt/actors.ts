import type { CallbackActorLogic, PromiseActorLogic } from 'xstate';
import type { AttemptEvent, AttemptPolicy, Feedback, Validation } from '../contracts/attempt.ts';
import type { Failure } from '../contracts/failure.ts';
import type { Phase } from '../contracts/phase.ts';
import { missingActor } from '../missing-actor.ts';

/**
 * The input for reading one reply. `attempt` counts from 1; `model` counts from 0, the first model, through its
 * fallbacks.
 */
export interface ReadReplyInput {
  readonly attemptId: string;
  readonly task: string;
  readonly attempt: number;
  readonly model: number;
  /** The reply form: 0 is the configured one, 1 and 2 the others, 3 text. */
  readonly form: number;
  /** Whether a reply without JSON may be prose. */
  readonly mayBeProse: boolean;
  /** Why the model is not called: no model is left for the task. Null if it is called. */
  readonly notCalled: Failure | null;
  /** The maximum number of prompt tokens with which the call stays within the cost limit; null: no limit. */
  readonly maxPromptTokens: number | null;
  readonly input: unknown;
  readonly instructions: string | null;
  /** The phases that a brief reply is for. */
  readonly phases?: readonly Phase[];
  readonly feedback: Feedback | null;
  readonly policy: AttemptPolicy;
}

/**
 * Calls the model once and reads its stream to the end. Does not retry.
 *
 * Sends `reply.started` after the first chunk (not if the reply has ended by then), `reply.progressed` every eighth of `chunkMs`
 * while chunks arrive and occasionally as the text grows (never for each chunk), and `reply.ended` exactly once, with the validation of
 * the value unless the schema is asynchronous. Never fails: errors are in `reply.failure`. If stopped early, it aborts the call and
 * sends nothing more.
 */
export type ReadReply = CallbackActorLogic<AttemptEvent, ReadReplyInput>;

export interface ValidateReplyInput {
  readonly task: string;
  /** The input of the prompt, whose material a brief reply refers to by number. */
  readonly input: unknown;
  readonly phases?: readonly Phase[];
  readonly value: unknown;
}

/** Validates a reply whose schema is asynchronous, or the value that the policy gives. A rejection counts as an unexpected failure. */
export type ValidateReply = PromiseActorLogic<Validation, ValidateReplyInput>;

/** The actors that the attempt machine invokes. */
export type AttemptActors = {
  readonly readReply: ReadReply;
  readonly validateReply: ValidateReply;
};

export const missingAttemptActors: AttemptActors = {
  readReply: missingActor('readReply'),
  validateReply: missingActor('validateReply'),
};
