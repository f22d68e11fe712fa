import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readRun } from '../../../../src/chain/journal/run-journal.ts';
import type { DurableEntry } from '../../../../src/durable/entries.ts';
import { entriesOf } from '../../../../src/durable/journals/journal-store.ts';
import { type SqliteJournals, sqliteJournals } from '../../../../src/durable/journals/sqlite-journals.ts';
import { temporaryFolder } from '../../../support/cli.ts';
import { lockInOtherProcess } from '../../../support/file-lock.ts';
import { recordedRun } from '../../../support/recorded-run.ts';
import { startScripted } from '../../../support/run-chain.ts';

const journal = await recordedRun();

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

it('with fsync, resolves a write when it is on the disk, and records runs as without', async () => {
  const path = join(temporaryFolder(), 'runs.db');
  const [store, other] = [sqliteJournals(path, { fsync: 'always' }), sqliteJournals(path)];
  onTestFinished(() => [store, other].forEach((each) => void each.close()));
  const { run } = startScripted({}, { journals: store });
  await run.answer;
  for await (const _ of run.events);
  expect(run.journalFailure).toBeNull();
  expect(await readRun(other.read('run-1'))).toEqual(JSON.parse(JSON.stringify(run.entries)));
  const writer = store.create('a');
  const written = writer.write(journal.slice(0, 5));
  expect(written).toBeInstanceOf(Promise);
  await written;
  expect(await entriesOf(other.read('a'))).toEqual(journal.slice(0, 5));
  await writer.close();
  await store.delete?.('a');
  await expect(store.delete?.('run-2')).rejects.toThrow('There is no journal "run-2"');
  expect((await other.list()).map(({ id }) => id)).toEqual(['run-1']);
});

it.each([0, 1])('writes no entry after one that it could not write: %i', async (failing) => {
  const path = join(temporaryFolder(), 'runs.db');
  const store = sqliteJournals(path, { fsync: 'always' });
  onTestFinished(() => store.close());
  // The first use creates the file.
  await store.list();
  const database = new Database(path);
  database.exec(
    `CREATE TRIGGER one BEFORE INSERT ON line WHEN new.seq = ${failing} BEGIN SELECT RAISE(ABORT, 'no room'); END`,
  );
  database.close();
  const writer = store.create('a');
  await Promise.all([0, 1, 2, 3].map((at) => writer.write(journal.slice(at, at + 1))));
  expect([writer.failure, writer.isFenced]).toEqual([expect.stringContaining('no room'), false]);
  // `read` rejects an empty journal.
  const stored = await entriesOf(store.read('a')).catch(() => []);
  expect(stored).toEqual(journal.slice(0, failing));
});

describe('two stores of one process', () => {
  function openTwo(options = {}, name = 'runs.db') {
    const folder = temporaryFolder();
    if (name !== 'runs.db') symlinkSync(join(folder, 'runs.db'), join(folder, name));
    const stores = ['runs.db', name].map((each) => sqliteJournals(join(folder, each), options));
    onTestFinished(() => stores.forEach((each) => void each.close()));
    return stores as [SqliteJournals, SqliteJournals];
  }

  it('respect the leases of each other if the file has two names', async () => {
    const [store, other] = openTwo({}, 'link.db');
    const writer = store.create('a');
    await writer.write(journal.slice(0, 3));
    await expect(other.open('a')).rejects.toThrow('is still running');
    await expect(other.delete('a')).rejects.toThrow('is still running');
    await writer.write(journal.slice(3));
    expect(await entriesOf(other.read('a'))).toEqual(journal);
  });

  it('keep the lease of the one that created a journal first when the other gives up', async () => {
    const [store, other] = openTwo({ fsync: 'always' });
    const [first, second] = [store.create('a'), other.create('a')];
    await Promise.all([first, second].map((writer) => writer.write(journal.slice(0, 3))));
    expect([first.failure, second.failure]).toEqual([null, expect.stringContaining('already exists')]);
    await second.close();
    await expect(other.open('a')).rejects.toThrow('is still running');
    await first.write(journal.slice(3));
    expect(await entriesOf(other.read('a'))).toEqual(journal);
  });

  it('do not mistake a new journal for a deleted one of the same id', async () => {
    const [store, other] = openTwo();
    const earlier = store.create('a');
    await earlier.write(journal.slice(0, 3));
    (await other.open('a', { force: true })).writer.close();
    await other.delete('a');
    const later = other.create('a');
    await later.write(journal.slice(0, 3));
    await earlier.write(journal.slice(3, 4));
    expect([earlier.isFenced, later.failure]).toEqual([true, null]);
    expect(await entriesOf(other.read('a'))).toEqual(journal.slice(0, 3));
  });
});

describe('a file that another process locks', () => {
  it('gets every entry of every run once the lock is released, and stays usable by all', async () => {
    const path = join(temporaryFolder(), 'runs.db');
    const [store, other] = [sqliteJournals(path), sqliteJournals(path)];
    onTestFinished(() => [store, other].forEach((each) => void each.close()));
    const writers = ['a', 'b'].map((runId) => store.create(runId));
    const writeAll = (entries: readonly DurableEntry[]) => Promise.all(writers.map((writer) => writer.write(entries)));
    await writeAll(journal.slice(0, 5));
    const release = await lockInOtherProcess(path);
    void writeAll(journal.slice(5, 7));
    await release();
    await writeAll(journal.slice(7));
    for (const writer of writers) await writer.close();
    for (const runId of ['a', 'b']) await expect.poll(() => entriesOf(other.read(runId))).toEqual(journal);
    expect(writers.map(({ failure }) => failure)).toEqual([null, null]);
    const later = other.create('c');
    await later.write(journal);
    await later.close();
    expect(await entriesOf(store.read('c'))).toEqual(journal);
  });
});
