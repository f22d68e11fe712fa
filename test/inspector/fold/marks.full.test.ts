import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { marksAt } from '../../../inspector/fold/marks.ts';
import { folded, ownCharts } from '../../support/inspector/inspected-runs.ts';
import { type ObservedStep, observeRun, transitionPosition } from '../../support/inspector/observed-run.ts';
import { randomRunArbitrary, startRandomRun } from '../../support/random-runs.ts';
import { sampleSize } from '../../support/soak.ts';

/** How often each transition was taken, by chart and index. */
function timesAt(...[transitions, charts, at]: Parameters<typeof marksAt>): Record<string, number> {
  const { taken } = marksAt(transitions, charts, at);
  return Object.fromEntries(
    charts.charts.flatMap(({ id }) => [...(taken[id] ?? [])].map(([index, count]) => [`${id} ${index}`, count])),
  );
}

describe('chart marks', () => {
  it('count what the machines took so far and identify the last transition at every step', async () => {
    await fc.assert(
      fc.asyncProperty(randomRunArbitrary, async (random) => {
        let steps: readonly ObservedStep[] = [];
        const { run } = await startRandomRun(random, {}, (started) => {
          steps = observeRun(started).steps;
        });
        const { transitions } = folded(run.entries).fold;
        // The first steps were taken before the test could observe them.
        const watched = transitions.seqs.slice(transitions.seqs.length - steps.length);
        const unwatched = folded(run.entries.slice(0, watched[0])).fold.transitions;
        const times = timesAt(unwatched, ownCharts, Number.POSITIVE_INFINITY);
        for (const [index, { machine, taken }] of steps.entries()) {
          const at = watched[index] ?? -1;
          const key = `${machine} ${transitionPosition(taken)}`;
          times[key] = (times[key] ?? 0) + 1;
          expect(timesAt(transitions, ownCharts, at)).toEqual(times);
          expect(marksAt(transitions, ownCharts, at).last).toMatchObject({
            chartId: machine,
            transition: transitionPosition(taken),
          });
        }
      }),
      { numRuns: sampleSize('runs with marks', 8, 100) },
    );
  });
});
