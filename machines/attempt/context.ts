import type {
  AttemptExecution,
  AttemptInput,
  AttemptOutcome,
  AttemptPolicy,
  AttemptRecord,
  CallProgress,
  Feedback,
  NextCall,
  Reply,
} from '../contracts/attempt.ts';
import type { Failure } from '../contracts/failure.ts';
import { MAX_TIMER_MS } from '../contracts/limits.ts';
import type { TokenUsage } from '../contracts/usage.ts';

import { newExecution } from '../policies/retry.ts';
import { estimateTokens } from '../policies/usage.ts';

/** JSON, all of it. `progress`, `reply`, `value` and `failure` belong to the attempt under way and are cleared before the next [A5]. */
export interface AttemptContext extends AttemptInput {
  readonly execution: AttemptExecution;
  readonly feedback: Feedback | null;
  /** Where the call stands; null while nothing has come. */
  readonly progress: CallProgress | null;
  readonly reply: Reply | null;
  readonly value: unknown;
  readonly failure: Failure | null;
  /** The call to come, once the policy has decided that there is one. */
  readonly next: NextCall | null;
  /** What the attempts so far and the waits between them took. */
  readonly elapsedMs: number;
}

/** What belongs to one attempt, before it has begun. */
export const NOTHING_YET = {
  progress: null,
  reply: null,
  value: null,
  failure: null,
  next: null,
} as const;

export function startAttempts(input: AttemptInput): AttemptContext {
  return { ...input, execution: newExecution(input), feedback: null, elapsedMs: 0, ...NOTHING_YET };
}

/** What the call under way has used: told by its reply, else estimated by what was asked and heard. */
export function callUsage({ reply, progress, input }: AttemptContext): TokenUsage {
  if (reply !== null) return reply.usage;
  const asked = estimateTokens(JSON.stringify(input) ?? '');
  return { inputTokens: asked, outputTokens: Math.ceil((progress?.chars ?? 0) / 4), estimated: true };
}

/** A chunk may come just after a heartbeat: an eighth more, so that a live stream is never cut. */
export function stallMs({ chunkMs }: AttemptPolicy): number {
  return Math.min(MAX_TIMER_MS, chunkMs * 1.125);
}

/** Where the call stands, out of what its reader told. */
export function progressOf({ openedAtMs, atMs, chars }: CallProgress): CallProgress {
  return { openedAtMs, atMs, chars };
}

/** The wait before the call to come. */
export function waitMs({ next }: Pick<AttemptContext, 'next'>): number {
  return next?.waitMs ?? 0;
}

/** What it all took, with the attempt that has just been recorded. */
export function elapsed({ elapsedMs, execution }: Pick<AttemptContext, 'elapsedMs' | 'execution'>): number {
  return elapsedMs + (execution.attempts.at(-1)?.durationMs ?? 0);
}

/** The attempt under way as a record: one that ran into a time-out ends when its timer fired. */
export function attemptRecord(context: AttemptContext): AttemptRecord {
  const { execution, reply, failure, progress } = context;
  return {
    attempt: execution.attempts.length + 1,
    model: execution.fallbacks,
    text: reply?.text ?? '',
    failure,
    usage: callUsage(context),
    startedAtMs: progress?.openedAtMs ?? null,
    durationMs: Math.max(0, durationMs(context)),
  };
}

/** Where the reader of a reply kept the time itself, the reply says what it took. */
function durationMs({ failure, policy, progress, reply, elapsedMs }: AttemptContext): number {
  const toldMs = progress === null ? 0 : progress.atMs - progress.openedAtMs;
  switch (failure?.code) {
    case 'no_reply':
      return reply === null ? policy.firstChunkMs : toldMs;
    case 'stalled':
      return reply === null ? toldMs + stallMs(policy) : toldMs;
    case 'total_deadline':
      return policy.totalMs - elapsedMs;
    default:
      return toldMs;
  }
}

/** What the machine ends with. */
export function attemptOutcome({ execution, value, failure }: AttemptContext): AttemptOutcome {
  return failure === null ? { ok: true, value, execution } : { ok: false, failure, execution };
}
