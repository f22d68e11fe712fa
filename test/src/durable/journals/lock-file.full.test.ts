import { type ChildProcess, fork } from 'node:child_process';
import fs, {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { fileJournals } from '../../../../src/durable/journals/file-journals.ts';
import { journalText } from '../../../../src/durable/journals/journal-lines.ts';
import type { JournalWriter } from '../../../../src/durable/journals/journal-store.ts';
import { leaseState, seemsHeld, thisHolder } from '../../../../src/durable/journals/lease.ts';
import * as locks from '../../../../src/durable/journals/lock-file.ts';
import { temporaryFolder } from '../../../support/cli.ts';
import { anError, throwing } from '../../../support/errors.ts';
import { fileWith } from '../../../support/journal-files.ts';
import { recordedRun } from '../../../support/recorded-run.ts';
import { startScripted } from '../../../support/run-chain.ts';

const journal = await recordedRun();

const { readLock } = locks;
const takeLock = (path: string, fence = () => {}) => locks.takeLock(path, 'Journal "run"', fence);
const takeOverLock = (path: string, force: boolean, fence = () => {}) =>
  locks.takeOverLock(path, 'Journal "run"', { force }, fence);

const lockIn = (folder: string): string => join(folder, 'run.jsonl.lock');

/** The lock of another process of this PID namespace, which has ended: its id is higher than any process id. */
const gone = { ...thisHolder(), id: 'gone', pid: 4_194_305, startedAt: '1', token: 3 };
const inAnotherContainer = { ...thisHolder(), id: 'elsewhere', host: 'worker-7', space: 'another pid:[1]', token: 3 };

const nextMessage = (child: ChildProcess): Promise<string> => new Promise((resolve) => child.once('message', resolve));

async function contenders(count: number): Promise<readonly ChildProcess[]> {
  const children = Array.from({ length: count }, () => fork('test/support/contender.mjs'));
  onTestFinished(() => {
    for (const child of children) child.kill('SIGKILL');
  });
  await Promise.all(children.map(nextMessage));
  return children;
}

it('gives a stale lock to exactly one of several contenders', async () => {
  const children = await contenders(4);
  for (let round = 0; round < 8; round += 1) {
    const path = fileWith(journalText(journal.slice(0, 9)));
    writeFileSync(`${path}.lock`, JSON.stringify(gone));
    const folder = join(path, '..');
    const messages = children.map(nextMessage);
    for (const child of children) child.send({ folder, runId: 'run', atMs: Date.now() + 5 });
    const outcomes = await Promise.all(messages);
    expect(outcomes.filter((outcome) => outcome === 'written')).toHaveLength(1);
    expect(outcomes.filter((outcome) => /is still running in process \d+/u.test(outcome))).toHaveLength(3);
    expect(readdirSync(folder).toSorted()).toEqual(['run.jsonl', 'run.jsonl.lock']);
  }
});

it('is free at once if its process has ended, or another process has its id', () => {
  for (const holder of [gone, ...(existsSync('/proc/self/stat') ? [{ ...gone, pid: process.ppid }] : [])]) {
    const path = lockIn(temporaryFolder());
    writeFileSync(path, JSON.stringify(holder));
    expect(leaseState(readLock(path))).toBe('free');
    const lock = takeLock(path, expect.unreachable);
    expect(readLock(path)).toMatchObject({ holder: thisHolder() });
    expect(() => takeLock(path)).toThrow(`Journal "run" is still running in process ${process.pid}`);
    lock.release();
    expect(readdirSync(join(path, '..'))).toEqual([]);
  }
});

it('is held if its process is in another container or on another host', async () => {
  const path = lockIn(temporaryFolder());
  writeFileSync(path, JSON.stringify(inAnotherContainer));
  expect(leaseState(readLock(path))).toBe('unsure');
  expect(seemsHeld(readLock(path))).toBe(true);
  expect(() => takeLock(path)).toThrow(
    `Journal "run" is still running in process ${process.pid} on worker-7; wait until it ends or parks ("parkAfterMs"), stop that process, or take it over with the option "force"`,
  );
});

it('protects a journal from deletion while heartbeats arrive from a host whose clock is an hour behind', async () => {
  const path = fileWith(journalText(journal.slice(0, 9)));
  writeFileSync(`${path}.lock`, JSON.stringify(inAnotherContainer));
  let atS = Date.now() / 1_000 - 3_600;
  const beat = (): void => {
    atS += 2;
    utimesSync(`${path}.lock`, atS, atS);
  };
  beat();
  const beats = setInterval(beat, 20);
  onTestFinished(() => clearInterval(beats));
  await expect(fileJournals(join(path, '..')).delete?.('run')).rejects.toThrow('is still running in process');
  expect(existsSync(path)).toBe(true);
});

it.each(['', '0', '123 456', 'me', '{"id":"../x","pid":1}'])(
  'is not taken from an unknown owner, unless forced: %j',
  async (text) => {
    const path = lockIn(temporaryFolder());
    writeFileSync(path, text);
    expect(() => takeLock(path)).toThrow('has a lock that cannot be read');
    await expect(takeOverLock(path, false)).rejects.toMatchObject({ code: 'invalid_journal' });
    const fence = vi.fn();
    const lock = await takeOverLock(path, true, fence);
    expect(fence).toHaveBeenCalledOnce();
    lock.check();
    lock.release();
    expect(readdirSync(join(path, '..'))).toEqual([]);
  },
);

it('fences the previous holder if it is taken over by force', async () => {
  const path = lockIn(temporaryFolder());
  const first = takeLock(path);
  const second = await takeOverLock(path, true);
  expect(() => first.check()).toThrow(
    /^Journal "run" is no longer written by this process, because process \d+ has taken it over/u,
  );
  first.release();
  second.check();
});

it('is lost if its file is removed, also for a process that takes it again', () => {
  const path = lockIn(temporaryFolder());
  const lock = takeLock(path);
  rmSync(path);
  expect(() => lock.check()).toThrow('its lock was removed');
  takeLock(path).check();
  expect(() => lock.check()).toThrow('has taken it over');
});

const claimed = (token: number) => ({ ...gone, id: `gone-${token}`, token });

describe('the lock of a process that died', () => {
  it.each<[string, Readonly<Record<string, object | string>>]>([
    ['before it moved its claim', { '': inAnotherContainer, '.elsewhere.3': claimed(4) }],
    ['before it moved its claim on such a claim', { '': gone, '.gone.3': claimed(4), '.gone-4.4': claimed(5) }],
    ['after it moved its claim', { '': claimed(4), '.gone.3': claimed(4), '.gone.3.gone-4.new': claimed(4) }],
    ['while it released it', { '': gone, '.gone.3': gone }],
    ['while it took over one that was being released', { '': gone, '.gone.3': gone, '.gone.3.next': claimed(4) }],
    ['while it copied the journal', { '': gone, '.2b1c.copy': '{"seq":0,' }],
    ['after leases were forged', { '': claimed(1), '.gone-1.1': claimed(2), '.gone-2.2': claimed(1) }],
  ])('%s is taken over, and what it left is removed', (_, files) => {
    const path = lockIn(temporaryFolder());
    for (const [name, content] of Object.entries(files))
      writeFileSync(`${path}${name}`, typeof content === 'string' ? content : JSON.stringify(content));
    const lock = takeLock(path);
    lock.check();
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ id: thisHolder().id });
    expect(readdirSync(join(path, '..'))).toEqual(['run.jsonl.lock']);
    expect(() => takeLock(path)).toThrow(`is still running in process ${process.pid}`);
    lock.release();
    expect(readdirSync(join(path, '..'))).toEqual([]);
  });

  it('before it wrote its claim is taken over with force', async () => {
    const path = lockIn(temporaryFolder());
    writeFileSync(path, JSON.stringify(gone));
    for (const name of ['.gone.3', '.unreadable.0']) writeFileSync(`${path}${name}`, '');
    expect(() => takeLock(path)).toThrow('has a lock that cannot be read');
    const lock = await takeOverLock(path, true);
    lock.check();
    lock.release();
    expect(existsSync(path)).toBe(false);
  });
});

describe('a process that is paused, and whose lock another one takes over', () => {
  it('while it took over the lock itself, leaves nothing', async () => {
    const path = lockIn(temporaryFolder());
    writeFileSync(path, JSON.stringify(gone));
    writeFileSync(`${path}.gone.3`, JSON.stringify(inAnotherContainer));
    (await takeOverLock(path, true)).check();
    expect(readdirSync(join(path, '..'))).toEqual(['run.jsonl.lock']);
  });

  it('while it took over the lock itself, does not get it', () => {
    const path = lockIn(temporaryFolder());
    writeFileSync(path, JSON.stringify(gone));
    const rename = fs.renameSync.bind(fs);
    const spy = vi.spyOn(fs, 'renameSync').mockImplementationOnce((from, to) => {
      rmSync(from);
      writeFileSync(path, JSON.stringify(inAnotherContainer));
      rename(from, to);
    });
    onTestFinished(() => spy.mockRestore());
    expect(() => takeLock(path)).toThrow('on worker-7');
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(inAnotherContainer);
  });

  it('while it released the lock, does not remove it', () => {
    const path = lockIn(temporaryFolder());
    const lock = takeLock(path);
    const link = fs.linkSync.bind(fs);
    const spy = vi.spyOn(fs, 'linkSync').mockImplementationOnce((...args) => {
      link(...args);
      rmSync(path);
      writeFileSync(path, JSON.stringify(inAnotherContainer));
    });
    onTestFinished(() => spy.mockRestore());
    lock.release();
    expect(readdirSync(join(path, '..'))).toEqual(['run.jsonl.lock']);
    expect(readLock(path)).toMatchObject({ holder: { id: 'elsewhere' } });
  });
});

describe('a process that is paused while it writes, and whose journal another one takes over', () => {
  const write = fs.appendFileSync.bind(fs);

  /** Takes over a journal as another process does, and continues, ends or deletes it. */
  function takeOver(path: string, then: string): void {
    writeFileSync(`${path}.lock`, JSON.stringify(claimed(2)));
    copyFileSync(path, `${path}.copy`);
    renameSync(`${path}.copy`, path);
    if (then !== 'continued') rmSync(`${path}.lock`);
    if (then === 'deleted') rmSync(path);
  }

  const cases = ['continued', 'ended', 'deleted'].flatMap((then) => [
    [then, 'before'] as const,
    [then, 'after'] as const,
  ]);
  it.each(cases)('(then %s; paused %s the write) is fenced', async (then, when) => {
    const folder = temporaryFolder();
    const writer = fileJournals(folder).create('run');
    writer.write(journal.slice(0, 3));
    const spy = vi.spyOn(fs, 'appendFileSync').mockImplementation((...args) => {
      if (when === 'before') takeOver(join(folder, 'run.jsonl'), then);
      write(...args);
      if (when === 'after') takeOver(join(folder, 'run.jsonl'), then);
    });
    writer.write(journal.slice(3, 6));
    spy.mockRestore();
    expect(writer.isFenced).toBe(true);
    writer.close();
    expect(existsSync(join(folder, 'run.jsonl'))).toBe(then !== 'deleted');
  });

  it('leaves a torn last line to it', async () => {
    const path = fileWith(`${journalText(journal.slice(0, 9))}{"seq":9,`);
    const open = fs.openSync.bind(fs);
    const spy = vi.spyOn(fs, 'openSync').mockImplementation((...args) => {
      if (args[1] === 'r+') takeOver(path, 'continued');
      return open(...args);
    });
    onTestFinished(() => spy.mockRestore());
    await expect(fileJournals(join(path, '..')).open('run')).rejects.toMatchObject({ code: 'journal_fenced' });
    expect(readFileSync(path, 'utf8')).toMatch(/\{"seq":9,$/u);
  });
});

it('fences an earlier holder even if the process that took over from it died while it did so', () => {
  const path = lockIn(temporaryFolder());
  writeFileSync(path, JSON.stringify(inAnotherContainer));
  writeFileSync(`${path}.elsewhere.3`, JSON.stringify(gone));
  const fence = vi.fn();
  takeLock(path, fence);
  expect(fence).toHaveBeenCalledOnce();
});

it('leaves the lock to its holder if the journal cannot be copied', async () => {
  const path = fileWith(journalText(journal.slice(0, 9)));
  writeFileSync(`${path}.lock`, JSON.stringify(inAnotherContainer));
  const store = fileJournals(join(path, '..'));
  const spy = vi.spyOn(fs, 'copyFileSync').mockImplementationOnce(throwing('ENOSPC: no space left on device'));
  onTestFinished(() => spy.mockRestore());
  await expect(store.open('run', { force: true })).rejects.toMatchObject(
    anError('invalid_path', /\(ENOSPC: no space left on device\); free space on its volume$/u),
  );
  expect(readdirSync(join(path, '..'))).toEqual(['run.jsonl', 'run.jsonl.lock']);
  expect(readLock(`${path}.lock`)).toMatchObject({ holder: { id: 'elsewhere' } });
  const { ino } = statSync(path);
  (await store.open('run', { force: true })).writer.close();
  expect(statSync(path).ino).not.toBe(ino);
});

it('does not replace the journal by its copy if another process takes it over meanwhile', async () => {
  const path = fileWith(journalText(journal.slice(0, 9)));
  writeFileSync(`${path}.lock`, JSON.stringify(inAnotherContainer));
  const copy = fs.copyFileSync.bind(fs);
  const spy = vi.spyOn(fs, 'copyFileSync').mockImplementation((...args) => {
    copy(...args);
    writeFileSync(`${path}.lock`, JSON.stringify(claimed(5)));
    writeFileSync(path, journalText(journal));
  });
  onTestFinished(() => spy.mockRestore());
  const store = fileJournals(join(path, '..'));
  await expect(store.open('run', { force: true })).rejects.toMatchObject({ code: 'journal_fenced' });
  expect(readFileSync(path, 'utf8')).toBe(journalText(journal));
});

it.each(['open', 'delete'] as const)(
  'a journal that is deleted before the lock is taken does not exist: %s',
  async (name) => {
    const path = fileWith(journalText(journal.slice(0, 9)));
    const store = fileJournals(join(path, '..'));
    writeFileSync(`${path}.lock`, JSON.stringify(inAnotherContainer));
    const opened = store[name]?.('run');
    // Its lease is watched meanwhile.
    rmSync(path);
    writeFileSync(`${path}.lock`, JSON.stringify({ ...gone, token: 4 }));
    await expect(opened).rejects.toMatchObject({ code: 'unknown_journal', message: /^There is no journal "run"/u });
    expect(readdirSync(join(path, '..'))).toEqual([]);
  },
);

it('reports a journal file that is removed while its run continues', async () => {
  const folder = temporaryFolder();
  const store = fileJournals(folder);
  const { run } = startScripted({}, { journals: { ...store, create: removedAfterStart } });
  function removedAfterStart(runId: string): JournalWriter {
    const writer = store.create(runId);
    return {
      get failure() {
        return writer.failure;
      },
      write(entries) {
        if (entries[0]?.seq !== 0) rmSync(join(folder, 'run-1.jsonl'), { force: true });
        return writer.write(entries);
      },
      close: () => writer.close(),
    };
  }
  expect((await run.answer).answerText).not.toBe('');
  expect(run.journalFailure).toMatch(/^The journal file ".*run-1\.jsonl" was removed during a write$/u);
});
