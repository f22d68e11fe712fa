import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { entriesOf } from '../../../src/journal/journal-lines.ts';
import { sqliteJournals } from '../../../src/journal/sqlite-journals.ts';
import { temporaryFolder } from '../../support/cli.ts';
import { lockInOtherProcess } from '../../support/file-lock.ts';
import { startScripted } from '../../support/run-chain.ts';

describe('sqliteJournals', () => {
  it('does not end a run when the file is closed', async () => {
    const store = sqliteJournals(join(temporaryFolder(), 'runs.db'));
    const { run } = startScripted({}, { journals: store });
    store.close();
    expect((await run.answer).answerText).not.toBe('');
    for await (const _ of run.events);
    expect(run.journalFailure).toMatch(/not open/u);
  });

  it('rejects the file of another program and leaves it unchanged', () => {
    const path = join(temporaryFolder(), 'notes.txt');
    writeFileSync(path, 'These are my notes, not a database. '.repeat(30));
    const before = readFileSync(path);
    expect(() => sqliteJournals(path).create('a')).toThrow(expect.objectContaining({ code: 'invalid_path' }));
    expect(readFileSync(path)).toEqual(before);
    expect(() => sqliteJournals(':memory:')).toThrow(expect.objectContaining({ code: 'invalid_option' }));
  });
});

it('[promise 6] a flipped bit in the database gives an error or the journal, and never aborts the process', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'runs.db');
  const store = sqliteJournals(path);
  const { run } = startScripted({}, { journals: store });
  await run.answer;
  store.close();
  const [whole, lines] = [readFileSync(path), run.journal.map((entry) => JSON.stringify(entry))];
  const places = 60;
  for (let place = 0; place < places; place += 1) {
    const bytes = Buffer.from(whole);
    const at = Math.floor((place * bytes.length) / places);
    // A letter with its highest bit set is not valid UTF-8.
    bytes[at] = (bytes[at] ?? 0) ^ 0x80;
    const damaged = sqliteJournals(join(folder, `${place}.db`));
    writeFileSync(join(folder, `${place}.db`), bytes);
    const read: JournalEntry[] = [];
    try {
      for await (const entry of damaged.read('run-1')) read.push(entry);
    } catch (error) {
      expect(error).toMatchObject({ code: expect.stringMatching(/^invalid_(?:journal|path)$/u) });
    }
    expect(read.map((entry) => JSON.stringify(entry))).toEqual(lines.slice(0, read.length));
    await damaged.list().catch((error) => expect(error).toMatchObject({ code: 'invalid_path' }));
    damaged.close();
  }
});

describe('a file that another process locks', () => {
  it('gets every entry of every run once the lock is released, and stays usable by all', async () => {
    const path = join(temporaryFolder(), 'runs.db');
    const [store, other] = [sqliteJournals(path), sqliteJournals(path)];
    onTestFinished(() => [store, other].forEach((each) => void each.close()));
    const { run } = startScripted();
    await run.answer;
    const journal = JSON.parse(JSON.stringify(run.journal)) as JournalEntry[];
    const writers = ['a', 'b'].map((runId) => store.create(runId));
    const writeAll = (entries: readonly JournalEntry[]): void => {
      for (const writer of writers) writer.write(entries);
    };
    writeAll(journal.slice(0, 5));
    const release = await lockInOtherProcess(path);
    writeAll(journal.slice(5, 7));
    await release();
    writeAll(journal.slice(7));
    for (const writer of writers) writer.close();
    for (const runId of ['a', 'b']) await expect.poll(() => entriesOf(other.read(runId))).toEqual(journal);
    expect(writers.map(({ failure }) => failure)).toEqual([null, null]);
    const later = other.create('c');
    later.write(journal);
    later.close();
    expect(await entriesOf(store.read('c'))).toEqual(journal);
  });
});
