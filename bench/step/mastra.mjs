import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import { Mastra } from '@mastra/core/mastra';
import { InMemoryStore } from '@mastra/core/storage';
import { createStep, createWorkflow } from '@mastra/core/workflows';
import { LibSQLStore } from '@mastra/libsql';
import * as z from 'zod';
import { temporaryFolder } from '../temporary-folder.mjs';
import { MODEL_PHASES, repliesAt } from './replies.mjs';
import { readReply } from './zero-latency-model.mjs';

const STORES = {
  memory: () => new InMemoryStore(),
  LibSQL: () => new LibSQLStore({ id: 'bench', url: `file:${join(temporaryFolder(), 'mastra.db')}` }),
};
/** What each step receives and returns. The replies, the newest of each phase, make the snapshot of a step hold the reply before it. */
const progress = z.object({ steps: z.number(), cycles: z.number(), replies: z.record(z.string(), z.unknown()) });

/** @typedef {z.infer<typeof progress>} Progress */
/** @typedef {{ inputData: Progress }} Input */

const isDone = async (/** @type {Input} */ { inputData: { steps, cycles } }) => steps >= cycles * MODEL_PHASES.length;

/** @type {(phase: typeof MODEL_PHASES[number], progress: Progress) => Promise<Progress>} */
async function workOn(phase, { steps, cycles, replies }) {
  const reply = await readReply(phase, Math.floor(steps / MODEL_PHASES.length) + 1);
  return { steps: steps + 1, cycles, replies: { ...replies, [phase]: reply } };
}

/** The loops: five steps in a workflow of their own, which is the step that repeats; or one step that does each phase in turn. */
const LOOPS = {
  'five steps': () => {
    /** @type {any} The workflow's type contains its steps, which a loop cannot express. */
    let cycle = createWorkflow({ id: 'cycle', inputSchema: progress, outputSchema: progress });
    for (const phase of MODEL_PHASES) {
      const execute = /** @type {any} */ ((/** @type {Input} */ { inputData }) => workOn(phase, inputData));
      cycle = cycle.then(createStep({ id: phase, inputSchema: progress, outputSchema: progress, execute }));
    }
    return cycle.commit();
  },
  'one step': () =>
    createStep({
      id: 'phase',
      inputSchema: progress,
      outputSchema: progress,
      execute: async ({ inputData }) =>
        workOn(MODEL_PHASES[inputData.steps % MODEL_PHASES.length] ?? MODEL_PHASES[0], inputData),
    }),
};

/**
 * @param {keyof typeof LOOPS} loop
 * @param {keyof typeof STORES} store
 */
async function register(loop, store) {
  const storage = STORES[store]();
  const workflow = createWorkflow({ id: 'chain', inputSchema: progress, outputSchema: progress })
    .dountil(/** @type {any} */ (LOOPS[loop]()), isDone)
    .commit();
  const mastra = new Mastra({ workflows: { chain: workflow }, storage, logger: false });
  const snapshots = /** @type {any} */ (await storage.getStore('workflows'));
  const saved = { count: 0 };
  const persist = snapshots.persistWorkflowSnapshot.bind(snapshots);
  snapshots.persistWorkflowSnapshot = (/** @type {unknown} */ snapshot) => {
    saved.count += 1;
    return persist(snapshot);
  };
  return { workflow: mastra.getWorkflow('chain'), snapshots, saved };
}

/** @type {Awaited<ReturnType<typeof register>> | undefined} */
let registered;

/**
 * Measures microseconds per step of a Mastra workflow, in `runs` runs one after the other. The workflow is defined beforehand. Mastra
 * saves a snapshot of the run after each step.
 *
 * @param {{ cycles: number, runs: number, loop: keyof typeof LOOPS, store: keyof typeof STORES }} options
 */
export async function measure({ cycles, runs, loop, store }) {
  registered ??= await register(loop, store);
  const { workflow, snapshots, saved } = registered;
  const steps = cycles * MODEL_PHASES.length;
  saved.count = 0;
  const ended = [];
  const startedAt = performance.now();
  for (let at = 0; at < runs; at += 1) {
    const run = await workflow.createRun();
    const { status, result } = /** @type {any} */ (await run.start({ inputData: { steps: 0, cycles, replies: {} } }));
    ended.push({ runId: run.runId, status, result });
  }
  const elapsedMs = performance.now() - startedAt;
  assert.ok(saved.count > steps * runs);
  const last = { steps, cycles, replies: repliesAt(cycles) };
  for (const { runId, status, result } of ended) {
    assert.deepEqual([status, result], ['success', last]);
    const snapshot = await snapshots.loadWorkflowSnapshot({ workflowName: 'chain', runId });
    assert.deepEqual([snapshot.status, snapshot.result], ['success', last]);
    await snapshots.deleteWorkflowRunById({ workflowName: 'chain', runId });
  }
  return { microseconds: (elapsedMs * 1000) / (steps * runs), records: saved.count / (steps * runs) };
}
