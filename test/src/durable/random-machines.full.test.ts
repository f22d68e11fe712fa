import { describe, expect, it } from 'vitest';
import type { DurableEntry } from '../../../src/durable/entries.ts';
import { asText, fromEachKeyframe, repeatedAfterEnd, runScenario } from '../../support/durable-runs.ts';
import { createRandom, SEED } from '../../support/random.ts';
import { randomScenario } from '../../support/random-machines.ts';

const MACHINES = 500;
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
});

/** Timers that fired twice, activities that reported a result twice, effects that were never executed, and events that count twice. */
function lostOrDoubled(entries: readonly DurableEntry[]): readonly string[] {
  const seen = new Map<string, number>();
  const count = (key: string): void => void seen.set(key, (seen.get(key) ?? 0) + 1);
  const effects = new Set<number>();
  for (const entry of entries) {
    if (entry.type === 'timer') count(`timer ${entry.timer}`);
    if (entry.type === 'delivery' && entry.id !== undefined) count(`event ${entry.id}`);
    if (entry.type === 'activity-event' && JSON.stringify(entry.event).startsWith('{"type":"xstate.promise.'))
      count(`activity ${entry.activity}`);
    if (entry.type === 'effect') effects.add(entry.effect);
    if (entry.type === 'effect-end') for (const effect of entry.effects) effects.delete(effect);
  }
  const doubled = [...seen].filter(([, times]) => times > 1).map(([key]) => `${key} twice`);
  const hasEnded = entries.some(({ type }) => type === 'end');
  return [...doubled, ...(hasEnded ? [] : [...effects].map((effect) => `effect ${effect} never ended`))];
}
