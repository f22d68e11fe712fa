import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { untraced } from '../untraced.mjs';
import { CALLS } from './calls.mjs';

/** @typedef {import('./process.mjs').LoadSample} LoadSample */

const here = (/** @type {string} */ file) => fileURLToPath(new URL(file, import.meta.url));

/** Starts the model server. */
export async function startServer() {
  const server = fork(here('server.mjs'));
  const [{ port }] = await once(server, 'message');
  return {
    port: /** @type {number} */ (port),
    /** Returns how many requests and bytes of them arrived since the last call. */
    count: async () => {
      server.send('count');
      const [counts] = await once(server, 'message');
      return /** @type {{ requests: number, bytes: number }} */ (counts);
    },
    stop: () => server.disconnect(),
  };
}

/**
 * Measures one contender once, in a new process.
 *
 * @param {string} contender The name of its module.
 * @param {{ server: Awaited<ReturnType<typeof startServer>>, runs: number, deadlineMs?: number, maxConcurrentRuns?: number, weighs?: boolean }} options
 * @returns {Promise<LoadSample & { requestBytes: number }>}
 */
export async function sample(contender, { server, runs, deadlineMs, maxConcurrentRuns, weighs = false }) {
  const { port } = server;
  await server.count();
  const lane = fork(here('process.mjs'), { execArgv: ['--expose-gc'], env: untraced() });
  const module = new URL(`${contender}.mjs`, import.meta.url).href;
  lane.send({
    module,
    port,
    runs,
    weighs,
    deadlineMs: deadlineMs ?? null,
    maxConcurrentRuns: maxConcurrentRuns ?? null,
  });
  const answer = await Promise.race([
    once(lane, 'message').then(([message]) => message),
    once(lane, 'exit').then(([code]) => ({ failed: `the process exited with code ${code}` })),
  ]);
  if (answer.failed !== undefined) throw new Error(`${contender}, ${runs} runs: ${answer.failed}`);
  const { requests, bytes } = await server.count();
  const made = requests / (runs + answer.sample.warmUpRuns);
  if (deadlineMs === undefined && made !== CALLS.length)
    throw new Error(`${contender}, ${runs} runs: expected ${CALLS.length} requests per run; received ${made}`);
  return { ...answer.sample, requestBytes: bytes / requests };
}
