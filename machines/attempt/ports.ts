import type { CallbackActorLogic, PromiseActorLogic } from 'xstate';
import type { Feedback, Reply, Validation } from '../contracts/attempt.ts';
import type { AttemptPolicy } from '../contracts/attempt-policy.ts';
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

/** Where a call stands. Times are milliseconds since the epoch by the run's clock; `chars` counts the text that came so far. */
export interface CallProgress {
  readonly openedAtMs: number;
  readonly atMs: number;
  readonly chars: number;
}

export type ReadReplyEvent =
  | (CallProgress & { readonly type: 'reply.started' | 'reply.progressed' })
  | (CallProgress & { readonly type: 'reply.ended'; readonly reply: Reply });

/**
 * The stream level [A2]: calls the model once and reads its stream to the end; neither validates nor retries.
 *
 * It sends `reply.started` at the first chunk, `reply.progressed` once in an eighth of `chunkMs` while chunks arrive and now and then as the text grows (never once a chunk), and `reply.ended` exactly once. It never fails: what went wrong is in `reply.failure`.
 * Stopped early, it aborts the call and sends nothing more.
 */
export type ReadReply = CallbackActorLogic<ReadReplyEvent, ReadReplyInput>;

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
