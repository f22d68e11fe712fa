import { describe, expect, it } from 'vitest';
import { sumsOf } from '../../../inspector/fold/spans.ts';
import { cycleFrom, phaseFrom, transitionFrom } from '../../../inspector/fold/steps.ts';
import { isInternal } from '../../../inspector/fold/transition-log.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
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

describe('the sums of a range', () => {
  it('are those of the model calls that start in it, with their cost', () => {
    for (const entries of runs) {
      const { fold } = folded(priced(entries));
      const ends = entries.filter((entry) => entry.type === 'attempt-end');
      const all = sumsOf(fold.spans, fold.timeLine, 0, entries.length - 1);
      const tokens = (read: (entry: (typeof ends)[number]) => number): number =>
        ends.reduce((sum, entry) => sum + read(entry), 0);
      expect(all.modelCalls).toBe(entries.filter(({ type }) => type === 'attempt-start').length);
      expect(all.inputTokens).toBe(tokens(({ usage }) => usage.inputTokens));
      expect(all.outputTokens).toBe(tokens(({ usage }) => usage.outputTokens));
      expect(all.cost).toBeCloseTo((2 * all.inputTokens + 10 * all.outputTokens) / 1_000_000, 9);
      expect(all.failed).toBe(ends.filter(({ failure }) => failure !== null).length);
      const middle = entries.length >> 1;
      const [one, other] = [
        [0, middle],
        [middle + 1, entries.length - 1],
      ].map(([from = 0, to = 0]) => sumsOf(fold.spans, fold.timeLine, from, to));
      expect((one?.modelCalls ?? 0) + (other?.modelCalls ?? 0)).toBe(all.modelCalls);
      expect((one?.cost ?? 0) + (other?.cost ?? 0)).toBeCloseTo(all.cost ?? -1, 9);
      expect(sumsOf(folded(entries).fold.spans, fold.timeLine, 0, middle).cost).toBeNull();
    }
  });
});

/** The same run with prices. */
const priced = (entries: readonly JournalEntry[]): readonly JournalEntry[] =>
  entries.map((entry) =>
    entry.type === 'run-start'
      ? { ...entry, currency: 'EUR', prices: [{ inputPerMillion: 2, outputPerMillion: 10 }] }
      : entry,
  );
