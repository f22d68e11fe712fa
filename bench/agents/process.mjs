import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { untraced } from '../untraced.mjs';

const LANE = fileURLToPath(new URL('../lane.mjs', import.meta.url));
const MOST_MS = 60_000;

/**
 * Starts a process that measures once, as a lane of `race` does. Its answer is null if it is killed.
 *
 * @param {URL} module
 * @param {object} job
 */
export async function startProcess(module, job) {
  const child = fork(LANE, [module.href], { env: untraced(), stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const exited = once(child, 'exit');
  await within(once(child, 'message'), 'a process');
  const answer = Promise.race([
    once(child, 'message').then(([{ measured, failed }]) => {
      if (failed !== undefined) throw new Error(failed);
      return measured;
    }),
    exited.then(() => null),
  ]);
  child.send(job);
  return { child, exited, answer };
}

/** @template T @param {Promise<T>} promise @param {string} what @returns {Promise<T>} */
export async function within(promise, what) {
  const stopped = new AbortController();
  const late = wait(MOST_MS, null, { signal: stopped.signal }).then(() => {
    throw new Error(`expected ${what} within ${MOST_MS} ms`);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    stopped.abort();
    late.catch(() => {});
  }
}
