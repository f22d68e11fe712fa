import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { activeStatesAt } from '../../../inspector/fold/active-states.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { folded, ownCharts } from '../../support/inspector/inspected-runs.ts';
import { type ObservedStates, type ObservedStep, observeRun } from '../../support/inspector/observed-run.ts';
import {
  fullChain,
  fullRunArbitrary,
  fullRunOptions,
  randomRunArbitrary,
  runUntilEnded,
  startRandomRun,
} from '../../support/random-runs.ts';
import { sampleSize } from '../../support/soak.ts';

interface Watched {
  readonly steps: readonly ObservedStep[];
  readonly states: readonly ObservedStates[];
}

/** XState lists the region that moved last at the end. */
const sorted = (ids: readonly string[] = []): readonly string[] => ids.toSorted();

const sortedLists = (lists: Readonly<Record<string, readonly string[]>>): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(Object.entries(lists).map(([name, ids]) => [name, sorted(ids)]));

/** Compares the reconstructed states with the machine states after every step, and whenever the chain has settled. */
function standsAsItReallyDid(journal: readonly JournalEntry[], { steps, states }: Watched): void {
  const { transitions } = folded(journal).fold;
  const watched = transitions.seqs.slice(transitions.seqs.length - steps.length);
  for (const [at, { machine, leaves }] of steps.entries()) {
    // Parallel regions move in one step, which is recorded as one transition per region.
    if (leaves.length > 1 && isDeepStrictEqual(steps[at + 1]?.leaves, leaves)) continue;
    const { leaf, active } = activeStatesAt(transitions, ownCharts, watched[at] ?? -1);
    // A nested machine is reported before it is entered.
    if (machine === 'postChain' || (leaf[machine]?.length ?? 0) > 0)
      expect(sorted(leaf[machine])).toEqual(sorted(leaves));
    for (const id of leaf[machine] ?? []) expect(active[machine]).toContain(id);
    // An attempt starts with its enclosing state, whatever the outcome of the previous one.
    if (machine === 'postChain' && leaf['attempt']?.length)
      expect(leaf['attempt']).toEqual(['attempt.calling.opening']);
  }
  for (const { count, leaves } of states) {
    const { active, leaf, insideOf } = activeStatesAt(transitions, ownCharts, count - 1);
    const running = sortedLists(Object.fromEntries(Object.entries(leaf).filter(([, ids]) => ids.length > 0)));
    expect(running, `at entry ${count - 1}`).toEqual(sortedLists(leaves));
    for (const [chartId, around] of Object.entries(insideOf)) {
      expect(active[around.chartId]).toContain(around.stateId);
      expect(running).toHaveProperty(chartId);
    }
  }
}

describe('reconstructed chart states', () => {
  it('equal the states of the machines in random runs', async () => {
    await fc.assert(
      fc.asyncProperty(randomRunArbitrary, async (random) => {
        let watched: Watched = { steps: [], states: [] };
        const { run } = await startRandomRun(random, {}, (started) => {
          watched = observeRun(started);
        });
        standsAsItReallyDid(run.entries, watched);
        expect(watched.states.length).toBeGreaterThan(0);
      }),
      { numRuns: sampleSize('runs with active states', 15, 200) },
    );
  });

  it('equal the states in runs with every feature', async () => {
    await fc.assert(
      fc.asyncProperty(fullRunArbitrary, async (full) => {
        const { chain, clock } = fullChain(full);
        const run = chain.run(fullRunOptions(full));
        const watched = observeRun(run);
        await runUntilEnded(run, clock, full.random.words);
        standsAsItReallyDid(run.entries, watched);
      }),
      { numRuns: sampleSize('full runs with active states', 8, 100) },
    );
  });
});
