import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startProcess, within } from './process.mjs';

const CONTENDER = new URL('contender.mjs', import.meta.url);

/** How long a process may store what it received before it is killed. */
const SETTLE_MS = 1_000;

/**
 * @typedef {Pick<import('./contender.mjs').Job, 'library' | 'pattern'>} Agent
 * @typedef {Awaited<ReturnType<typeof import('./server.mjs').startModel>>} Model
 * @typedef {{ name: string, key: string, args: unknown }} Effect
 * @typedef {{ result: unknown, effects: readonly Effect[] } & ReturnType<Model['counts']>} Outcome
 */

/**
 * Kills an agent after each reply of the model, and right after each effect, before the caller of the effect knows. Another process continues
 * with what the library stored. Returns the sums over all kills: replies and effects that there were once more than in a whole run.
 *
 * @param {Model} model
 * @param {Agent} agent
 */
export async function measureCrashes(model, agent) {
  const whole = await runs(model, agent, []);
  const points = [
    ...Array.from({ length: whole.calls }, (_, at) => ({ holdAfter: at + 1 })),
    ...whole.effects.map((_, at) => ({ killAtEffect: at + 1 })),
  ];
  const sums = { kills: points.length, calls: 0, effects: 0, newKeys: 0, otherResults: 0 };
  for (const point of points) {
    const { result, calls, effects } = await runs(model, agent, [point]);
    sums.calls += calls - whole.calls;
    sums.effects += effects.length - whole.effects.length;
    sums.newKeys += keysOf(effects) - keysOf(whole.effects);
    if (JSON.stringify(result) !== JSON.stringify(whole.result)) sums.otherResults += 1;
  }
  return sums;
}

const keysOf = (/** @type {readonly Effect[]} */ effects) => new Set(effects.map(({ key }) => key)).size;

/**
 * Runs an agent in a process that is killed at each of these points, and then to its end in another one.
 *
 * @param {Model} model
 * @param {Agent} agent
 * @param {readonly { holdAfter?: number, killAtEffect?: number }[]} points
 * @param {Omit<import('./server.mjs').Run, 'pattern'>} [behavior]
 * @returns {Promise<Outcome>}
 */
export async function runs(model, agent, points, behavior = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'postchain-agents-'));
  const effects = join(folder, 'effects.jsonl');
  const job = { ...agent, port: model.port, folder, effects, id: 'run' };
  try {
    model.begin({ pattern: agent.pattern, ...behavior, ...points[0] });
    for (const { holdAfter, killAtEffect } of points) {
      const { child, exited, answer } = await startProcess(CONTENDER, { ...job, killAtEffect });
      if (holdAfter !== undefined) {
        await within(Promise.race([model.held(), exited]), 'a held reply');
        await wait(SETTLE_MS);
        child.kill('SIGKILL');
      }
      await within(Promise.all([exited, answer.catch(() => {})]), 'a kill');
      model.release();
    }
    const { child, exited, answer } = await startProcess(CONTENDER, job);
    try {
      const { result } = await within(answer, 'a result');
      return { result, ...model.counts(), effects: effectsIn(effects) };
    } finally {
      child.disconnect();
      await exited;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} file @returns {readonly Effect[]} */
function effectsIn(file) {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}
