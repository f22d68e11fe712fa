import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import type { JournalStore } from '../../../../machines/contracts/journal-store.ts';
import { createPostChain } from '../../../../src/index.ts';
import { entriesOf } from '../../../../src/journal/entries-of.ts';
import { fileJournals } from '../../../../src/journal/stores/file-journals.ts';
import { linesFrom } from '../../../../src/journal/stores/lines-from.ts';
import { memoryJournals } from '../../../../src/journal/stores/memory-journals.ts';
import { sqliteJournals } from '../../../../src/journal/stores/sqlite-journals.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { temporaryFolder } from '../../../support/cli.ts';

async function kept(journals: JournalStore = memoryJournals()) {
  const run = createPostChain({ model: scriptedModel({}, { otherwise: replies }), journals }).run({
    request: 'Is it so?',
  });
  await run.answer;
  return { journals, runId: run.runId, entries: await entriesOf(journals.read(run.runId)) };
}

async function listOf<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

it.each([
  ['memory', () => memoryJournals()],
  ['files', () => fileJournals(temporaryFolder())],
  ['SQLite', () => sqliteJournals(join(temporaryFolder(), 'runs.db'))],
])('the lines of a store in %s are its entries as JSON, which nobody writes anew', async (_, journalsIn) => {
  const { journals, runId, entries } = await kept(journalsIn());
  vi.spyOn(journals, 'read').mockImplementation(() => {
    throw new Error('its entries were read');
  });
  const lines = await listOf(linesFrom(journals, runId));
  expect(lines.map((line) => JSON.parse(line))).toEqual(entries);
  expect(lines[0]).not.toContain('"sum"');
});

it('a store that is made out of another gives what its own read gives', async () => {
  const { journals, runId, entries } = await kept();
  async function* read() {
    yield* entries.slice(0, 3);
  }
  const lines = await listOf(linesFrom({ ...journals, read }, runId));
  expect(lines.map((line) => JSON.parse(line))).toEqual(entries.slice(0, 3));
});
