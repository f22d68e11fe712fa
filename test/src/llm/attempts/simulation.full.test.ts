import { describe, expect, it } from 'vitest';
import { type Expected, predict, scheduleDifferences, updateDifferences } from '../../../support/attempt-reference.ts';
import { describeSchedule, randomSchedule, type Schedule } from '../../../support/attempt-schedules.ts';
import { type ObservedRun, runSchedule } from '../../../support/attempt-simulation.ts';
import { sampleSize } from '../../../support/soak.ts';

const SCHEDULES = sampleSize('schedules of attempts', 1_000, 50_000);
/** One in this many schedules is run twice. */
const TWICE = 20;
const SHOWN = 3;

interface Checked {
  readonly found: readonly string[];
  readonly expected: Expected;
  readonly observed: ObservedRun;
}

/** Runs a schedule and returns the violated rules. */
async function check(schedule: Schedule): Promise<Checked> {
  const observed = await runSchedule(schedule);
  const expected = predict(schedule, (attempt, upToMs) => observed.waits.get(attempt) ?? upToMs);
  const found = [
    ...scheduleDifferences(schedule, expected, observed),
    ...updateDifferences(schedule, expected, observed),
  ];
  return { found, expected, observed };
}

/** The part that must be identical when the same schedule runs again. */
const tracks = ({ execution, waits, endedAtMs, calls, read }: ObservedRun) =>
  JSON.stringify([execution, [...waits], endedAtMs, calls, read.updates]);

function countUp(
  counts: Map<string, number>,
  { hooks, stop, reader }: Schedule,
  { expected, observed }: Checked,
): void {
  const count = (what: string, times = 1): void => void counts.set(what, (counts.get(what) ?? 0) + times);
  const { attempts, budgets, end } = expected;
  count(`end: ${end.type}`);
  if (end.type === 'exhausted') count(hooks.hasLastWord ? 'end: last word' : `exhausted by ${end.code}`);
  if (end.type === 'cancelled') count(stop === null ? 'cancelled by its reader' : `cancelled by ${stop.by}`);
  for (const { failure, wait } of attempts) {
    count(failure === null ? 'success' : failure.code);
    if (wait !== null) count('drawn wait');
  }
  if (attempts.length > 1 && end.type === 'value') count('value after a failure');
  count('correction', budgets.corrections);
  count('transport retry', budgets.transportRetries);
  count('fallback', budgets.fallbacks);
  for (const { update } of observed.read.updates) count(`${reader.type} read: ${update.type}`);
}

describe('any structured output with any model, policy, and readers', () => {
  const counts = new Map<string, number>();

  it('[A3] [A4] [A6] [A7] [A8] [A10] [A11] [A12] [A13] follows the rules', async () => {
    const failures: string[] = [];
    let ties = 0;
    for (let seed = 1; seed <= SCHEDULES; seed += 1) {
      const schedule = randomSchedule(seed);
      const fail = (...found: readonly unknown[]) =>
        failures.push(`seed ${seed}:\n  ${found.join('\n  ')}\n${describeSchedule(schedule)}`);
      try {
        const checked = await check(schedule);
        if (checked.expected.isTie) {
          ties += 1;
          continue;
        }
        if (checked.found.length > 0) fail(...checked.found);
        countUp(counts, schedule, checked);
        if (seed % TWICE === 0 && tracks(await runSchedule(schedule)) !== tracks(checked.observed))
          fail('played again, it goes another way');
      } catch (error) {
        fail(error);
      }
    }
    expect(failures.length, `${failures.length} went wrong, say\n${failures.slice(0, SHOWN).join('\n\n')}`).toBe(0);
    expect(ties).toBeLessThan(SCHEDULES / 50);
  });

  it('covers every kind of outcome repeatedly', () => {
    const failures = ['no_json', 'truncated', 'empty_reply', 'no_tool_call', 'too_long', 'invalid_reply', 'filtered'];
    const transport = ['server_error', 'rate_limited', 'stream_cut', 'unauthorized', 'prompt_too_long'];
    const others = ['transformation_failed', 'no_reply', 'stalled', 'total_deadline', 'model_threw', 'success'];
    const ends = ['end: value', 'end: exhausted', 'end: cancelled', 'end: last word'];
    const stops = [
      'cancelled by cancel',
      'cancelled by signal',
      'cancelled by its reader',
      'exhausted by total_deadline',
      'exhausted by policy_failed',
    ];
    const ways = ['value after a failure', 'correction', 'transport retry', 'fallback', 'drawn wait'];
    const reads = ['updates', 'steps', 'slow', 'late', 'leaves'].flatMap((reader) =>
      ['partial', 'reset', 'value'].map((type) => `${reader} read: ${type}`),
    );
    const elements = ['elements read: element', 'elements read: reset'];
    const seldom = [...failures, ...transport, ...others, ...ends, ...stops, ...ways, ...reads, ...elements]
      .map((what) => [what, counts.get(what) ?? 0] as const)
      .filter(([, times]) => times < SCHEDULES / 150);
    expect(seldom, JSON.stringify(Object.fromEntries(counts))).toEqual([]);
  });
});
