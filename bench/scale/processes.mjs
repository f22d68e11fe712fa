import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { untraced } from '../untraced.mjs';

/**
 * What a worker process of a contender does. Tasks with `forMs` do as much as they can in that time, and return how much.
 *
 * @typedef {object} Tasks
 * @property {(options: { forMs: number }) => Promise<number>} runs Orders with three calls, until they end.
 * @property {(options: { forMs: number }) => Promise<number>} starts Orders that then wait for lines.
 * @property {(options: { forMs: number }) => Promise<number>} delayed Orders that then wait for a delay.
 * @property {(options: { forMs: number }) => Promise<number>} sends Sends lines to the waiting orders, and gets the reply.
 * @property {(options: { perSecond: number, forMs: number }) => Promise<readonly number[]>} latencies Sends lines at a rate.
 * @property {() => Promise<void>} work Begins to continue orders with a due delay.
 * @property {() => Promise<void> | undefined} rest
 * @property {() => Promise<number>} list One page of 50.
 * @property {(options: { customer: string }) => Promise<number>} where One page of a customer's orders.
 * @property {() => Promise<number>} remove Deletes orders that have ended.
 * @property {() => number} memory
 */

/**
 * Starts worker processes of a contender, the first one alone, because it may create tables.
 *
 * @param {URL} module
 * @param {number} count
 * @param {{ url: string }} options
 */
export async function startProcesses(module, count, options) {
  /** @param {number} number */
  const start = async (number) => {
    const args = [module.href, JSON.stringify({ ...options, number })];
    const execArgv = ['--expose-gc'];
    const child = fork(fileURLToPath(new URL('process.mjs', import.meta.url)), args, { execArgv, env: untraced() });
    await answerOf(child);
    return child;
  };
  const children = [await start(0)];
  children.push(...(await Promise.all(Array.from({ length: count - 1 }, (_, at) => start(at + 1)))));
  return {
    /**
     * Executes a task in all processes at once. Returns its time, the results and the number of statements.
     *
     * @param {keyof Tasks | 'count'} task
     * @param {object} [options]
     */
    async run(task, options = {}) {
      const startedAt = performance.now();
      const answers = await Promise.all(
        children.map((child) => {
          const answer = answerOf(child);
          child.send({ task, options });
          return answer;
        }),
      );
      const elapsedMs = performance.now() - startedAt;
      return {
        elapsedMs,
        results: answers.map(({ result }) => result),
        statements: answers.reduce((sum, { statements }) => sum + statements, 0),
      };
    },
    async stop() {
      for (const child of children) child.kill('SIGKILL');
      await Promise.all(children.map((child) => child.exitCode ?? child.signalCode ?? once(child, 'exit')));
    },
  };
}

/** @param {import('node:child_process').ChildProcess} child */
async function answerOf(child) {
  const stopped = new AbortController();
  const { signal } = stopped;
  try {
    return await Promise.race([
      once(child, 'message', { signal }).then(([message]) => {
        if (message.failed !== undefined) throw new Error(message.failed);
        return message;
      }),
      once(child, 'exit', { signal }).then(([code]) => {
        throw new Error(`a worker process exited with code ${code}`);
      }),
    ]);
  } finally {
    stopped.abort();
  }
}
