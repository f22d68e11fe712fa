import type { CallbackActorLogic, PromiseActorLogic } from 'xstate';
import type { AttemptPolicy, Feedback, ReplyEvent, Validation } from '../contracts/attempt.ts';

import { port } from '../ports.ts';

/** What reading one reply needs. `attempt` counts from 1; `model` from 0, the first, over its fallbacks. */
export interface ReadReplyInput {
  readonly attemptId: string;
  readonly task: string;
  readonly attempt: number;
  readonly model: number;
  readonly input: unknown;
  readonly feedback: Feedback | null;
  readonly policy: AttemptPolicy;
}

/**
 * The stream level [A2]: calls the model once and reads its stream to the end; neither validates nor retries.
 *
 * It sends `reply.started` at the first chunk, `reply.progressed` once in an eighth of `chunkMs` while chunks arrive and now and then as the text grows (never once a chunk), and `reply.ended` exactly once. It never fails: what went wrong is in `reply.failure`.
 * Stopped early, it aborts the call and sends nothing more.
 */
export type ReadReply = CallbackActorLogic<ReplyEvent, ReadReplyInput>;

export interface ValidateReplyInput {
  readonly task: string;
  readonly value: unknown;
}

/** Checks a parsed reply against the task's schema. A rejection counts as an unexpected failure. */
export type ValidateReply = PromiseActorLogic<Validation, ValidateReplyInput>;

export const attemptPorts = {
  readReply: port<ReadReply>('readReply'),
  validateReply: port<ValidateReply>('validateReply'),
};
