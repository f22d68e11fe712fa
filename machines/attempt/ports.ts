import type { CallbackActorLogic, PromiseActorLogic } from 'xstate';
import type { AttemptPolicy, Feedback, Reply } from '../contracts/attempt.ts';
import type { Failure } from '../contracts/failure.ts';
import type { Task } from '../contracts/phase.ts';
import { port } from '../ports.ts';

/** What reading one reply needs. `attempt` counts from 1. */
export interface ReadReplyInput {
  readonly attemptId: string;
  readonly task: Task;
  readonly attempt: number;
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
  readonly task: Task;
  readonly value: unknown;
}

export type Validation =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly failure: Failure };

/** Checks a parsed reply against the task's schema. A rejection counts as an unexpected failure. */
export type ValidateReply = PromiseActorLogic<Validation, ValidateReplyInput>;

export const attemptPorts = {
  readReply: port<ReadReply>('readReply'),
  validateReply: port<ValidateReply>('validateReply'),
};
