import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JournalEntry } from '../../machines/contracts/journal.ts';
import { storedEntry } from '../../src/chain/journal/stored-entries.ts';
import type { Turn } from '../../src/chain/runtime/run-options.ts';
import type { DurableEntry } from '../../src/durable/entries.ts';
import { fileJournals } from '../../src/durable/journals/file-journals.ts';
import { journalText } from '../../src/durable/journals/journal-lines.ts';
import type { Journals, JournalWriter } from '../../src/durable/journals/journal-store.ts';
import { sqliteJournals } from '../../src/durable/journals/sqlite-journals.ts';
import { createPostChain, type JournalStore, memoryJournals } from '../../src/entries/index.ts';
import { temporaryFolder } from './cli.ts';
import { nextTurn } from './simulated-clock.ts';

/** The kinds of journal store that need no server. */
export const JOURNAL_STORES: readonly (readonly [kind: string, create: () => Journals])[] = [
  ['memory', () => memoryJournals()],
  ['files', () => fileJournals(temporaryFolder())],
  ['SQLite', () => sqliteJournals(join(temporaryFolder(), 'runs.db'))],
];

const longTurn = (subject: string): string => `Please look into ${subject}. ${'It is a long story. '.repeat(80)}`;

/** Three turns of a user that are long enough to be asked about, and one of an assistant. */
export const LONG_HISTORY: readonly Turn[] = [
  { role: 'user', content: longTurn('the cellar') },
  { role: 'assistant', content: 'The cellar is damp. It was dug in winter.' },
  { role: 'user', content: longTurn('the attic') },
  { role: 'user', content: longTurn('the garden') },
];

/** A run of the extractive model over them, in which the first is summarized, the third removed, and the fourth kept. */
export async function runOverHistory() {
  const run = createPostChain({ consent: 'ask', limits: { maxCycles: 3 } }).run({
    request: 'Is the cellar damp?',
    history: LONG_HISTORY,
  });
  const items = { 'earlier.h1': 'summarize', 'earlier.h3': 'remove' } as const;
  for await (const event of run.events)
    if (event.type === 'consent-asked')
      run.send({ type: 'consent.given', questionId: event.questionId, choice: 'keep', items });
  return run;
}

/** A file of the test's own. */
export function fileWith(text: string | Uint8Array, name = 'run.jsonl'): string {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, text);
  return path;
}

/** Stores a journal, as if its process had just ended. */
export async function writeJournal(
  store: Pick<JournalStore, 'create'>,
  id: string,
  entries: readonly DurableEntry[],
): Promise<void> {
  const writer = store.create(id);
  await writer.write(entries);
  await writer.close();
}

/** A journal file with these entries of a run. */
export const journalFile = (journal: readonly JournalEntry[]): string =>
  fileWith(journalText(journal.map(storedEntry)));

/** A store with these entries of a run, whose process was killed after them. */
export function killedAfter(entries: readonly JournalEntry[], runId = 'run-1'): JournalStore {
  const journals = memoryJournals();
  const writer = journals.create(runId);
  writer.write(entries.map(storedEntry));
  void writer.close();
  return journals;
}

/** A store with another writer in place of each of its own. */
export function withWriters(store: Journals, change: (writer: JournalWriter) => JournalWriter): Journals {
  return {
    ...store,
    create: (id) => change(store.create(id)),
    async open(...given) {
      const opened = await store.open(...given);
      return { ...opened, writer: change(opened.writer) };
    },
  };
}

/** A store whose writes take a turn of the event loop, as those of a database do. */
export const slowJournals = () =>
  withWriters(memoryJournals(), (writer) => ({
    failure: null,
    async write(entries) {
      await nextTurn();
      writer.write(entries);
    },
    close: () => writer.close(),
  }));
