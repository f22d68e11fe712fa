import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { badgesAt } from '../../../inspector/fold/badges.ts';
import { createRunFold } from '../../../inspector/fold/run-fold.ts';
import { folded, ownCharts } from '../../support/inspector/inspected-runs.ts';
import { randomRunArbitrary, startRandomRun } from '../../support/random-runs.ts';

const countIn = (text: string): number => Number.parseInt(text.replaceAll(',', '') || '0', 10);

describe('the badges of the states', () => {
  it('count the model calls up to an entry, even if the entries arrive one by one', async () => {
    let failed = 0;
    await fc.assert(
      fc.asyncProperty(randomRunArbitrary, fc.double({ min: 0, max: 1, noNaN: true }), async (random, share) => {
        const { journal } = (await startRandomRun(random)).run;
        const until = Math.floor(share * (journal.length - 1));
        const badges = badgesAt(folded(journal).fold, ownCharts, until);
        const started = journal.slice(0, until + 1).filter(({ type }) => type === 'attempt-start').length;
        expect(countIn(badges['postChain']?.get('postChain') ?? '')).toBe(started);
        // Each copy of an invoked chart has its own part of the sum.
        const copies = Object.entries(badges).filter(([key]) => key.startsWith('["attempt"'));
        const ofCopies = copies.map(([, states]) => countIn(states.get('attempt') ?? ''));
        expect(ofCopies.reduce((sum, count) => sum + count, 0)).toBe(started);
        failed += Number(badges['postChain']?.get('postChain')?.includes('failed'));
        const fold = createRunFold();
        for (const entry of journal) {
          fold.take(entry);
          if (entry.seq % 7 === 0) badgesAt(fold, ownCharts, entry.seq);
        }
        expect(badgesAt(fold, ownCharts, until)).toEqual(badgesAt(folded(journal).fold, ownCharts, until));
      }),
      { numRuns: 15 },
    );
    expect(failed).toBeGreaterThan(0);
  });
});
