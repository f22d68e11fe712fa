import { describe, expect, it } from 'vitest';
import { createActor, SimulatedClock } from 'xstate';
import { chartOf } from '../../../../src/engine/charts/chart.ts';
import { explore } from '../../../../src/testing/exploration/explore.ts';
import { done, fails } from '../../../../src/testing/exploration/outcome.ts';
import { killReport } from '../../../../src/testing/mutation/kill-report.ts';
import { mutantsOf } from '../../../../src/testing/mutation/mutants.ts';
import { fetching } from '../machines/fetching.ts';

const mutants = mutantsOf(fetching);
const called = (name: string) => {
  const found = mutants.find((mutant) => mutant.name === name);
  if (found === undefined) throw new Error(`${name}: there are ${mutants.map((mutant) => mutant.name).join('; ')}`);
  return found.machine;
};

describe('the mutants of a chart', () => {
  it('make each mistake that can be made, once', () => {
    expect(mutants.map(({ name }) => name)).toEqual([
      'fetching.idle, fetch: its transition dropped',
      'fetching.loading, cancel: its transition dropped',
      'fetching.loading, done: its transition dropped',
      'fetching.loading, error: candidate 1 of 2 dropped',
      'fetching.loading, error: candidate 2 of 2 dropped',
      'fetching.loading, error: the guard of candidate 1 of 2 negated',
      'fetching.loading, error: candidate 1 of 2 after the next one',
      'fetching.loading, error: onError taken away',
      'fetching.loading, after 5000: its transition dropped',
      'fetching.waiting, cancel: its transition dropped',
      'fetching.waiting, after backoff: candidate 1 of 2 dropped',
      'fetching.waiting, after backoff: candidate 2 of 2 dropped',
      'fetching.waiting, after backoff: the guard of candidate 1 of 2 negated',
      'fetching.waiting, after backoff: candidate 1 of 2 after the next one',
      'fetching.waiting, after backoff: the delay taken away',
    ]);
    expect(new Set(mutants.map(({ machine }) => JSON.stringify(chartOf(machine)))).size).toBeGreaterThanOrEqual(13);
  });

  it('are machines that run, each with its one mistake, and leave the real one as it is', () => {
    const before = JSON.stringify(chartOf(fetching));
    const deaf = createActor(called('fetching.idle, fetch: its transition dropped'), {
      input: { most: 1 },
      clock: new SimulatedClock(),
    }).start();
    deaf.send({ type: 'fetch' });
    expect(deaf.getSnapshot().value).toBe('idle');
    expect(JSON.stringify(chartOf(fetching))).toBe(before);
  });

  it('keep their mistake where implementations are provided anew', () => {
    const hasty = called('fetching.loading, error: the guard of candidate 1 of 2 negated').provide({});
    const { states } = explore(hasty, {
      outcomes: { load: [done('it'), fails()] },
      events: [{ type: 'fetch' }],
      inputs: { twice: { most: 2 } },
    });
    const failed = states.find(({ value }) => value === 'failed');
    expect(failed?.snapshot.context.retries).toBe(0);
    const real = explore(fetching, {
      outcomes: { load: [done('it'), fails()] },
      events: [{ type: 'fetch' }],
      inputs: { twice: { most: 2 } },
    });
    expect(real.states.find(({ value }) => value === 'failed')?.snapshot.context.retries).toBe(2);
  });

  it('are reported with what they were found out by; a survivor by its name', async () => {
    const report = await killReport(mutants.slice(0, 3), (machine) => {
      if (!chartOf(machine).transitions.some(({ event }) => event === 'fetch'))
        throw new Error('nothing is fetched\n at all');
    });
    expect(report).toEqual({
      results: [
        { name: mutants[0]?.name, killedBy: 'nothing is fetched' },
        { name: mutants[1]?.name, killedBy: null },
        { name: mutants[2]?.name, killedBy: null },
      ],
      killed: 1,
      survivors: [mutants[1]?.name, mutants[2]?.name],
    });
  });
});
