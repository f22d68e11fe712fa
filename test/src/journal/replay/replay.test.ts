import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../../machines/contracts/journal-entry.ts';
import { replay } from '../../../../src/journal/replay/replay.ts';
import { memoryJournals } from '../../../../src/journal/stores/memory-journals.ts';
import { aRandomRun, playRandomRun } from '../../../support/random-runs.ts';

/** As it comes back from a file. */
const written = (journal: readonly JournalEntry[]): JournalEntry[] =>
  journal.map((entry) => JSON.parse(JSON.stringify(entry)) as JournalEntry);

describe('a replay', () => {
  it('[promise 6] makes the same entries again, byte for byte, of any run', async () => {
    await fc.assert(
      fc.asyncProperty(aRandomRun, async (random) => {
        const journals = memoryJournals();
        const { run } = await playRandomRun(random, { journals });
        const answer = await run.answer;
        const replayed = replay(written(run.journal));
        expect(replayed.divergence).toBeNull();
        expect(replayed.journal.map((entry) => JSON.stringify(entry))).toEqual(
          run.journal.map((entry) => JSON.stringify(entry)),
        );
        expect(replayed.answer).toEqual(answer);
      }),
      { numRuns: 1000 },
    );
  });
});
