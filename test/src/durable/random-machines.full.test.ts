import { describe, expect, it } from 'vitest';
import { type DurableEntry, isExternal } from '../../../src/durable/entries.ts';
import {
  asText,
  fromEachKeyframe,
  isStepped,
  repairScenario,
  repeatedAfterEnd,
  runScenario,
  stopScenario,
  withoutSeq,
} from '../../support/durable-runs.ts';
import { createRandom, SEED } from '../../support/random.ts';
import { randomScenario } from '../../support/random-machines.ts';
import { sampleSize } from '../../support/soak.ts';

const MACHINES = 500;
const STOPPED = sampleSize('machines that are stopped at each entry', 100, MACHINES);
const BATCH = 50;

describe('500 random machines, with calls, sources, children, delays and effects', () => {
  it.each(Array.from({ length: MACHINES / BATCH }, (_, at) => at * BATCH))(
    'replay identically and survive a kill (from number %i) [D2, D3]',
    async (from) => {
      for (let number = from; number < from + BATCH; number += 1) {
        const random = createRandom(SEED + number);
        const scenario = { ...randomScenario(random), ends: null };
        const keyframes = random.chance(0.5);
        const whole = await runScenario(scenario, { keyframes });
        const label = `machine ${number}, POSTCHAIN_SEED=${SEED}`;
        expect((await whole.machine.replay('a')).divergence, label).toBeNull();
        for (const end of fromEachKeyframe(whole)) expect(end, label).toEqual([null, asText(whole.snapshot.context)]);
        const life = random.int(0, whole.entries.length - 1);
        const killed = await runScenario(scenario, { life, keyframes });
        const place = `${label}, killed at entry ${life}`;
        expect((await killed.machine.replay('a')).divergence, place).toBeNull();
        expect(repeatedAfterEnd(killed.calls, killed.entries.slice(0, life)), place).toEqual([]);
        expect(lostOrDoubled(killed.entries), place).toEqual([]);
      }
    },
  );

  it('do the same on another version with the same states, to which they are migrated at any step', async () => {
    let migrated = 0;
    for (let number = 0; number < MACHINES; number += 1) {
      const random = createRandom(SEED + number);
      const scenario = { ...randomScenario(random), ends: null };
      const after = random.int(0, scenario.steps.length - 1);
      const keyframes = random.chance(0.5);
      const place = `machine ${number}, POSTCHAIN_SEED=${SEED}, opened again after step ${after}`;
      const same = await runScenario(scenario, { keyframes, reopen: { after, isMigrated: false } });
      const other = await runScenario(scenario, { keyframes, reopen: { after, isMigrated: true } });
      expect(other.entries.filter(isStepped).map(withoutSeq), place).toEqual(
        same.entries.filter(isStepped).map(withoutSeq),
      );
      expect(other.calls, place).toEqual(same.calls);
      expect((await other.machine.replay('a')).divergence, place).toBeNull();
      if (other.entries.some(({ type }) => type === 'migrated')) migrated += 1;
    }
    expect(migrated).toBeGreaterThan(MACHINES / 10);
  });

  it('that have failed are repaired, or the reason is given, and their replays have no difference', async () => {
    const problems: (string | null | undefined)[] = [];
    for (let number = 0; number < MACHINES; number += 1) {
      const scenario = { ...randomScenario(createRandom(SEED + number)), ends: null };
      const whole = await runScenario(scenario, { keyframes: false });
      if (!whole.entries.some((entry) => entry.type === 'end' && entry.status === 'error')) continue;
      for (const action of ['retry', 'skip'] as const) {
        const { problem, divergence, entries } = await repairScenario(scenario, whole, action);
        const place = `machine ${number}, POSTCHAIN_SEED=${SEED}, ${action}`;
        expect([null, 'not_repairable'], place).toContain(problem);
        expect(divergence, place).toBeNull();
        expect(
          entries.some(({ type }) => type === 'retried'),
          place,
        ).toBe(problem === null);
        problems.push(problem);
      }
    }
    expect(problems.filter((problem) => problem === null).length).toBeGreaterThanOrEqual(problems.length / 4);
  });

  it.each(Array.from({ length: STOPPED / BATCH }, (_, at) => at * BATCH))(
    'are stopped, after a kill at each entry, before a timer fires or a call starts again (from number %i) [D3]',
    async (from) => {
      for (let number = from; number < from + BATCH; number += 1) {
        const scenario = { ...randomScenario(createRandom(SEED + number)), ends: null };
        const whole = await runScenario(scenario, { keyframes: false });
        for (let life = 1; life <= whole.entries.length; life += 1) {
          const { isStopped, divergence, added, calls } = await stopScenario(scenario, whole, life);
          const place = `machine ${number}, POSTCHAIN_SEED=${SEED}, stopped after a kill at entry ${life}`;
          expect(divergence, place).toBeNull();
          expect(added.filter(isExternal).map(typeOf), place).toEqual(isStopped ? ['stopped'] : []);
          const types = added.map(typeOf);
          expect(openEffects([...whole.entries.slice(0, life), ...added]), place).toEqual(new Set());
          const after = types.slice(types.indexOf('stopped') + 1);
          if (isStopped) expect(after, place).toEqual(types.includes('effect-end') ? ['end', 'effect-end'] : ['end']);
          expect(
            calls.filter((call) => !call.startsWith('effect ')),
            place,
          ).toEqual([]);
        }
      }
    },
  );
});

const typeOf = ({ type }: DurableEntry): string => type;

/** Timers that fired twice, activities that reported a result twice, effects that were never executed, and events that count twice. */
function lostOrDoubled(entries: readonly DurableEntry[]): readonly string[] {
  const seen = new Map<string, number>();
  const count = (key: string): void => void seen.set(key, (seen.get(key) ?? 0) + 1);
  for (const entry of entries) {
    if (entry.type === 'timer') count(`timer ${entry.timer}`);
    if (entry.type === 'delivery' && entry.id !== undefined) count(`event ${entry.id}`);
    if (entry.type === 'activity-event' && JSON.stringify(entry.event).startsWith('{"type":"xstate.promise.'))
      count(`activity ${entry.activity}`);
  }
  const doubled = [...seen].filter(([, times]) => times > 1).map(([key]) => `${key} twice`);
  const hasEnded = entries.some(({ type }) => type === 'end');
  return [...doubled, ...(hasEnded ? [] : [...openEffects(entries)].map((effect) => `effect ${effect} never ended`))];
}

function openEffects(entries: readonly DurableEntry[]): ReadonlySet<number> {
  const effects = new Set<number>();
  for (const entry of entries) {
    if (entry.type === 'effect') effects.add(entry.effect);
    if (entry.type === 'effect-end') for (const effect of entry.effects) effects.delete(effect);
  }
  return effects;
}
