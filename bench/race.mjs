import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { untraced } from './untraced.mjs';

/**
 * One contender. `module` exports `measure(options)`, which returns a number or an object. Contenders with the same module share a
 * process, except for those that name a lane: each lane is a process.
 *
 * @typedef {object} Entrant
 * @property {string} name
 * @property {URL} module
 * @property {string} [lane]
 * @property {Readonly<Record<string, unknown>>} [options]
 * @property {number} [rounds] Fewer rounds than the others, for a slow contender.
 * @property {number} [warmUps]
 */

/**
 * Measures the entrants in turns, A B C A B C …, so that a noisy moment affects all of them. Each lane is one process for all
 * rounds: its code stays warm, and no contender slows another (on Node 20, LangGraph's AsyncLocalStorage probably slows other promises
 * in its process).
 *
 * @template T
 * @param {readonly Entrant[]} entrants
 * @param {{ rounds: number, warmUps: number }} plan
 * @returns {Promise<Record<string, T[]>>} The measurements by name, without warm-ups.
 */
export async function race(entrants, { rounds, warmUps }) {
  const lanes = new Map();
  /** @type {Record<string, T[]>} */
  const measured = Object.fromEntries(entrants.map(({ name }) => [name, []]));
  try {
    for (const entrant of entrants) {
      if (!lanes.has(laneOf(entrant))) lanes.set(laneOf(entrant), await openLane(entrant.module));
    }
    for (let round = -warmUps; round < rounds; round += 1) {
      for (const entrant of entrants) {
        if (round < -(entrant.warmUps ?? warmUps) || round >= (entrant.rounds ?? rounds)) continue;
        const sample = await ask(lanes.get(laneOf(entrant)), entrant);
        if (round >= 0) measured[entrant.name]?.push(/** @type {T} */ (sample));
      }
    }
  } finally {
    for (const lane of lanes.values()) if (lane.connected) lane.disconnect();
  }
  return measured;
}

const laneOf = (/** @type {Entrant} */ { lane, module }) => lane ?? module.href;

/** @param {URL} module */
async function openLane(module) {
  const lane = fork(fileURLToPath(new URL('lane.mjs', import.meta.url)), [module.href], {
    execArgv: ['--expose-gc'],
    env: untraced(),
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
        throw new Error(`${name}: the process exited with code ${code}`);
      }),
    ]);
  } finally {
    stopped.abort();
  }
}
