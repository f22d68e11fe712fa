import { expect, it } from 'vitest';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import { checkRuns, createPostChain, type JournalStore, memoryJournals } from '../../../../src/entries/index.ts';

/** A store with one recorded run that its process left after so many entries. */
async function interruptedAfter(count: number, changed: (entry: JournalEntry) => JournalEntry): Promise<JournalStore> {
  const { entries: journal, answer } = createPostChain({ journals: memoryJournals() }).run({ request: 'Is it so?' });
  await answer;
  const entries = journal.slice(0, count).map(changed);
  return {
    ...memoryJournals(),
    list: async () => [
      { id: 'ended', request: '', startedAt: '', forkedFrom: null, status: 'completed', waiting: null },
      { id: 'r', request: '', startedAt: '', forkedFrom: null, status: 'interrupted', waiting: null },
    ],
    async *read(runId) {
      if (runId === 'r') yield* entries;
      else throw new Error('an ended run is not read');
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
