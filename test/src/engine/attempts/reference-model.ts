import type { FailureStage } from '../../../../machines/contracts/failure.ts';
import type { TokenUsage } from '../../../../machines/contracts/usage.ts';
import { type HeardCall, hear } from './reference-call.ts';
import type { Schedule } from './schedule.ts';

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

/** The code of an end that a rule which threw has made. */
const BROKE = 'policy_broke';

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
    const call: HeardCall = isNarrow ? unsent : hear(plan, limits);
    isTie ||= call.isTie;
    if (!isNarrow) calls.push({ model: spent.fallbacks, atMs: nowMs, isCorrected });

    const repliedAtMs = nowMs + call.endsAfterMs;
    const atMs = repliedAtMs + (call.isWhole ? validateMs : 0);
    const cut = tooLate(repliedAtMs) ?? tooLate(atMs);
    if (cut === 'stopped') return result({ type: 'cancelled' }, stopAtMs);
    if (cut === 'deadline') {
      const usage = repliedAtMs < limits.totalMs ? call.usage : null;
      const lastedMs = validateMs === 0 ? limits.totalMs - nowMs : null;
      add({ failure: deadline, usage, endedAtMs: limits.totalMs, lastedMs, waitMs: null });
      return exhausted(asks('recordFailure', attempts.length) ? BROKE : deadline.code, limits.totalMs);
    }
    nowMs = atMs;

    const { wrong, usage } = call;
    const ended = { usage, endedAtMs: nowMs, lastedMs: call.endsAfterMs };
    if (wrong === null) {
      add({ ...ended, failure: null, waitMs: null });
      return result({ type: 'value', value: plan.said.value, json: plan.said.json }, nowMs);
    }
    const failure = { stage: wrong.stage, code: wrong.code };
    const at = attempts.length + 1;
    if (asks('recordFailure', at)) {
      add({ ...ended, failure, waitMs: null });
      return exhausted(BROKE, nowMs);
    }
    failedHere += 1;
    const isTransport = wrong.stage === 'transport';
    if (!isTransport) wrongs.push(`${wrong.stage} ${wrong.code} ${wrong.how}`);

    const used = isTransport ? spent.transportRetries : spent.corrections;
    const budget = isTransport ? policy.maxTransportRetries : policy.maxCorrections;
    const isRepeated =
      policy.stopOnRepeatedError && !isTransport && wrongs.length > 1 && wrongs.at(-1) === wrongs.at(-2);
    const mayCall = at < limits.maxCalls;
    const upToMs = Math.min(policy.maxMs, policy.baseMs * 2 ** spent.transportRetries);
    tookMs += call.endsAfterMs;
    const leftMs = limits.totalMs - tookMs;
    const mostMs = isTransport ? (wrong.retryAfterMs ?? upToMs) : 0;
    const leastMs = isTransport ? (wrong.retryAfterMs ?? upToMs * (1 - policy.jitter)) : 0;
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
      return exhausted(mayRetry && asks('shouldRetry', at) ? BROKE : wrong.code, nowMs);
    } else {
      if (asks('shouldRetry', at) || asks('prepareRetry', at)) {
        add({ ...ended, failure, waitMs: null });
        return exhausted(BROKE, nowMs);
      }
      const isDrawn = isTransport && wrong.retryAfterMs === null && policy.jitter > 0;
      const plainMs = !isTransport
        ? 0
        : (wrong.retryAfterMs ?? (isDrawn ? drawn(at, upToMs) - hooks.extraWaitMs : upToMs));
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
const unsent: HeardCall = {
  endsAfterMs: 0,
  wrong: { stage: 'transport', code: 'prompt_too_long', how: '', isHopeless: true, retryAfterMs: null },
  usage: null,
  isWhole: false,
  heard: '',
  seenAtMs: null,
  isTie: false,
};
