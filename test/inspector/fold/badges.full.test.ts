import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { badgesOf } from '../../../inspector/fold/badges.ts';
import { createRunFold } from '../../../inspector/fold/run-fold.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { failingRun, folded, ownCharts, recordedEntries } from '../../support/inspector/inspected-runs.ts';
import { randomRunArbitrary, startRandomRun } from '../../support/random-runs.ts';

const countIn = (text: string): number => Number.parseInt(text.replaceAll(',', '') || '0', 10);

describe('the badges of the states', () => {
  it('count the model calls of the whole run, even if the entries arrive one by one', async () => {
    let failed = 0;
    await fc.assert(
      fc.asyncProperty(randomRunArbitrary, async (random) => {
        const { journal } = (await startRandomRun(random)).run;
        const badges = badgesOf(folded(journal).fold, ownCharts);
        const started = journal.filter(({ type }) => type === 'attempt-start').length;
        expect(countIn(badges['postChain']?.get('postChain') ?? '')).toBe(started);
        // Each copy of an invoked chart has its own part of the sum.
        const copies = Object.entries(badges).filter(([key]) => key.startsWith('["attempt"'));
        const ofCopies = copies.map(([, states]) => countIn(states.get('attempt') ?? ''));
        expect(ofCopies.reduce((sum, count) => sum + count, 0)).toBe(started);
        failed += Number(badges['postChain']?.get('postChain')?.includes('failed'));
        const fold = createRunFold();
        for (const entry of journal) {
          fold.take(entry);
          if (entry.seq % 7 === 0) badgesOf(fold, ownCharts);
        }
        expect(badgesOf(fold, ownCharts)).toEqual(badges);
      }),
      { numRuns: 15 },
    );
    expect(failed).toBeGreaterThan(0);
  });

  it('count tools that failed', async () => {
    const failing = recordedEntries(await failingRun());
    const failedIn = (entries: readonly JournalEntry[]): number =>
      countIn(badgesOf(folded(entries).fold, ownCharts)['postChain']?.get('action')?.split(' · ')[1] ?? '');
    const broken = failing.map((entry) =>
      entry.type === 'capability-end' ? { ...entry, result: { ...entry.result, success: false, error: 'no' } } : entry,
    );
    const tools = failing.filter(({ type }) => type === 'capability-end').length;
    expect(failedIn(broken)).toBe(failedIn(failing) + tools);
  });
});
