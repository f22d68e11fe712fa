import { describe, expect, it } from 'vitest';
import { isInternal } from '../../../inspector/fold/transition-log.ts';
import { cycleFrom, phaseFrom, transitionFrom } from '../../../inspector/ui-state/move-keys.ts';
import { folded, randomRuns } from '../../support/inspector/inspected-runs.ts';
import { sampleSize } from '../../support/soak.ts';

const runs = await randomRuns(sampleSize('runs stepped through', 12, 100), 11);

describe('stepping through a run', () => {
  it('moves to the nearest transition, phase, and cycle on either side, like a scan of all entries', () => {
    for (const entries of runs) {
      const { fold } = folded(entries);
      const last = entries.length - 1;
      const starts = entries.filter((entry) => entry.type === 'phase-start');
      const cycles = starts.filter(({ cycle }, index) => cycle !== starts[index - 1]?.cycle);
      const kinds = [
        [transitionFrom, entries.filter((entry) => entry.type === 'transition').filter((entry) => !isInternal(entry))],
        [phaseFrom, starts],
        [cycleFrom, cycles],
      ] as const;
      for (const [from, stops] of kinds)
        for (let at = 0; at <= last; at += 1) {
          expect(from(fold, at, 1)).toBe(stops.find(({ seq }) => seq > at)?.seq ?? last);
          expect(from(fold, at, -1)).toBe(stops.findLast(({ seq }) => seq < at)?.seq ?? 0);
        }
    }
  });
});
