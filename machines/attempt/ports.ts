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

/**
 * What the reader tells the machine; `atMs` is milliseconds since the epoch by the run's clock. `promptChars` and `chars` are the
 * characters asked and heard so far: what a call that is broken off is charged by.
 */
export type ReadReplyEvent =
  | { readonly type: 'reply.opened'; readonly atMs: number; readonly promptChars: number }
  | { readonly type: 'reply.started'; readonly atMs: number; readonly chars: number }
  | { readonly type: 'reply.progressed'; readonly atMs: number; readonly chars: number }
  | { readonly type: 'reply.ended'; readonly atMs: number; readonly reply: Reply };

/**
 * The stream level [A2]: calls the model once and reads its stream to the end; neither validates nor retries.
 *
 * It sends `reply.opened` at the call, `reply.started` at the first chunk, `reply.progressed` once in an eighth of `chunkMs`
 * while chunks arrive and now and then as the text grows (never once a chunk), and `reply.ended` exactly once. It never fails: what went wrong is in `reply.failure`.
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
