import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { sqliteJournals } from '../../../src/journal/sqlite-journals.ts';
import { temporaryFolder } from '../../support/cli.ts';
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
