import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { attemptExecutionSchema } from '../../machines/contracts/attempt.ts';
import type { FailureStage } from '../../machines/contracts/failure.ts';
import type { TokenUsage } from '../../machines/contracts/usage.ts';
import { AttemptsExhausted } from '../../src/llm/attempts/attempts-exhausted.ts';
import type { CallPlan, ReplyFault, Schedule, ScheduleLimits } from './attempt-schedules.ts';
import { FinalError, type ObservedRun } from './attempt-simulation.ts';

/** What one call comes to if nobody ends it before. Times count from its beginning. */
interface PredictedCall {
  readonly endsAfterMs: number;
  readonly fault: (ReplyFault & { readonly isHopeless: boolean; readonly retryAfterMs: number | null }) | null;
  /** Null where it can only be estimated. */
  readonly usage: TokenUsage | null;
  /** Whether there is a whole value to validate, right or not. */
  readonly isWhole: boolean;
  /** The reply's own characters that arrived. */
  readonly received: string;
  /** When it was last seen alive, as its watch keeps it. */
  readonly seenAtMs: number | null;
  /** Two things happen at one time, and no rule says which is first. */
  readonly isTie: boolean;
}

const callFault = (
  stage: ReplyFault['stage'],
  code: string,
  isHopeless = false,
  retryAfterMs: number | null = null,
) => ({
  stage,
  code,
  detail: code,
  isHopeless,
  retryAfterMs,
});

/** Listens to a call: the first part must come in time, and each further one, and there may not be too much. */
function predictCall(call: CallPlan, { firstChunkMs, chunkMs, maxReplyChars }: ScheduleLimits): PredictedCall {
  let [nowMs, chars, dueMs, isTie] = [0, 0, firstChunkMs, false];
  let seenAtMs: number | null = null;
  let heard = '';
  const ended = (
    endsAfterMs: number,
    wrong: PredictedCall['fault'],
    usage: TokenUsage | null = null,
  ): PredictedCall => ({
    endsAfterMs,
    fault: wrong,
    usage,
    isWhole: false,
    received: heard,
    seenAtMs,
    isTie,
  });
  const late = (): PredictedCall => ended(dueMs, callFault('transport', seenAtMs === null ? 'no_reply' : 'stalled'));

  for (const step of call.steps) {
    nowMs += step.afterMs;
    isTie ||= nowMs === dueMs;
    if (nowMs > dueMs) return late();
    // The watch may be set again as seldom as once in an eighth; that eighth is added to the wait, so none is cut early.
    if (seenAtMs === null || nowMs - seenAtMs >= chunkMs / 8) {
      seenAtMs = nowMs;
      dueMs = nowMs + chunkMs * 1.125;
    }
    chars += step.text.length;
    if (chars > maxReplyChars) return ended(nowMs, callFault('extraction', 'too_long'));
    if (step.type === 'own') heard += step.text;
  }

  nowMs += call.endAfterMs;
  isTie ||= nowMs === dueMs;
  const { ending, reply: said } = call;
  if (nowMs > dueMs || ending.type === 'hang' || ending.type === 'deaf') return late();
  if (ending.type === 'throw') return ended(nowMs, callFault('unexpected', 'model_threw', true));
  if (ending.type === 'failure') {
    const { stage, code, retryable, retryAfterMs } = ending.failure;
    return ended(nowMs, callFault(stage, code, !retryable, retryAfterMs), ending.usage);
  }
  const usage = ending.type === 'finish' ? ending.usage : null;
  const reason = ending.type === 'finish' ? ending.reason : null;
  if (reason === 'content-filter') return ended(nowMs, callFault('refinement', 'filtered', true), usage);
  if (said.json === undefined && reason === 'length') return ended(nowMs, callFault('extraction', 'truncated'), usage);
  const wrong = said.fault && { ...said.fault, isHopeless: false, retryAfterMs: null };
  return { ...ended(nowMs, wrong, usage), isWhole: said.json !== undefined };
}

/** The items that are whole, and right up to the first that is not, in what was heard of a call. */
function itemsReceived({ reply: said }: CallPlan, { received: heard }: PredictedCall): readonly unknown[] {
  return said.items.filter((_, index) => heard.length >= (said.itemEnds[index] ?? Number.POSITIVE_INFINITY));
}

/** What the rules of docs/structured-output.md say that comes of a schedule. */
export interface Expected {
  readonly attempts: readonly ExpectedAttempt[];
  /** Calls that were made, finished or not: the model of each, and when. Prompts that fit into no model are not sent. */
  readonly calls: readonly ExpectedCall[];
  readonly end: ExpectedEnd;
  readonly endedAtMs: number;
  readonly budgets: { readonly corrections: number; readonly transportRetries: number; readonly fallbacks: number };
  readonly isTie: boolean;
}

type ExpectedEnd =
  | { readonly type: 'value'; readonly value: unknown; readonly json: unknown }
  | { readonly type: 'exhausted'; readonly code: string }
  | { readonly type: 'cancelled' };

interface ExpectedCall {
  readonly model: number;
  readonly atMs: number;
  /** Whether the model is told of a reply that was wrong. */
  readonly isCorrected: boolean;
}

interface ExpectedAttempt {
  readonly model: number;
  readonly failure: { readonly stage: FailureStage; readonly code: string } | null;
  readonly usage: TokenUsage | null;
  readonly endedAtMs: number;
  /** How long the call took; null where validation took time too, which is not counted. */
  readonly lastedMs: number | null;
  /** The wait before the next; null, there is none; undefined, it is not known any more. */
  readonly waitMs: number | null | undefined;
  /** How long a wait that is drawn may be. */
  readonly wait: { readonly aboveMs: number; readonly upToMs: number } | null;
}

/** How a call ends that is stopped before its value. */
const ABORTED = { stage: 'aborted', code: 'aborted' } as const;

/** The code of an end that a rule which threw has made. */
const POLICY_FAILED = 'policy_failed';

const near = (a: number, b: number): boolean => Math.abs(a - b) < 1e-6;

/** Goes through a schedule by the rules. What jitter draws is nobody's rule: `drawn` gives the waits as they were. */
export function predict(schedule: Schedule, drawn: (attempt: number, upToMs: number) => number): Expected {
  const { policy, limits, hooks, stop, validateMs, reader } = schedule;
  const [spent, attempts, calls] = [
    { corrections: 0, transportRetries: 0, fallbacks: 0 },
    [] as ExpectedAttempt[],
    [] as ExpectedCall[],
  ];
  const wrongs: string[] = [];
  const stopAtMs = stop?.atMs ?? Number.POSITIVE_INFINITY;
  let [nowMs, failedHere, isTie] = [0, 0, false];
  /** What the attempts and the waits took: all but validation. */
  let tookMs = 0;
  let isCorrected = false;
  const result = (end: ExpectedEnd, endedAtMs: number): Expected => ({
    attempts,
    calls,
    end,
    endedAtMs,
    budgets: spent,
    isTie,
  });
  const add = (attempt: Omit<ExpectedAttempt, 'model' | 'wait'>, wait: ExpectedAttempt['wait'] = null): void => {
    attempts.push({ model: spent.fallbacks, wait, ...attempt });
  };
  const tooLate = (atMs: number): 'stopped' | 'deadline' | null => {
    isTie ||= near(atMs, limits.totalMs) || near(atMs, stopAtMs) || near(stopAtMs, limits.totalMs);
    if (atMs < stopAtMs && atMs < limits.totalMs) return null;
    return stopAtMs < limits.totalMs ? 'stopped' : 'deadline';
  };
  const deadline = { stage: 'deadline', code: 'total_deadline' } as const;

  if (stopAtMs < 0) return result({ type: 'cancelled' }, 0);
  for (;;) {
    const plan =
      schedule.calls[calls.length + attempts.filter(({ failure }) => failure?.code === 'prompt_too_long').length];
    if (plan === undefined) throw new Error('the schedule has no such call');
    const isNarrow = schedule.narrow[spent.fallbacks] === true;
    const call: PredictedCall = isNarrow ? unsentCall : predictCall(plan, limits);
    isTie ||= call.isTie;
    if (!isNarrow) calls.push({ model: spent.fallbacks, atMs: nowMs, isCorrected });

    const repliedAtMs = nowMs + call.endsAfterMs;
    const atMs = repliedAtMs + (call.isWhole ? validateMs : 0);
    const cut = tooLate(repliedAtMs) ?? tooLate(atMs);
    if (cut === 'stopped') {
      const usage = repliedAtMs < stopAtMs ? call.usage : null;
      add({ failure: ABORTED, usage, endedAtMs: stopAtMs, lastedMs: null, waitMs: null });
      return result({ type: 'cancelled' }, stopAtMs);
    }
    if (cut === 'deadline') {
      const usage = repliedAtMs < limits.totalMs ? call.usage : null;
      const lastedMs = validateMs === 0 ? limits.totalMs - nowMs : null;
      add({ failure: deadline, usage, endedAtMs: limits.totalMs, lastedMs, waitMs: null });
      return exhausted(asks('recordFailure', attempts.length) ? POLICY_FAILED : deadline.code, limits.totalMs);
    }
    nowMs = atMs;

    const { fault: wrong, usage } = call;
    const ended = { usage, endedAtMs: nowMs, lastedMs: call.endsAfterMs };
    if (wrong === null) {
      add({ ...ended, failure: null, waitMs: null });
      return result({ type: 'value', value: plan.reply.value, json: plan.reply.json }, nowMs);
    }
    const failure = { stage: wrong.stage, code: wrong.code };
    const at = attempts.length + 1;
    if (asks('recordFailure', at)) {
      add({ ...ended, failure, waitMs: null });
      return exhausted(POLICY_FAILED, nowMs);
    }
    failedHere += 1;
    const isTransport = wrong.stage === 'transport';
    if (!isTransport) wrongs.push(`${wrong.stage} ${wrong.code} ${wrong.detail}`);

    const used = isTransport ? spent.transportRetries : spent.corrections;
    const budget = isTransport ? policy.maxTransportRetries : policy.maxCorrections;
    const isRepeated =
      policy.stopOnRepeatedError && !isTransport && wrongs.length > 1 && wrongs.at(-1) === wrongs.at(-2);
    const mayCall = at < limits.maxCalls;
    const firstMs = isTransport ? policy.baseMs : policy.correctionMs;
    const upToMs = Math.min(policy.maxMs, firstMs * 2 ** used);
    tookMs += call.endsAfterMs;
    const leftMs = limits.totalMs - tookMs;
    const askedMs = isTransport ? wrong.retryAfterMs : null;
    const mostMs = askedMs ?? upToMs;
    const leastMs = askedMs ?? upToMs * (1 - policy.jitter);
    const isInTime = mostMs < leftMs;
    const mayRetry = !wrong.isHopeless && used < budget && !isRepeated && mayCall && isInTime;
    isTie ||= !isInTime && leastMs < leftMs;
    isTie ||= near(mostMs, leftMs);
    const isDue = !mayRetry || failedHere >= (policy.after ?? Number.POSITIVE_INFINITY);
    const isOfReply = !isTransport && wrong.stage !== 'unexpected' && !wrong.isHopeless;
    if (policy.feedbackChars > 0 && isOfReply) isCorrected = true;

    if (spent.fallbacks < policy.fallbacks && mayCall && isDue) {
      add({ ...ended, failure, waitMs: 0 });
      spent.fallbacks += 1;
      failedHere = 0;
      wrongs.length = 0;
    } else if (!mayRetry || declines(at)) {
      add({ ...ended, failure, waitMs: null });
      return exhausted(mayRetry && asks('shouldRetry', at) ? POLICY_FAILED : wrong.code, nowMs);
    } else {
      if (asks('shouldRetry', at) || asks('prepareRetry', at)) {
        add({ ...ended, failure, waitMs: null });
        return exhausted(POLICY_FAILED, nowMs);
      }
      const isDrawn = askedMs === null && upToMs > 0 && policy.jitter > 0;
      const plainMs = askedMs ?? (isDrawn ? drawn(at, upToMs) - hooks.extraWaitMs : upToMs);
      const waitMs = plainMs + hooks.extraWaitMs;
      add({ ...ended, failure, waitMs }, isDrawn ? { aboveMs: upToMs * (1 - policy.jitter), upToMs } : null);
      spent[isTransport ? 'transportRetries' : 'corrections'] += 1;
      const cutWaiting = waitMs > 0 && reader.type !== 'leaves' ? tooLate(nowMs + waitMs) : null;
      if (cutWaiting === 'stopped') return result({ type: 'cancelled' }, stopAtMs);
      if (cutWaiting === 'deadline') return exhausted(deadline.code, limits.totalMs);
      nowMs += waitMs;
      tookMs += waitMs;
    }
    // Whether one can leave before a call that is never made has failed is nobody's rule.
    isTie ||= reader.type === 'leaves' && schedule.narrow[spent.fallbacks] === true;
    if (reader.type === 'leaves') return result({ type: 'cancelled' }, ended.endedAtMs);
  }

  function asks(rule: string, at: number): boolean {
    return hooks.throwing?.rule === rule && hooks.throwing.at === at;
  }

  function declines(at: number): boolean {
    return hooks.declinesFrom !== null && at >= hooks.declinesFrom;
  }

  function exhausted(code: string, endedAtMs: number): Expected {
    return result({ type: 'exhausted', code }, endedAtMs);
  }
}

/** The prompt does not fit into the model. */
const unsentCall: PredictedCall = {
  endsAfterMs: 0,
  fault: { stage: 'transport', code: 'prompt_too_long', detail: '', isHopeless: true, retryAfterMs: null },
  usage: null,
  isWhole: false,
  received: '',
  seenAtMs: null,
  isTie: false,
};

const strictExecution = z.strictObject(attemptExecutionSchema.shape);

/** In words, all that is not as it should be; nothing of what a reader saw. */
export function scheduleDifferences(schedule: Schedule, expected: Expected, observed: ObservedRun): string[] {
  const found: string[] = [];
  const same = (what: string, is: unknown, wanted: unknown): void => {
    if (!isDeepStrictEqual(is, wanted))
      found.push(`${what}: is ${JSON.stringify(is)}, wanted ${JSON.stringify(wanted)}`);
  };
  const { attempts } = expected;
  const { execution } = observed;

  same('endings', observed.endings, 1);
  same('left', observed.left, { timers: 0, calls: 0, listeners: 0 });
  same('end', observedEnd(observed), expectedEnd(schedule, expected));
  if (schedule.reader.type !== 'leaves' && !near(observed.endedAtMs, expected.endedAtMs))
    same('ended at', observed.endedAtMs, expected.endedAtMs);

  const seen = observed.calls.slice(0, expected.calls.length);
  const mayBeOneMore = schedule.reader.type === 'leaves' && observed.calls.length === seen.length + 1;
  if (!mayBeOneMore) same('number of calls', observed.calls.length, expected.calls.length);
  for (const [index, { model, atMs, turns }] of seen.entries()) {
    const wanted = expected.calls[index];
    if (wanted === undefined) continue;
    same(`model of call ${index + 1}`, model, wanted.model);
    if (!near(atMs, wanted.atMs)) same(`time of call ${index + 1}`, atMs, wanted.atMs);
    same(`turns of call ${index + 1}`, turns, wanted.isCorrected ? 4 : 2);
  }

  same('execution survives JSON', strictExecution.safeParse(JSON.parse(JSON.stringify(execution))).data, execution);
  const oneMore = mayBeOneMore ? execution.attempts.slice(attempts.length) : [];
  for (const { failure } of oneMore) same('failure of one more attempt', failure?.code, ABORTED.code);
  same('number of attempts', execution.attempts.length, attempts.length + (mayBeOneMore ? 1 : 0));
  for (const [index, attempt] of execution.attempts.entries()) {
    const wanted = attempts[index];
    if (wanted === undefined) continue;
    const what = `attempt ${index + 1}`;
    const { failure, model, usage } = attempt;
    same(`number of ${what}`, attempt.attempt, index + 1);
    same(`failure of ${what}`, failure && { stage: failure.stage, code: failure.code }, wanted.failure);
    same(`model of ${what}`, model, wanted.model);
    if (wanted.usage === null) same(`usage of ${what} is estimated`, usage.estimated, true);
    else same(`usage of ${what}`, usage, wanted.usage);
    if (wanted.lastedMs !== null && !near(attempt.durationMs, wanted.lastedMs))
      same(`duration of ${what}`, attempt.durationMs, wanted.lastedMs);
    const waitMs = observed.waits.get(index + 1) ?? null;
    if (waitMs !== wanted.waitMs && !near(waitMs ?? Number.NaN, wanted.waitMs ?? Number.NaN))
      same(`wait after ${what}`, waitMs, wanted.waitMs);
    const drawn = (waitMs ?? 0) - schedule.hooks.extraWaitMs;
    const { aboveMs, upToMs } = wanted.wait ?? { aboveMs: -Infinity, upToMs: Infinity };
    if (drawn < aboveMs - 1e-9 || drawn > upToMs + 1e-9) same(`drawn wait after ${what}`, drawn, wanted.wait);
  }
  const { corrections, transportRetries, fallbacks, usage } = execution;
  same('budgets', { corrections, transportRetries, fallbacks }, expected.budgets);
  const sum = (of: 'inputTokens' | 'outputTokens'): number =>
    execution.attempts.reduce((all, one) => all + one.usage[of], 0);
  same('usage', usage, {
    modelCalls: execution.attempts.length,
    inputTokens: sum('inputTokens'),
    outputTokens: sum('outputTokens'),
    estimated: mayBeOneMore || attempts.some((attempt) => attempt.usage === null),
    cost: execution.attempts.length === 0 ? 0 : null,
  });
  return found;
}

function observedEnd({ value, error }: ObservedRun): unknown {
  if (error === undefined) return { value };
  if (error instanceof FinalError) return { code: 'last word' };
  const { code } = error as { readonly code: string };
  return error instanceof AttemptsExhausted ? { code, failure: error.failure.code } : { code };
}

function expectedEnd({ hooks }: Schedule, { end }: Expected): unknown {
  if (end.type === 'value') return { value: end.value };
  if (end.type !== 'exhausted') return { code: end.type };
  return hooks.hasLastWord ? { code: 'last word' } : { code: 'attempts_exhausted', failure: end.code };
}

/** How much of a reply came before these is not told by what it says. */
const UNSPECIFIED_CUTS = ['total_deadline', 'too_long', 'prompt_too_long'];

/** In words, what a reader saw that is against the rules of updates [A7] [A8]. */
export function updateDifferences(schedule: Schedule, expected: Expected, observed: ObservedRun): string[] {
  const { type } = schedule.reader;
  const { attempts, end } = expected;
  const { updates, endings } = observed.read;
  const found: string[] = [];
  if (type === 'value') return found;
  const failed = attempts.flatMap(({ failure, waitMs }, index) =>
    failure === null || failure === ABORTED ? [] : [{ at: index + 1, failure, waitMs }],
  );
  const finished = (attempt: number): number => expected.attempts[attempt - 1]?.endedAtMs ?? expected.endedAtMs;

  let [attempt, index, lastPartial] = [1, 0, undefined as unknown];
  let given: unknown[] = [];
  let isOver = false;
  for (const { update, atMs } of updates) {
    if (isOver) found.push(`${update.type} after the end`);
    if (type === 'late' && attempt < update.attempt && index === 0) attempt = update.attempt;
    if (update.attempt !== attempt) found.push(`${update.type} of attempt ${update.attempt}, wanted ${attempt}`);
    index += 1;
    if (update.type === 'partial') {
      lastPartial = update.value;
      // Whether one who comes after a cancel still sees what had arrived is nobody's rule.
      const mayLag = (type === 'slow' || type === 'late') && !failed.some(({ at }) => at === attempt);
      if (!mayLag && atMs > finished(attempt) + 1e-6) found.push('a partial after its attempt');
    } else if (update.type === 'reset') {
      const wanted = failed.find(({ at }) => at === update.attempt);
      const isSame = wanted?.failure.code === update.failure.code && wanted.failure.stage === update.failure.stage;
      if (!isSame) found.push(`reset ${update.attempt} for ${update.failure.code}, wanted ${wanted?.failure.code}`);
      if (!isClose(update.retryInMs, wanted?.waitMs))
        found.push(`reset ${update.attempt} waits ${update.retryInMs}, wanted ${wanted?.waitMs}`);
      const plan = schedule.calls[attempt - 1];
      if (type === 'elements' && plan !== undefined && !UNSPECIFIED_CUTS.includes(update.failure.code)) {
        const whole = itemsReceived(plan, predictCall(plan, schedule.limits)).length;
        if (given.length !== whole) found.push(`${given.length} elements of attempt ${attempt}, wanted ${whole}`);
      }
      [attempt, given, lastPartial] = [attempt + 1, [], undefined];
    } else if (update.type === 'element') {
      if (update.index !== given.length) found.push(`element ${update.index}, wanted ${given.length}`);
      if (!isDeepStrictEqual(update.value, schedule.calls[attempt - 1]?.reply.items[update.index]))
        found.push(`element ${update.index} of attempt ${attempt}: ${JSON.stringify(update.value)}`);
      given.push(update.value);
    } else {
      isOver = true;
      if (end.type !== 'value') found.push('a value where there is none');
      else {
        if (!isDeepStrictEqual(update.value, end.value)) found.push(`value ${JSON.stringify(update.value)}`);
        const isShown = type !== 'late' || lastPartial !== undefined;
        if (isShown && !isDeepStrictEqual(lastPartial, end.json))
          found.push(`the last partial is ${JSON.stringify(lastPartial)}, wanted ${JSON.stringify(end.json)}`);
      }
    }
  }

  const resets = updates.filter(({ update }) => update.type === 'reset').length;
  if (type !== 'late' && type !== 'leaves' && resets !== failed.length)
    found.push(`${resets} resets, wanted ${failed.length}`);
  if (type === 'elements' && end.type === 'value' && !isDeepStrictEqual(given, end.value))
    found.push(`elements ${JSON.stringify(given)}, wanted ${JSON.stringify(end.value)}`);
  if (type !== 'elements' && end.type === 'value' && !isOver) found.push('no value');
  const hasLeft = type === 'leaves' && updates.at(-1)?.update.type === 'reset';
  if (!hasLeft && endings.length !== 1) found.push(`${endings.length} endings`);
  if (!hasLeft && endings[0]?.error !== observed.error)
    found.push(`ended with ${endings[0]?.error}, wanted ${observed.error}`);
  return found;
}

function isClose(is: number | null, wanted: number | null | undefined): boolean {
  if (is === null || wanted === null || wanted === undefined) return is === wanted;
  return Math.abs(is - wanted) < 1e-6;
}
