import { describe, expect, it } from 'vitest';
import { scenarios } from '../../support/durable-machines.ts';
import { asText, fromEachKeyframe, repeatedAfterEnd, runScenario } from '../../support/durable-runs.ts';

describe.each(Object.entries(scenarios))('%s', (_, scenario) => {
  it('replays to identical entries, without a call or effect [D2]', async () => {
    const finished = await runScenario(scenario);
    const { snapshot, entries, calls, machine } = finished;
    for (const end of fromEachKeyframe(finished)) expect(end).toEqual([null, asText(snapshot.context)]);
    expect(snapshot.value).toEqual(scenario.ends);
    const before = calls.length;
    const replayed = await machine.replay('a');
    expect(replayed.divergence).toBeNull();
    expect(replayed.snapshot.value).toEqual(snapshot.value);
    expect(asText(replayed.snapshot.context)).toBe(asText(snapshot.context));
    expect(calls).toHaveLength(before);
    expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index));
  });

  it.each([
    ['from the start', false, false],
    ['from keyframes', true, false],
    ['from the start, if it was enqueued,', false, true],
  ])(
    'continues %s after a kill at each entry, and repeats nothing that ended [D3]',
    async (_from, keyframes, isQueued) => {
      const whole = await runScenario(scenario, { keyframes, isQueued });
      for (let life = isQueued ? 2 : 0; life < whole.entries.length; life += 1) {
        const killed = await runScenario(scenario, { life, keyframes, isQueued });
        expect(killed.snapshot.value, `killed at entry ${life}`).toEqual(scenario.ends);
        expect((await killed.machine.replay('a')).divergence, `killed at entry ${life}`).toBeNull();
        const stored = killed.entries.slice(0, life);
        expect(repeatedAfterEnd(killed.calls, stored), `killed at entry ${life}`).toEqual([]);
        expect(new Set(killed.calls), `killed at entry ${life}`).toEqual(new Set(whole.calls));
      }
    },
  );
});
