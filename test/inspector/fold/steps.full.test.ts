import { describe, expect, it } from 'vitest';
import { isInternal } from '../../../inspector/fold/transition-log.ts';
import { transitionFrom } from '../../../inspector/ui-state/move-keys.ts';
import { folded, randomRuns } from '../../support/inspector/inspected-runs.ts';
import { sampleSize } from '../../support/soak.ts';

const runs = await randomRuns(sampleSize('runs stepped through', 12, 100), 11);

describe('stepping through a run', () => {
  it('moves to the nearest transition on either side, like a scan of all entries', () => {
    for (const entries of runs) {
      const { fold } = folded(entries);
      const last = entries.length - 1;
      const stops = entries.filter((entry) => entry.type === 'transition').filter((entry) => !isInternal(entry));
      for (let at = 0; at <= last; at += 1) {
        expect(transitionFrom(fold, at, 1)).toBe(stops.find(({ seq }) => seq > at)?.seq ?? last);
        expect(transitionFrom(fold, at, -1)).toBe(stops.findLast(({ seq }) => seq < at)?.seq ?? 0);
      }
    }
  });
});
