import { strict as assert } from 'node:assert';
import { PATTERNS } from './patterns.mjs';
import { world } from './world.mjs';

/**
 * @typedef {object} Job
 * @property {'postchain' | 'langgraph' | 'ai-sdk'} library
 * @property {string} pattern
 * @property {number} port Of the model.
 * @property {string} folder For what the library stores.
 * @property {string} effects The file for effects; empty for none.
 * @property {string} [id] Of the run. Without it, so many new runs, one after the other.
 * @property {number} [runs]
 * @property {number} [killAtEffect]
 */

/** @type {Promise<(id: string, input: unknown) => Promise<unknown>> | null} A process has one contender. */
let opened = null;
let started = 0;

/** Runs an agent, or continues it. Returns the time per run and the result of the last one. @param {Job} job */
export async function measure({ library, pattern, port, folder, effects, id, runs = 1, killAtEffect = 0 }) {
  Object.assign(world, { port, effects, killAtEffect });
  opened ??= import(`./hosts/${library}.mjs`).then(({ host }) => host(pattern, folder));
  const open = await opened;
  const { input, expected } = PATTERNS[pattern] ?? {};
  const startedAt = performance.now();
  let result;
  for (let run = 0; run < runs; run += 1) {
    started += 1;
    result = await open(id ?? `run-${started}`, input);
    if (id === undefined) assert.deepEqual(result, expected);
  }
  return { microseconds: ((performance.now() - startedAt) * 1_000) / runs, result };
}
