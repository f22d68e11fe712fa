import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** @typedef {import('./process.mjs').LoadSample} LoadSample */

const here = (/** @type {string} */ file) => fileURLToPath(new URL(file, import.meta.url));

/** Starts the model server. Returns its port, and a function that stops it. */
export async function startServer() {
  const server = fork(here('server.mjs'));
  const [{ port }] = await once(server, 'message');
  return { port: /** @type {number} */ (port), stop: () => server.disconnect() };
}

/**
 * Measures one contender once, in a new process.
 *
 * @param {'postchain' | 'langgraph'} contender
 * @param {{ port: number, runs: number, deadlineMs?: number, maxConcurrentRuns?: number }} options
 * @returns {Promise<LoadSample>}
 */
export async function sample(contender, { port, runs, deadlineMs, maxConcurrentRuns }) {
  const lane = fork(here('process.mjs'), {
    execArgv: ['--expose-gc'],
    env: { ...process.env, LANGSMITH_TRACING: 'false', LANGCHAIN_TRACING_V2: 'false' },
  });
  const module = new URL(`${contender}.mjs`, import.meta.url).href;
  lane.send({ module, port, runs, deadlineMs: deadlineMs ?? null, maxConcurrentRuns: maxConcurrentRuns ?? null });
  const answer = await Promise.race([
    once(lane, 'message').then(([message]) => message),
    once(lane, 'exit').then(([code]) => ({ failed: `the process exited with code ${code}` })),
  ]);
  if (answer.failed !== undefined) throw new Error(`${contender}, ${runs} runs: ${answer.failed}`);
  return answer.sample;
}
