import { fork } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';

/** Starts a process that holds the write lock of an SQLite file, and returns how to end it. */
export async function lockInOtherProcess(path: string): Promise<() => Promise<void>> {
  const holder = fork('test/support/lock-holder.mjs', [path]);
  const exited = once(holder, 'exit');
  onTestFinished(() => void holder.kill('SIGKILL'));
  await once(holder, 'message');
  return async () => {
    holder.send('end');
    await exited;
  };
}
