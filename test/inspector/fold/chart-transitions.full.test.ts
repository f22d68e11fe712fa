import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AnyStateMachine, AnyTransitionDefinition } from 'xstate';
import { transitionLookup } from '../../../inspector/fold/coverage.ts';
import { actionMachine } from '../../../machines/action/action.machine.ts';
import { attemptMachine } from '../../../machines/attempt/attempt.machine.ts';
import { chainMachine } from '../../../machines/chain/chain.machine.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import type { Chart } from '../../../src/durable/charts/chart.ts';
import { folded, ownCharts } from '../../support/inspector/inspected-runs.ts';
import {
  type ObservedStep,
  observeRun,
  transitionDefinitions,
  transitionPosition,
} from '../../support/inspector/observed-run.ts';
import {
  fullChain,
  fullRunArbitrary,
  fullRunOptions,
  randomRunArbitrary,
  runUntilEnded,
  startRandomRun,
} from '../../support/random-runs.ts';
import { sampleSize } from '../../support/soak.ts';

const byMachine = new Map<string, readonly AnyTransitionDefinition[]>(
  [chainMachine, attemptMachine, actionMachine].map((machine) => [
    machine.id,
    transitionDefinitions(machine as AnyStateMachine),
  ]),
);

type Journal = readonly JournalEntry[];

/** Checks that every transition of the journal is the one that the machine took, and returns them. */
function everyWayIsTheRealOne(journal: Journal, steps: readonly ObservedStep[]): string[] {
  const ways = transitionLookup(ownCharts.charts);
  const { transitions } = folded(journal).fold;
  const wayAt = new Map(transitions.distinct.flatMap((way) => way.seqs.map((seq) => [seq, way] as const)));
  // The first steps were taken before the test could observe them.
  const watched = transitions.seqs.slice(transitions.seqs.length - steps.length);
  expect(watched.length).toBe(steps.length);
  for (const seq of transitions.seqs) {
    const way = wayAt.get(seq);
    expect(way && ways.indexOf(way), `entry ${seq}: ${JSON.stringify(way)}`).not.toBeNull();
  }
  return watched.map((seq, at) => {
    const way = wayAt.get(seq);
    const step = steps[at];
    if (way === undefined || step === undefined) throw new Error(`no way at ${seq}`);
    const place = ways.indexOf(way) ?? -1;
    // Each machine with provided actors has its own transition objects.
    expect([way.machine, place]).toEqual([step.machine, transitionPosition(step.taken)]);
    return `${way.machine} ${place}`;
  });
}

describe('transitions of a journal in a chart', () => {
  it('are the ones that the machine took, in random runs', async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(randomRunArbitrary, async (random) => {
        let steps: readonly ObservedStep[] = [];
        const { run } = await startRandomRun(random, {}, (started) => {
          steps = observeRun(started).steps;
        });
        for (const way of everyWayIsTheRealOne(run.journal, steps)) seen.add(way);
      }),
      { numRuns: sampleSize('runs with transitions', 25, 200) },
    );
    expect(seen.size).toBeGreaterThan(60);
  });

  it('are the ones that the machine took with documents, a session, embeddings, and a fallback', async () => {
    await fc.assert(
      fc.asyncProperty(fullRunArbitrary, async (full) => {
        const { chain, clock } = fullChain(full);
        const run = chain.run(fullRunOptions(full));
        const { steps } = observeRun(run);
        await runUntilEnded(run, clock, full.random.words);
        everyWayIsTheRealOne(run.journal, steps);
      }),
      { numRuns: sampleSize('full runs with transitions', 8, 100) },
    );
  });

  it('are found by exactly the XState event that takes them', () => {
    const ways = transitionLookup(ownCharts.charts);
    for (const { id, transitions } of ownCharts.charts)
      for (const [place, { source, target, guard }] of transitions.entries()) {
        const taken = byMachine.get(id)?.[place];
        const event = taken?.eventType === '' ? 'anything.at.all' : (taken?.eventType ?? '');
        const way = { machine: id, event, source, target, guard };
        expect(ways.indexOf(way)).toBe(place);
        expect(ways.indexOf({ ...way, guard: 'another' })).toBeNull();
        if (taken?.eventType !== '') expect(ways.indexOf({ ...way, event: 'another' })).toBeNull();
      }
  });

  it('are unknown for a machine without a chart', () => {
    const way = { machine: 'elsewhere', event: 'x', source: 'elsewhere.a', target: ['elsewhere.b'], guard: null };
    expect(transitionLookup(ownCharts.charts).indexOf(way)).toBeNull();
  });

  it('prefer a named event over a wildcard, and match a wildcard by its prefix', () => {
    const step = { source: 'm.a', target: ['m.b'], guard: null, otherwise: false, actions: [] };
    const chart: Chart = {
      id: 'm',
      states: [],
      transitions: [
        { ...step, event: '' },
        { ...step, event: 'go' },
        { ...step, event: 'mouse.*' },
      ],
    };
    const placeOf = (event: string) => transitionLookup([chart]).indexOf({ machine: 'm', event, ...step });
    expect([placeOf('go'), placeOf('mouse.up'), placeOf('mouse'), placeOf('mice.up')]).toEqual([1, 2, 2, 0]);
  });
});
