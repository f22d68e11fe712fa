import { describe, expect, it } from 'vitest';
import { createActor, SimulatedClock } from 'xstate';
import { chartOf } from '../../../src/durable/charts/chart.ts';
import { explore } from '../../../src/testing/exploration/explore.ts';
import { done, fails } from '../../../src/testing/exploration/occurrences.ts';
import { killReport, mutantsOf } from '../../../src/testing/mutants.ts';
import { xstatePatterns } from '../../support/example-machines.ts';

const fetching = xstatePatterns.fetching.machine;

const mutants = mutantsOf(fetching);
const mutantNamed = (name: string) => {
  const found = mutants.find((mutant) => mutant.name === name);
  if (found === undefined)
    throw new Error(`No mutant "${name}"; there are ${mutants.map((mutant) => mutant.name).join('; ')}`);
  return found.machine;
};

describe('mutantsOf', () => {
  it('returns each possible mistake once', () => {
    expect(mutants.map(({ name }) => name)).toEqual([
      'fetching.idle, fetch: transition dropped',
      'fetching.loading, cancel: transition dropped',
      'fetching.loading, done: transition dropped',
      'fetching.loading, error: candidate 1 of 2 dropped',
      'fetching.loading, error: candidate 2 of 2 dropped',
      'fetching.loading, error: guard of candidate 1 of 2 negated',
      'fetching.loading, error: candidate 1 of 2 swapped with the next',
      'fetching.loading, error: onError removed',
      'fetching.loading, after 5000: transition dropped',
      'fetching.waiting, cancel: transition dropped',
      'fetching.waiting, after backoff: candidate 1 of 2 dropped',
      'fetching.waiting, after backoff: candidate 2 of 2 dropped',
      'fetching.waiting, after backoff: guard of candidate 1 of 2 negated',
      'fetching.waiting, after backoff: candidate 1 of 2 swapped with the next',
      'fetching.waiting, after backoff: delay removed',
    ]);
    expect(new Set(mutants.map(({ machine }) => JSON.stringify(chartOf(machine)))).size).toBeGreaterThanOrEqual(13);
  });

  it('returns machines that run, and leaves the original unchanged', () => {
    const before = JSON.stringify(chartOf(fetching));
    const broken = createActor(mutantNamed('fetching.idle, fetch: transition dropped'), {
      input: { maxRetries: 1 },
      clock: new SimulatedClock(),
    }).start();
    broken.send({ type: 'fetch' });
    expect(broken.getSnapshot().value).toBe('idle');
    expect(JSON.stringify(chartOf(fetching))).toBe(before);
  });

  it('keeps the mistake after machine.provide', () => {
    const negated = mutantNamed('fetching.loading, error: guard of candidate 1 of 2 negated').provide({});
    const { states } = explore(negated, {
      outcomes: { load: [done('it'), fails()] },
      events: [{ type: 'fetch' }],
      inputs: { twice: { maxRetries: 2 } },
    });
    const failed = states.find(({ value }) => value === 'failed');
    expect(failed?.snapshot.context.retries).toBe(0);
    const real = explore(fetching, {
      outcomes: { load: [done('it'), fails()] },
      events: [{ type: 'fetch' }],
      inputs: { twice: { maxRetries: 2 } },
    });
    expect(real.states.find(({ value }) => value === 'failed')?.snapshot.context.retries).toBe(2);
  });

  it('killReport rejects a suite that fails on the machine itself, by throwing or rejecting', async () => {
    for (const suite of [
      () => {
        throw new Error('nothing is right\n at all');
      },
      () => Promise.reject(new Error('nothing is right')),
    ])
      await expect(killReport(mutants, suite)).rejects.toMatchObject({
        code: 'invalid_option',
        message: expect.stringMatching(/^The suite fails on fetching without a mutation: nothing is right\. /),
      });
  });

  it('killReport lists how each mutant was killed, and the survivors', async () => {
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
