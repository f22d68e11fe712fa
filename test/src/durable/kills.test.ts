import { describe, expect, it } from 'vitest';
import { scenarios } from '../../support/durable-machines.ts';
import { repeatedAfterEnd, runScenario } from '../../support/durable-runs.ts';

describe.each(Object.entries(scenarios))('%s', (_, scenario) => {
  it('replays to identical entries, without a call or effect [D2]', async () => {
    const { snapshot, entries, calls, machine } = await runScenario(scenario);
    expect(snapshot.value).toEqual(scenario.ends);
    const before = calls.length;
    const replayed = await machine.replay('a');
    expect(replayed.divergence).toBeNull();
    expect(replayed.snapshot.value).toEqual(snapshot.value);
    expect(asText(replayed.snapshot.context)).toBe(asText(snapshot.context));
    expect(calls).toHaveLength(before);
    expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index));
  });

  it('continues after a kill at each entry, and repeats nothing that ended [D3]', async () => {
    const whole = await runScenario(scenario);
    for (let life = 0; life < whole.entries.length; life += 1) {
      const killed = await runScenario(scenario, life);
      expect(killed.snapshot.value, `killed at entry ${life}`).toEqual(scenario.ends);
      expect((await killed.machine.replay('a')).divergence, `killed at entry ${life}`).toBeNull();
      const stored = killed.entries.slice(0, life);
      expect(repeatedAfterEnd(killed.calls, stored), `killed at entry ${life}`).toEqual([]);
      expect(new Set(killed.calls), `killed at entry ${life}`).toEqual(new Set(whole.calls));
    }
  });
});

/** A context as text: references to actors of two systems are different objects. */
function asText(context: unknown): string {
  return JSON.stringify(context, (_, value) => (value instanceof Map || value instanceof Set ? [...value] : value));
}
