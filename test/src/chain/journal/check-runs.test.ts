import { expect, it } from 'vitest';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import { storedEntry } from '../../../../src/chain/journal/stored-entries.ts';
import { checkRuns, createPostChain, type JournalStore, memoryJournals } from '../../../../src/entries/index.ts';
import { killedAfter, writeJournal } from '../../../support/journal-files.ts';

/** A store with a run that has ended, and one that its process left after so many entries. */
async function interruptedAfter(count: number, changed: (entry: JournalEntry) => JournalEntry): Promise<JournalStore> {
  const { entries: journal, answer } = createPostChain({ journals: memoryJournals() }).run({ request: 'Is it so?' });
  await answer;
  const journals = killedAfter(journal.slice(0, count).map(changed), 'r');
  await writeJournal(journals, 'ended', journal.map(storedEntry));
  return {
    ...journals,
    read(id) {
      if (id === 'ended') throw new Error('an ended run is not read');
      return journals.read(id);
    },
  };
}

it('finds that an interrupted run continues, and why another one does not', async () => {
  const same = await interruptedAfter(10, (entry) => entry);
  expect(await checkRuns(same)).toEqual([{ id: 'r', status: 'interrupted', problem: null }]);
  const otherChart = await interruptedAfter(10, (entry) =>
    entry.type === 'start' ? { ...entry, machine: { ...entry.machine, digest: 'other' } } : entry,
  );
  expect((await checkRuns(otherChart))[0]?.problem).toMatch(/was recorded with the chart postChain other/u);
  const otherPath = await interruptedAfter(10, (entry) =>
    entry.type === 'transition' ? { ...entry, source: 'elsewhere' } : entry,
  );
  expect((await checkRuns(otherPath))[0]?.problem).toMatch(
    /^entry 1 \(transition\): source was "elsewhere" .* Likely cause: /u,
  );
});
