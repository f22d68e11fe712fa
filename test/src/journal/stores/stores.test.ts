import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { JournalEntry } from '../../../../machines/contracts/journal-entry.ts';
import type { JournalStore, JournalStoreOptions } from '../../../../machines/contracts/journal-store.ts';
import { fileJournals } from '../../../../src/journal/stores/file-journals.ts';
import { memoryJournals } from '../../../../src/journal/stores/memory-journals.ts';
import { sqliteJournals } from '../../../../src/journal/stores/sqlite-journals.ts';
import { temporaryFolder } from '../../../support/cli.ts';
import { startScripted } from '../../../support/run-chain.ts';

const stores: Record<string, (options?: JournalStoreOptions) => JournalStore> = {
  memory: memoryJournals,
  files: (options) => fileJournals(join(temporaryFolder(), 'runs'), options),
  SQLite: (options) => {
    const store = sqliteJournals(join(temporaryFolder(), 'runs.db'), options);
    onTestFinished(() => store.close());
    return store;
  },
};

async function aJournal(): Promise<readonly JournalEntry[]> {
  const { run } = startScripted();
  await run.answer;
  return JSON.parse(JSON.stringify(run.journal));
}

/** Beginning at another time, so that lists have an order. */
const begunAt = (journal: readonly JournalEntry[], startedAt: string): JournalEntry[] =>
  journal.map((entry) => (entry.type === 'run-start' ? { ...entry, startedAt } : entry));

function write(store: JournalStore, runId: string, entries: readonly JournalEntry[], close = true): void {
  const writer = store.create(runId);
  for (const entry of entries) writer.write(entry);
  expect(writer.failure).toBeNull();
  if (close) writer.close();
}

async function read(store: JournalStore, runId: string): Promise<readonly JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for await (const entry of store.read(runId)) entries.push(entry);
  return entries;
}

describe.each(Object.entries(stores))('journals in %s', (_, open) => {
  it('are read as they were written, also while they are', async () => {
    const [store, journal] = [open(), await aJournal()];
    write(store, 'a', journal);
    write(store, 'b', journal.slice(0, 9), false);
    expect(await read(store, 'a')).toEqual(journal);
    expect(await read(store, 'b')).toEqual(journal.slice(0, 9));
  });

  it('are gone on with where they stood', async () => {
    const [store, journal] = [open(), await aJournal()];
    write(store, 'a', journal.slice(0, 9));
    const { entries, writer } = await store.open('a');
    expect(entries).toEqual(journal.slice(0, 9));
    for (const entry of journal.slice(9)) writer.write(entry);
    writer.close();
    expect(await read(store, 'a')).toEqual(journal);
  });

  it('have one writer at a time, and one run an id', async () => {
    const [store, journal] = [open(), await aJournal()];
    write(store, 'a', journal.slice(0, 5), false);
    await expect(store.open('a')).rejects.toMatchObject({ code: 'invalid_journal', message: /under way in/u });
    expect(() => store.create('a')).toThrow(/There is a run "a" already/u);
    await expect(store.open('b')).rejects.toThrow('There is no run "b" here');
    await expect(read(store, 'b')).rejects.toThrow('There is no run "b" here');
  });

  it('that are damaged are refused, and can be opened once they are mended', async () => {
    const [store, journal] = [open(), await aJournal()];
    write(store, 'a', [...journal.slice(0, 4), ...journal.slice(5)]);
    await expect(read(store, 'a')).rejects.toThrow('run a: entry 4 cannot be read: entry 5 stands in its place');
    for (const _again of [1, 2]) await expect(store.open('a')).rejects.toThrow('entry 4 cannot be read');
  });

  it('that nothing stands in are refused', async () => {
    const store = open();
    store.create('a').close();
    await expect(read(store, 'a')).rejects.toThrow('run a: no run begins in it');
    await expect(store.open('a')).rejects.toMatchObject({ code: 'invalid_journal' });
    expect(await store.list()).toMatchObject([{ runId: 'a', request: '', startedAt: '', status: 'damaged' }]);
  });

  it('are closed once, and take nothing more', async () => {
    const [store, journal] = [open(), await aJournal()];
    const writer = store.create('a');
    for (const entry of journal.slice(0, 9)) writer.write(entry);
    writer.close();
    const { writer: other } = await store.open('a');
    writer.close();
    writer.write(journal[9] as JournalEntry);
    other.write(journal[9] as JournalEntry);
    expect([writer.failure, other.failure]).toEqual([null, null]);
    other.close();
    expect(await read(store, 'a')).toEqual(journal.slice(0, 10));
  });

  it('are listed, the newest first, with how they stand', async () => {
    const [store, journal] = [open(), await aJournal()];
    expect(await store.list()).toEqual([]);
    write(store, 'ended', begunAt(journal, '2026-01-01T10:00:00.000Z'));
    write(store, 'killed', begunAt(journal.slice(0, -1), '2026-01-01T12:00:00.000Z'));
    write(store, 'alive', begunAt(journal.slice(0, 3), '2026-01-01T11:00:00.000Z'), false);
    const { status } = journal.at(-1) as Extract<JournalEntry, { type: 'run-end' }>;
    const common = { request: 'Is it so?', forkedFrom: null };
    expect(await store.list()).toEqual([
      { runId: 'killed', ...common, startedAt: '2026-01-01T12:00:00.000Z', status: 'interrupted' },
      { runId: 'alive', ...common, startedAt: '2026-01-01T11:00:00.000Z', status: 'running' },
      { runId: 'ended', ...common, startedAt: '2026-01-01T10:00:00.000Z', status },
    ]);
  });

  it.each(['../../etc/passwd', '.', 'CON', 'a b%2F?*', 'ö\u0000\n', '__proto__'])('take any id: %j', async (runId) => {
    const [store, journal] = [open(), await aJournal()];
    write(store, runId, journal);
    expect(await read(store, runId)).toEqual(journal);
    expect((await store.list()).map((run) => run.runId)).toEqual([runId]);
  });

  it('show a hook every text before it is written, and say so', async () => {
    const seen = new Set<string>();
    const store = open({
      redact: (text) => {
        seen.add(text);
        return text.replaceAll('Is it so?', '[redacted]');
      },
    });
    const journal = await aJournal();
    write(store, 'a', journal);
    const kept = await read(store, 'a');
    expect(JSON.stringify(kept)).not.toContain('Is it so?');
    expect(kept[0]).toMatchObject({ request: '[redacted]', redacted: true });
    expect(kept).toHaveLength(journal.length);
    for (const text of textsOf(journal.filter(({ type }) => type !== 'text-delta'))) expect(seen).toContain(text);
  });

  it('write nothing more where the hook throws, and say why', async () => {
    const store = open({
      redact: (text) => {
        if (text.includes('It may be so')) throw new Error('no words for it');
        return text;
      },
    });
    const journal = await aJournal();
    const writer = store.create('a');
    for (const entry of journal) writer.write(entry);
    expect(writer.failure).toBe('no words for it');
    writer.close();
    const kept = await read(store, 'a');
    expect(kept).toEqual(
      journal.slice(0, kept.length).map((entry) => ({
        ...entry,
        ...(entry.seq === 0 && { redacted: true }),
        ...(entry.type === 'text-delta' && { text: '' }),
      })),
    );
    expect(kept.length).toBeGreaterThan(3);
  });
});

function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

describe('journals in files', () => {
  it('are nobody else’s to read', async () => {
    const folder = join(temporaryFolder(), 'runs');
    write(fileJournals(folder), 'a', await aJournal());
    expect([statSync(folder).mode & 0o777, statSync(join(folder, 'a.jsonl')).mode & 0o777]).toEqual([0o700, 0o600]);
  });

  it('drop what a kill left behind the last line feed, and go on there', async () => {
    const [folder, journal] = [temporaryFolder(), await aJournal()];
    const [store, path] = [fileJournals(folder), join(folder, 'a.jsonl')];
    write(store, 'a', journal.slice(0, 9));
    const whole = readFileSync(path, 'utf8');
    appendFileSync(path, '{"seq":9,"atMs":1,"type":"text-');
    expect(await read(store, 'a')).toEqual(journal.slice(0, 9));
    const { writer } = await store.open('a');
    expect(readFileSync(path, 'utf8')).toBe(whole);
    for (const entry of journal.slice(9)) writer.write(entry);
    writer.close();
    expect(await read(store, 'a')).toEqual(journal);
  });

  it('are free again where the process that wrote them is gone', async () => {
    const [folder, journal] = [temporaryFolder(), await aJournal()];
    const store = fileJournals(folder);
    write(store, 'a', journal.slice(0, 9));
    // No process has so high a number.
    writeFileSync(join(folder, 'a.jsonl.lock'), '4194305');
    expect((await store.list())[0]?.status).toBe('interrupted');
    const { writer } = await store.open('a');
    expect(readFileSync(join(folder, 'a.jsonl.lock'), 'utf8')).toMatch(new RegExp(`^${process.pid}\\b`, 'u'));
    writer.close();
    expect(existsSync(join(folder, 'a.jsonl.lock'))).toBe(false);
  });

  it('in a folder that cannot be made are refused', () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    expect(() => fileJournals(file).create('a')).toThrow(expect.objectContaining({ code: 'invalid_path' }));
    expect(() => fileJournals(' ')).toThrow(expect.objectContaining({ code: 'invalid_option' }));
  });
});
