import { type ChildProcess, fork } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ownerOf, releaseLock, takeLock } from '../../../src/journal/owner-lock.ts';
import { temporaryFolder } from '../../support/cli.ts';
import { fileWith, linesOf } from '../../support/journal-files.ts';
import { startScripted } from '../../support/run-chain.ts';

// Higher than any process id.
const GONE = '4194305';

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
  const { run } = startScripted();
  await run.answer;
  const children = await contenders(4);
  for (let round = 0; round < 8; round += 1) {
    const path = fileWith(linesOf(run.journal.slice(0, 9)));
    writeFileSync(`${path}.lock`, GONE);
    const folder = join(path, '..');
    const messages = children.map(nextMessage);
    for (const child of children) child.send({ folder, runId: 'run', atMs: Date.now() + 5 });
    const outcomes = await Promise.all(messages);
    expect(outcomes.filter((outcome) => outcome === 'written')).toHaveLength(1);
    expect(outcomes.filter((outcome) => /is still running in process \d+/u.test(outcome))).toHaveLength(3);
    expect(readdirSync(folder).toSorted()).toEqual(['run.jsonl', 'run.jsonl.lock']);
  }
});

it.skipIf(!existsSync('/proc/self/stat'))('is free if another process has reused the owner’s id', () => {
  const path = join(temporaryFolder(), 'lock');
  // A container assigns the same ids at every start.
  writeFileSync(path, `${process.pid} 1`);
  expect(ownerOf(path)).toBeNull();
  expect(takeLock(path)).toBeNull();
  expect(takeLock(path)).toBe(process.pid);
  releaseLock(path);
  expect(existsSync(path)).toBe(false);
});

it.each(['', '0', '-1', 'me', '4194305 7'])('is free if the lock file contains %j', (text) => {
  const path = join(temporaryFolder(), 'lock');
  writeFileSync(path, text);
  expect(takeLock(path)).toBeNull();
});

it('does not release the lock of another process', () => {
  const path = join(temporaryFolder(), 'lock');
  writeFileSync(path, String(process.ppid));
  releaseLock(path);
  expect(takeLock(path)).toBe(process.ppid);
});
