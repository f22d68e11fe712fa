import {
  type AttemptExecution,
  type AttemptInput,
  type AttemptPolicy,
  type AttemptRecord,
  attemptRecordSchema,
  type Feedback,
  type NextCall,
  nextCallSchema,
} from '../contracts/attempt.ts';
import type { GuardResult } from '../contracts/decision.ts';
import type { Failure, FailureStage } from '../contracts/failure.ts';
import { MAX_TIMER_MS } from '../contracts/limits.ts';
import { firstChars, lastChars } from '../text/clip.ts';
import { fnv1a, spread } from '../text/hash.ts';
import { failureOf, isOverBudget, unexpectedFailure } from './failures.ts';
import { fitsTask, isAvailable, type ModelRoute, statusOf, successor, wasNotMade } from './model-status.ts';
import { addCall, NO_USAGE } from './usage.ts';

const isTransport = (failure: Failure): boolean => failure.stage === 'transport';

export function newExecution({ id, task }: Pick<AttemptInput, 'id' | 'task'>): AttemptExecution {
  return { id, task, attempts: [], corrections: 0, transportRetries: 0, fallbacks: 0, usage: NO_USAGE };
}

/** Whether another call would fail as well: for example, an invalid key or a bad request. */
export function isHopeless(failure: Failure): GuardResult {
  return { holds: !failure.retryable, inputs: { stage: failure.stage, code: failure.code, status: failure.status } };
}

/**
 * Whether the budget for this kind of failure allows another call, and the time does: a wait longer than the time left
 * is not started. Corrections (the reply was invalid) and transport retries (it was incomplete) have separate budgets. A
 * model that hangs is not called again. The failed attempt is the execution's last; `elapsedMs` is the time of all attempts
 * and waits so far.
 */
export function retryAllowed(
  execution: AttemptExecution,
  failure: Failure,
  policy: AttemptPolicy,
  elapsedMs: number,
  route: ModelRoute,
): GuardResult {
  const { hungCalls, available, fits } = modelAllows(route, policy);
  const transport = isTransport(failure);
  const used = transport ? execution.transportRetries : execution.corrections;
  const allowed = transport ? policy.maxTransportRetries : policy.maxCorrections;
  const calls = execution.usage.modelCalls;
  const repeated = policy.stopOnRepeatedError && repeatsError(execution);
  const waitMs = backoffMs(execution, failure, policy);
  const leftMs = Math.min(policy.totalMs, policy.parentMs ?? policy.totalMs) - elapsedMs;
  const tokens = tokensAllow(execution, policy);
  return {
    holds:
      used < allowed && calls < policy.maxCalls && tokens.holds && !repeated && waitMs < leftMs && available && fits,
    inputs: {
      kind: transport ? 'transport' : 'correction',
      used,
      allowed,
      calls,
      maxCalls: policy.maxCalls,
      waitMs,
      leftMs,
      ...tokens.inputs,
      ...(hungCalls > 0 && { hungCalls, maxHungCalls: policy.maxHungCalls }),
      ...(!fits && { proseOnly: true }),
      ...(policy.stopOnRepeatedError && { repeated }),
    },
  };
}

/**
 * Whether the next model takes over: there is one, and the current model has no retry left or has failed
 * `fallbackAfter` times. No budget is charged for that call, so a fallback is called at least once. An expired deadline
 * or a broken retry hook does not trigger a fallback.
 */
export function fallbackDue(
  execution: AttemptExecution,
  failure: Failure,
  policy: AttemptPolicy,
  elapsedMs: number,
  route: ModelRoute,
): GuardResult {
  const { attempts, usage } = execution;
  const next = successor(route, policy);
  const stuck = isHopeless(failure).holds || !retryAllowed(execution, failure, policy, elapsedMs, route).holds;
  const failed = attempts.filter(({ model }) => model === route.model).length;
  return {
    holds:
      next !== null &&
      failure.stage !== 'deadline' &&
      failure.code !== POLICY_FAILED &&
      !isOverBudget(failure) &&
      usage.modelCalls < policy.maxCalls &&
      tokensAllow(execution, policy).holds &&
      (stuck || failed >= policy.fallbackAfter),
    inputs: { next, stuck, failed, calls: usage.modelCalls, maxCalls: policy.maxCalls },
  };
}

/** Whether the current model may be called again: it does not hang, and there is a form that its reply could have. */
function modelAllows(route: ModelRoute, policy: AttemptPolicy) {
  const status = statusOf(route);
  return { hungCalls: status.hungCalls, available: isAvailable(status, policy), fits: fitsTask(route, policy) };
}

/** Whether another prompt like the last fits into the tokens that are left. */
function tokensAllow({ usage, attempts }: AttemptExecution, { maxTokens }: AttemptPolicy): GuardResult {
  if (maxTokens === null) return { holds: true, inputs: {} };
  const tokens = usage.inputTokens + usage.outputTokens;
  const promptTokens = attempts.at(-1)?.usage.inputTokens ?? 0;
  return { holds: tokens + promptTokens <= maxTokens, inputs: { tokens, promptTokens, maxTokens } };
}

/** Whether the last two invalid replies of the current model failed in the same way, issue by issue. */
function repeatsError({ attempts }: AttemptExecution): boolean {
  const current = attempts.at(-1)?.model;
  const invalid = attempts.flatMap(({ failure, model }) =>
    failure === null || isTransport(failure) || model !== current ? [] : [failure],
  );
  const [before, last] = invalid.slice(-2).map(({ stage, code, issues }) => JSON.stringify([stage, code, issues]));
  return last !== undefined && before === last && attempts.at(-1)?.failure === invalid.at(-1);
}

/** Returns the execution with one more finished attempt, at its model's price. A call that was not made costs nothing. */
export function recordAttempt(
  execution: AttemptExecution,
  record: AttemptRecord,
  prices: AttemptPolicy['prices'],
): AttemptExecution {
  const price = prices[record.model] ?? null;
  return {
    ...execution,
    attempts: [...execution.attempts, record],
    usage: wasNotMade(record.failure) ? execution.usage : addCall(execution.usage, record.usage, price),
  };
}

export function countRetry(execution: AttemptExecution, failure: Failure): AttemptExecution {
  return isTransport(failure)
    ? { ...execution, transportRetries: execution.transportRetries + 1 }
    : { ...execution, corrections: execution.corrections + 1 };
}

export function countFallback(execution: AttemptExecution): AttemptExecution {
  return { ...execution, fallbacks: execution.fallbacks + 1 };
}

/**
 * The wait before the next call, in milliseconds: what the server requested, or else an exponential backoff up to a maximum, minus
 * jitter. Corrections and transport retries have their own first wait; by default a correction starts at once.
 *
 * Jitter keeps clients that failed together from retrying together. It is derived from the execution's id and the retry
 * number instead of chance: different executions spread, and a replayed one waits the same time.
 *
 * @see https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
 */
export function backoffMs(execution: AttemptExecution, failure: Failure, policy: AttemptPolicy): number {
  const transport = isTransport(failure);
  if (transport && failure.retryAfterMs !== null) return Math.min(MAX_TIMER_MS, failure.retryAfterMs);
  const { corrections, transportRetries } = execution;
  const [baseMs, retries] = transport
    ? [policy.backoffBaseMs, transportRetries]
    : [policy.correctionBackoffMs, corrections];
  const whole = Math.min(policy.backoffMaxMs, baseMs * 2 ** retries);
  return whole * (1 - policy.backoffJitter * pseudoRandom(`${execution.id} ${transport ? '' : 'c'}${retries}`));
}

/** Returns a number in [0, 1) derived from a text, evenly distributed: FNV-1a with the finalizer of MurmurHash3. */
function pseudoRandom(text: string): number {
  return (spread(fnv1a(text)) >>> 0) / 2 ** 32;
}

interface Planned {
  /** Null if there is no next call. */
  readonly next: NextCall | null;
  /** The failure to end with; that of a retry hook if one failed. */
  readonly failure: Failure;
}

interface PlanContext {
  readonly hooks: RetryHooks;
  readonly elapsedMs: number;
  readonly route: ModelRoute;
}

/** Plans the call after a failed attempt, whose reply had this text. The user's retry hooks have the last word. */
export function planNextCall(
  execution: AttemptExecution,
  failure: Failure,
  text: string,
  policy: AttemptPolicy,
  { hooks, elapsedMs, route }: PlanContext,
): Planned {
  const feedback = feedbackFor(text, failure, policy.maxFeedbackChars);
  if (fallbackDue(execution, failure, policy, elapsedMs, route).holds)
    return { next: { waitMs: 0, feedback }, failure };
  if (isHopeless(failure).holds || !retryAllowed(execution, failure, policy, elapsedMs, route).holds)
    return { next: null, failure };
  const next = { waitMs: backoffMs(execution, failure, policy), feedback };
  const { value, hookError } = requestedCall(hooks, next, execution, failure);
  return { next: value, failure: hookError ?? failure };
}

const MAX_ISSUES = 10;
const MAX_ISSUE_CHARS = 300;

/** Stages at which the reply itself was invalid, so feedback helps. */
const STAGES: readonly FailureStage[] = ['extraction', 'schema', 'refinement', 'transformation'];

/**
 * Feedback on the last reply for the next call; null if the reply was not at fault or feedback would not help. At most
 * `maxChars` characters, half for the reply and half for its problems, plus the notes on what was left out.
 */
function feedbackFor(text: string, failure: Failure, maxChars: number): Feedback | null {
  if (maxChars === 0 || !failure.retryable || !STAGES.includes(failure.stage)) return null;
  const half = Math.floor(maxChars / 2);
  if (failure.code === 'form_rejected') return null;
  const issues = failure.issues
    .slice(0, MAX_ISSUES)
    .map(({ path, message }) => headAndTail(`- ${path || '(root)'}: ${message}`, MAX_ISSUE_CHARS));
  const more = failure.issues.length - issues.length;
  if (more > 0) issues.push(`- and ${more} more`);
  return {
    previousReply: withoutLoops(headAndTail(text, maxChars - half)),
    problem: headAndTail([headAndTail(failure.message, MAX_ISSUE_CHARS), ...issues].join('\n'), half),
  };
}

const LOOP = /(.{1,125}?)\1{7,}/gsu;
const MIN_LOOP_CHARS = 100;

/** Shortens what a model repeats again and again, because a model that sees it continues it. */
const withoutLoops = (text: string): string =>
  text.replace(LOOP, (all, once: string) =>
    all.length < MIN_LOOP_CHARS ? all : `${once}[repeated ${all.length / once.length} times]`,
  );

/** Returns the beginning and end of a long text, with a note on how much was left out. */
function headAndTail(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const half = Math.floor(maxChars / 2);
  const head = firstChars(text, half);
  const tail = lastChars(text, half);
  return `${head}\n[${text.length - head.length - tail.length} characters left out]\n${tail}`;
}

/**
 * The user's own retry rules, in addition to the policy's numbers. They run within a transition, so they must be
 * synchronous, without I/O, clock or randomness. A hook that throws or returns an invalid value is a programming error: it ends the
 * attempts with the failure `policy_failed`.
 */
export interface RetryHooks {
  /**
   * Called if the budgets allow another call of the same model; `false` ends the attempts. It cannot allow what the
   * budgets do not.
   */
  readonly shouldRetry?: (execution: AttemptExecution, failure: Failure) => boolean;
  /** Returns the record of a failed attempt to keep, for example without its text. */
  readonly recordFailure?: (record: AttemptRecord, execution: AttemptExecution) => AttemptRecord;
  /** Returns the next call, for example with a longer wait or other feedback. */
  readonly prepareRetry?: (next: NextCall, execution: AttemptExecution, failure: Failure) => NextCall;
  /**
   * Called once when no call is left. A returned value is validated and becomes the result; undefined keeps the failure. If it
   * throws, the failure keeps its stage and has the code `policy_failed` and the message of the error.
   */
  readonly finalizeOrThrow?: (failure: Failure, execution: AttemptExecution) => unknown;
}

export const NO_HOOKS: RetryHooks = {};

const POLICY_FAILED = 'policy_failed';

type HookResult<Value> =
  | { readonly value: Value; readonly hookError: null }
  | { readonly value: null; readonly hookError: Failure };

export function keptRecord(
  hooks: RetryHooks,
  record: AttemptRecord,
  execution: AttemptExecution,
): HookResult<AttemptRecord> {
  const { recordFailure } = hooks;
  if (recordFailure === undefined) return { value: record, hookError: null };
  return runHook('recordFailure', () => attemptRecordSchema.parse(recordFailure(record, execution)));
}

function requestedCall(
  { shouldRetry, prepareRetry }: RetryHooks,
  next: NextCall,
  execution: AttemptExecution,
  failure: Failure,
): HookResult<NextCall | null> {
  const allowed = runHook(
    'shouldRetry',
    () => shouldRetry === undefined || requireBoolean(shouldRetry(execution, failure)),
  );
  if (allowed.hookError !== null) return allowed;
  if (!allowed.value) return { value: null, hookError: null };
  if (prepareRetry === undefined) return { value: next, hookError: null };
  return runHook('prepareRetry', () => nextCallSchema.parse(prepareRetry(next, execution, failure)));
}

interface FinalResult {
  /** The value in place of a reply; null if there is none. */
  readonly final: { readonly value: unknown } | null;
  readonly failure: Failure;
}

/** Returns what the policy gives instead of the value that no call gave. */
export function finalResult(
  { finalizeOrThrow }: RetryHooks,
  failure: Failure,
  execution: AttemptExecution,
): FinalResult {
  const { value, hookError } = runHook('finalizeOrThrow', () => requireValue(finalizeOrThrow?.(failure, execution)));
  if (hookError === null) return { final: value === undefined ? null : { value }, failure };
  // The chain recognizes an unreachable model by the stage of the last attempt, unless its prompt was too long.
  const stage = failure.code === 'prompt_too_long' ? hookError.stage : failure.stage;
  return { final: null, failure: { ...failure, stage, code: hookError.code, message: hookError.message } };
}

export function invalidFinalValue({ message, issues }: Failure): Failure {
  return failureOf('unexpected', POLICY_FAILED, `The value of finalizeOrThrow is invalid: ${message}`, {
    retryable: false,
    issues,
  });
}

/** Returns the value of `finalizeOrThrow`. Throws for a promise, which cannot be awaited within a transition. */
export function requireValue(given: unknown): unknown {
  if (!(given instanceof Promise)) return given;
  given.catch(() => {});
  throw new TypeError('expected a value; received a promise');
}

/** A promise would be truthy whatever it resolves to. */
export function requireBoolean(given: unknown): boolean {
  if (typeof given === 'boolean') return given;
  if (given instanceof Promise) given.catch(() => {});
  throw new TypeError(`expected a boolean; received ${given instanceof Promise ? 'a promise' : typeof given}`);
}

function runHook<Value>(rule: string, work: () => Value): HookResult<Value> {
  try {
    return { value: work(), hookError: null };
  } catch (error) {
    const message = `The retry hook ${rule} failed: ${unexpectedFailure(error).message}`;
    return { value: null, hookError: failureOf('unexpected', POLICY_FAILED, message, { retryable: false }) };
  }
}
