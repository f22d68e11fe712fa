import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { badgesOf } from '../../../inspector/fold/badges.ts';
import type { Badge } from '../../../inspector/fold/marks.ts';
import { createRunFold } from '../../../inspector/fold/run-fold.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { failingRun, folded, ownCharts, recordedEntries } from '../../support/inspector/inspected-runs.ts';
import { randomRunArbitrary, startRandomRun } from '../../support/random-runs.ts';

/** The number before `call` or `tool call`. */
const countIn = (badge: Badge | undefined, word = 'call'): number =>
  Number(new RegExp(`([\\d,]+) ${word}`, 'u').exec(badge?.text ?? '')?.[1]?.replaceAll(',', '') ?? 0);

describe('the badges of the states', () => {
  it('count the model calls of the whole run, even if the entries arrive one by one', async () => {
    let failed = 0;
    await fc.assert(
      fc.asyncProperty(randomRunArbitrary, async (random) => {
        const { entries: journal } = (await startRandomRun(random)).run;
        const badges = badgesOf(folded(journal).fold, ownCharts);
        const started = journal.filter(({ type }) => type === 'attempt-start').length;
        expect(countIn(badges['postChain']?.get('postChain'))).toBe(started);
        // Each copy of an invoked chart has its own part of the sum.
        const copies = Object.entries(badges).filter(([key]) => key.startsWith('["attempt"'));
        const ofCopies = copies.map(([, states]) => countIn(states.get('attempt')));
        expect(ofCopies.reduce((sum, count) => sum + count, 0)).toBe(started);
        failed += Number(badges['postChain']?.get('postChain')?.hasFailed);
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

  it('tell failed tools from failed model calls', async () => {
    const failing = recordedEntries(await failingRun());
    const badge = (entries: readonly JournalEntry[]) =>
      badgesOf(folded(entries).fold, ownCharts)['postChain']?.get('action');
    const broken = failing.map((entry) =>
      entry.type === 'capability-end' ? { ...entry, result: { ...entry.result, success: false, error: 'no' } } : entry,
    );
    const tools = failing.filter(({ type }) => type === 'capability-end').length;
    expect(countIn(badge(broken), 'tool call')).toBe(tools);
    expect(countIn(badge(broken))).toBe(countIn(badge(failing)));
    expect(badge(broken)).toMatchObject({ hasFailed: true, text: expect.stringMatching(/ failed$/u) });
  });
});
