import fs, { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { replay } from '../../../../src/chain/journal/replay.ts';
import { readRun, runSummary } from '../../../../src/chain/journal/run-journal.ts';
import type { DurableEntry } from '../../../../src/durable/entries.ts';
import { fileJournals, journalFile } from '../../../../src/durable/journals/file-journals.ts';
import { journalText } from '../../../../src/durable/journals/journal-lines.ts';
import { entriesOf } from '../../../../src/durable/journals/journal-store.ts';
import { thisHolder } from '../../../../src/durable/journals/lease.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { temporaryFolder } from '../../../support/cli.ts';
import { anError } from '../../../support/errors.ts';
import { writeJournal } from '../../../support/journal-files.ts';
import { recordedRun } from '../../../support/recorded-run.ts';
import { settle, startScripted } from '../../../support/run-chain.ts';

const journal = await recordedRun();

const PLACE = '"machine":{"id":"m","version":null},"forkedFrom":null';
const START = `{"type":"start","input":null,"startedAt":"2026-01-01T10:00:00.000Z",${PLACE}}\n`;

it('a run whose result has another status than a run is damaged', async () => {
  const store = fileJournals(temporaryFolder());
  const summary = { status: '\u001b[2J' };
  await writeJournal(store, 'a', [...journal.slice(0, -1), { ...journal.at(-1), summary } as DurableEntry]);
  expect((await store.list()).map(runSummary)).toMatchObject([{ id: 'a', status: 'damaged' }]);
});

describe('fileJournals', () => {
  it.each([
    ['{"type":"start"}\n', 'damaged'],
    ['{"type":"start","machine":{"id":3},"startedAt":"2026-01-01T10:00:00.000Z"}\n', 'damaged'],
    [`${START}{"type":"closed","waiting":{"sinceMs":"\\u001b[2J"}}\n`, 'damaged'],
    [`${START}{"type":"end","status":"\\u001b[2J"}\n`, 'interrupted'],
    [`${START}null\n`, 'interrupted'],
    [START, 'interrupted'],
    ['', 'damaged'],
  ])('lists a journal by its first and last line: %j', async (text, status) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'a.jsonl'), text);
    expect(await fileJournals(folder).list()).toMatchObject([{ id: 'a', status }]);
  });

  it('locks a journal once for all symbolic links to it', async () => {
    const [folder, other] = [temporaryFolder(), temporaryFolder()];
    const writer = fileJournals(folder).create('a');
    writer.write(journal.slice(0, 9));
    symlinkSync(join(folder, 'a.jsonl'), join(other, 'b.jsonl'));
    expect(await fileJournals(other).list()).toMatchObject([{ id: 'b', status: 'running' }]);
    await expect(fileJournals(other).open('b')).rejects.toThrow('Journal "b" is still running in process');
    writer.close();
    (await fileJournals(other).open('b')).writer.close();
  });

  it('ignores other files in the directory', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'a.jsonl'), START);
    mkdirSync(join(folder, 'folder.jsonl'));
    for (const name of ['a%.jsonl', '%E0%A4.jsonl', 'a b.jsonl', '.jsonl.lock'])
      writeFileSync(join(folder, name), START);
    expect((await fileJournals(folder).list()).map(({ id }) => id)).toEqual(['a']);
    mkdirSync(join(folder, 'b.jsonl'));
    await expect(entriesOf(fileJournals(folder).read('b'))).rejects.toMatchObject({
      code: 'invalid_journal',
      message: /EISDIR/u,
    });
  });
});

it('does not create a journal that another process creates, and closes, before this one has the lock', async () => {
  const folder = temporaryFolder();
  const link = fs.linkSync.bind(fs);
  const spy = vi.spyOn(fs, 'linkSync').mockImplementationOnce((...args) => {
    writeFileSync(join(folder, 'a.jsonl'), journalText(journal));
    link(...args);
  });
  onTestFinished(() => spy.mockRestore());
  expect(() => fileJournals(folder).create('a')).toThrow('Journal "a" already exists; use a new id');
  expect(await entriesOf(fileJournals(folder).read('a'))).toHaveLength(journal.length);
  expect(readdirSync(folder)).toEqual(['a.jsonl']);
});

it('leaves nothing of a journal whose process ends before the first entry, and does not list it before', async () => {
  const folder = temporaryFolder();
  const store = fileJournals(folder);
  const writer = store.create('a');
  expect(await store.list()).toEqual([]);
  await expect(store.open('a')).rejects.toThrow('Journal "a" is still running in process');
  await expect(entriesOf(store.read('a'))).rejects.toThrow('journal a: the journal is empty');
  const followed = store.follow('a').next();
  // The lock of a process that has ended: its id is higher than any process id.
  writeFileSync(join(folder, 'b.jsonl.lock'), JSON.stringify({ ...thisHolder(), id: 'gone', pid: 4_194_305 }));
  await expect(entriesOf(store.read('b'))).rejects.toThrow('There is no journal "b"');
  store.create('b').close();
  writer.write(journal);
  writer.close();
  expect((await followed).value).toMatchObject({ type: 'start' });
  expect(await store.list()).toMatchObject([{ id: 'a', status: 'done' }]);
  expect(readdirSync(folder)).toEqual(['a.jsonl']);
});

it('writes the first lines at once, or not at all', async () => {
  const folder = temporaryFolder();
  const writer = fileJournals(folder).create('a');
  const spy = vi.spyOn(fs, 'writeFileSync').mockImplementationOnce((path) => {
    fs.appendFileSync(path, '{"seq":0,');
    throw new Error('ENOSPC: no space left on device');
  });
  onTestFinished(() => spy.mockRestore());
  writer.write(journal);
  expect(writer.failure).toBe('ENOSPC: no space left on device');
  writer.close();
  expect(readdirSync(folder)).toEqual([]);
});

describe('fsync', () => {
  it('does not block the process while a slow disk syncs, and then releases the journal', async () => {
    const syncs: ((error: null) => void)[] = [];
    const spy = vi.spyOn(fs, 'fsync').mockImplementation((_, done) => void syncs.push(done));
    onTestFinished(() => spy.mockRestore());
    const folder = temporaryFolder();
    const writer = fileJournals(folder, { fsync: 'always' }).create('a');
    const done: string[] = [];
    const wait = (name: string, work: void | Promise<void>) => Promise.resolve(work).then(() => void done.push(name));
    const all = [wait('first', writer.write(journal.slice(0, 3))), wait('second', writer.write(journal.slice(3)))];
    all.push(wait('closed', writer.close()));
    await settle();
    expect([done, syncs.length]).toEqual([[], 2]);
    expect(await entriesOf(fileJournals(folder).read('a'))).toHaveLength(journal.length);
    expect(existsSync(join(folder, 'a.jsonl.lock'))).toBe(true);
    for (const sync of syncs) sync(null);
    await Promise.all(all);
    expect(done).toEqual(['first', 'second', 'closed']);
    expect([writer.failure, existsSync(join(folder, 'a.jsonl.lock'))]).toEqual([null, false]);
  });

  it.each(['checkpoint', 'always'] as const)('records the same runs as without it: %s', async (fsync) => {
    const store = fileJournals(temporaryFolder(), { fsync });
    const { run } = startScripted({}, { journals: store });
    await run.answer;
    for await (const _ of run.events);
    expect(run.journalFailure).toBeNull();
    expect(await readRun(store.read('run-1'))).toEqual(JSON.parse(JSON.stringify(run.entries)));
  });
});

describe('redacted journals', () => {
  it('hides a secret that is split across streamed deltas', async () => {
    const secret = 'sk-0123456789abcdef0123456789';
    const store = fileJournals(temporaryFolder(), { redact: (text) => text.replace(/sk-[0-9a-f]{26}/gu, '[key]') });
    const { run } = startScripted({ action: { ...replies.action, response: secret } }, { journals: store });
    await run.answer;
    expect(JSON.stringify(run.entries.filter(({ type }) => type === 'text-delta'))).not.toContain(secret);
    const text = JSON.stringify(await entriesOf(store.read('run-1')));
    expect(text).toContain('[key]');
    for (let at = 0; at + 8 <= secret.length; at += 1) expect(text).not.toContain(secret.slice(at, at + 8));
    expect(replay(await readRun(store.read('run-1'))).divergence).toBeNull();
  });

  it('does not continue an unredacted journal with redact', async () => {
    const folder = join(temporaryFolder(), 'runs');
    await writeJournal(fileJournals(folder), 'a', journal.slice(0, 9));
    await writeJournal(fileJournals(folder), 'b', journal);
    const store = fileJournals(folder, { redact: (text) => text });
    await expect(store.open('a')).rejects.toThrow('Journal "a" was recorded without "redact"');
    (await store.open('b')).writer.close();
    (await fileJournals(folder).open('a')).writer.close();
  });
});

const entry = (seq: number): DurableEntry => ({ seq, atMs: 1, type: 'note', note: 'one\ntwo' });

it('a directory of journals rejects a path that is a file', async () => {
  const path = join(temporaryFolder(), 'journals');
  writeFileSync(path, 'x');
  await expect(fileJournals(path).list()).rejects.toThrow(anError('invalid_path', 'is not a directory'));
});

describe('journalFile', () => {
  it('writes each entry as one line immediately', () => {
    const path = join(temporaryFolder(), 'run.jsonl');
    const writer = journalFile(path).create('a');
    for (const seq of [0, 1, 2]) {
      writer.write([entry(seq)]);
      expect(
        readFileSync(path, 'utf8')
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line)),
      ).toHaveLength(seq + 1);
    }
    writer.close();
    expect(writer.failure).toBeNull();
  });

  it('overwrites the file, unless another run is writing it', () => {
    const path = join(temporaryFolder(), 'run.jsonl');
    const first = journalFile(path).create('a');
    first.write([entry(0)]);
    expect(() => journalFile(path).create('b')).toThrow(/is still running in process/u);
    first.close();
    journalFile(path).create('b').close();
    expect(readFileSync(path, 'utf8')).toBe('');
  });

  it('rejects a path in a missing directory', () => {
    expect(() => journalFile(join(temporaryFolder(), 'none', 'run.jsonl')).create('a')).toThrow(
      expect.objectContaining({ code: 'invalid_path' }),
    );
  });

  it.skipIf(!existsSync('/dev/full'))('reports a full disk as a failure and does not throw', () => {
    const writer = journalFile('/dev/full').create('a');
    writer.write([entry(0)]);
    writer.write([entry(1)]);
    expect(writer.failure).toContain('ENOSPC');
    writer.close();
    expect(existsSync('/dev/full.lock')).toBe(false);
  });
});
