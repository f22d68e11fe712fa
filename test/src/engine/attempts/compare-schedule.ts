import { isDeepStrictEqual } from 'node:util';
import { attemptExecutionSchema } from '../../../../machines/contracts/attempt.ts';
import { AttemptsExhausted } from '../../../../src/engine/attempts/attempts-exhausted.ts';
import { LastWord, type Observed } from './play-schedule.ts';
import type { Expected } from './reference-model.ts';
import type { Schedule } from './schedule.ts';

const near = (a: number, b: number): boolean => Math.abs(a - b) < 1e-6;
const kept = attemptExecutionSchema.strict();

/** In words, all that is not as it should be; nothing of what a reader saw. */
export function differences(schedule: Schedule, expected: Expected, observed: Observed): string[] {
  const found: string[] = [];
  const same = (what: string, is: unknown, wanted: unknown): void => {
    if (!isDeepStrictEqual(is, wanted))
      found.push(`${what}: is ${JSON.stringify(is)}, wanted ${JSON.stringify(wanted)}`);
  };
  const { attempts } = expected;
  const { execution } = observed;

  same('endings', observed.endings, 1);
  same('left', observed.left, { timers: 0, calls: 0, listeners: 0 });
  same('end', endOf(observed), wantedEnd(schedule, expected));
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

  same('execution survives JSON', kept.safeParse(JSON.parse(JSON.stringify(execution))).data, execution);
  same('number of attempts', execution.attempts.length, attempts.length);
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
    modelCalls: attempts.length,
    inputTokens: sum('inputTokens'),
    outputTokens: sum('outputTokens'),
    estimated: attempts.some((attempt) => attempt.usage === null),
    cost: attempts.length === 0 ? 0 : null,
  });
  return found;
}

function endOf({ value, error }: Observed): unknown {
  if (error === undefined) return { value };
  if (error instanceof LastWord) return { code: 'last word' };
  const { code } = error as { readonly code: string };
  return error instanceof AttemptsExhausted ? { code, failure: error.failure.code } : { code };
}

function wantedEnd({ hooks }: Schedule, { end }: Expected): unknown {
  if (end.type === 'value') return { value: end.value };
  if (end.type !== 'exhausted') return { code: end.type };
  return hooks.hasLastWord ? { code: 'last word' } : { code: 'attempts_exhausted', failure: end.code };
}
