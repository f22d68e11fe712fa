import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/**
 * What one contender is asked for. `module` exports `measure(options)`, which gives a number or an object; contenders with
 * the same module share a process.
 *
 * @typedef {object} Entrant
 * @property {string} name
 * @property {URL} module
 * @property {Readonly<Record<string, unknown>>} [options]
 * @property {number} [rounds] Fewer rounds than the others, for one that takes long.
 * @property {number} [warmUps]
 */

/**
 * Measures the entrants in turns, A B C A B C …, so that a noisy moment falls on all of them. Each module has a process of its
 * own that lives through all rounds: warm code, and none pays for what another does to the process (LangGraph's
 * LangGraph's AsyncLocalStorage is likely to slow the promises around it on Node 20).
 *
 * @template T
 * @param {readonly Entrant[]} entrants
 * @param {{ rounds: number, warmUps: number }} plan
 * @returns {Promise<Record<string, T[]>>} What was measured, by name, the warm-ups left out.
 */
export async function race(entrants, { rounds, warmUps }) {
  const lanes = new Map();
  /** @type {Record<string, T[]>} */
  const measured = Object.fromEntries(entrants.map(({ name }) => [name, []]));
  try {
    for (const { module } of entrants) {
      if (!lanes.has(module.href)) lanes.set(module.href, await openLane(module));
    }
    for (let round = -warmUps; round < rounds; round += 1) {
      for (const entrant of entrants) {
        if (round < -(entrant.warmUps ?? warmUps) || round >= (entrant.rounds ?? rounds)) continue;
        const sample = await ask(lanes.get(entrant.module.href), entrant);
        if (round >= 0) measured[entrant.name]?.push(/** @type {T} */ (sample));
      }
    }
  } finally {
    for (const lane of lanes.values()) lane.disconnect();
  }
  return measured;
}

/** @param {URL} module */
async function openLane(module) {
  const lane = fork(fileURLToPath(new URL('lane.mjs', import.meta.url)), [module.href], {
    execArgv: ['--expose-gc'],
    env: { ...process.env, LANGSMITH_TRACING: 'false', LANGCHAIN_TRACING_V2: 'false' },
  });
  await answerOf(lane, module.href);
  return lane;
}

/**
 * @param {import('node:child_process').ChildProcess} lane
 * @param {Entrant} entrant
 */
async function ask(lane, { name, options = {} }) {
  const answer = answerOf(lane, name);
  lane.send(options);
  return await answer;
}

/**
 * @param {import('node:child_process').ChildProcess} lane
 * @param {string} name
 */
async function answerOf(lane, name) {
  const stopped = new AbortController();
  const { signal } = stopped;
  try {
    return await Promise.race([
      once(lane, 'message', { signal }).then(([message]) => {
        if (message.failed !== undefined) throw new Error(`${name}: ${message.failed}`);
        return message.measured;
      }),
      once(lane, 'exit', { signal }).then(([code]) => {
        throw new Error(`${name}: its process ended with ${code}`);
      }),
    ]);
  } finally {
    stopped.abort();
  }
}
