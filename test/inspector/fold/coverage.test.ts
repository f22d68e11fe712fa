import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coverageOf, takenBy } from '../../../inspector/fold/coverage.ts';
import type { RunFold } from '../../../inspector/fold/run-fold.ts';
import { folded, ownCharts } from '../../support/inspector/inspected-runs.ts';
import { observeRun, transitionPosition } from '../../support/inspector/observed-run.ts';
import { randomRunArbitrary, startRandomRun } from '../../support/random-runs.ts';
import { sampleSize } from '../../support/soak.ts';

describe('coverage of the charts', () => {
  it('counts what the machines took up to an entry, and grows with every run', async () => {
    const folds: RunFold[] = [];
    let before = 0;
    await fc.assert(
      fc.asyncProperty(randomRunArbitrary, async (random) => {
        const distinct = new Set<unknown>();
        let steps: ReturnType<typeof observeRun>['steps'] = [];
        const { run } = await startRandomRun(random, {}, (started) => {
          steps = observeRun(started).steps;
        });
        for (const { machine, taken } of steps) distinct.add(`${machine} ${transitionPosition(taken)}`);
        const fold = folded(run.journal).fold;
        folds.push(fold);
        const { transitions } = fold;
        const upTo = (until: number) =>
          coverageOf(ownCharts.charts, [takenBy(ownCharts.charts, { transitions, until })]);
        const whole = upTo(run.journal.length);
        // Transitions taken before the test could observe them are counted in addition.
        expect(whole.takenCount).toBeGreaterThanOrEqual(distinct.size);
        expect(whole.takenCount).toBeLessThanOrEqual(distinct.size + 5);
        const first = transitions.seqs[0] ?? 0;
        expect(upTo(first).takenCount).toBe(1);
        expect(upTo(first - 1).takenCount).toBe(0);
        const all = coverageOf(
          ownCharts.charts,
          folds.map((each) =>
            takenBy(ownCharts.charts, { transitions: each.transitions, until: Number.POSITIVE_INFINITY }),
          ),
        );
        expect(all.takenCount).toBeGreaterThanOrEqual(Math.max(before, whole.takenCount));
        before = all.takenCount;
      }),
      { numRuns: sampleSize('runs with coverage', 8, 100) },
    );
  });

  it('omits what no journal records', () => {
    const { all, takenCount, neverTaken } = coverageOf(ownCharts.charts, []);
    const silent = ownCharts.charts.flatMap(({ transitions }) =>
      transitions.filter(({ target, guard }) => target.length === 0 && guard === null),
    );
    expect([...new Set(silent.map(({ event }) => event))].sort()).toEqual([
      'context.overruled',
      'context.undone',
      'early: done',
      'early: error',
      'loop.progressed',
      'models.learned',
      'run.adjusted',
      'run.directed',
      'search: done',
      'search: error',
      'usage.reported',
    ]);
    expect(all).toBe(ownCharts.charts.reduce((sum, { transitions }) => sum + transitions.length, 0) - silent.length);
    expect(takenCount).toBe(0);
    const chain = ownCharts.charts.find(({ id }) => id === 'postChain');
    const firstRecorded = chain?.transitions.findIndex((transition) => !silent.includes(transition)) ?? -1;
    expect(firstRecorded).toBeGreaterThanOrEqual(0);
    expect(neverTaken['postChain']?.has(firstRecorded)).toBe(true);
  });
});
