import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import { Annotation, END, MemorySaver, START, StateGraph } from '@langchain/langgraph';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { temporaryFolder } from '../temporary-folder.mjs';
import { MODEL_PHASES, repliesAt } from './replies.mjs';
import { readReply } from './zero-latency-model.mjs';

/** @typedef {Record<string, unknown>} Replies */
/** @typedef {{ steps: number, cycles: number }} State */

const counters = {
  steps: /** @type {import('@langchain/langgraph').LastValue<number>} */ (Annotation()),
  cycles: /** @type {import('@langchain/langgraph').LastValue<number>} */ (Annotation()),
};
/** The newest reply of each phase, so that checkpoints do not grow. */
const replies = Annotation({
  reducer: (/** @type {Replies} */ known, /** @type {Replies} */ more) => ({ ...known, ...more }),
  default: () => ({}),
});

/** What a node does, and the state of its graph. */
const WORK = {
  nothing: {
    state: Annotation.Root(counters),
    nodeOf:
      () =>
      async (/** @type {State} */ { steps }) => ({ steps: steps + 1 }),
  },
  reply: {
    state: Annotation.Root({ ...counters, replies }),
    nodeOf:
      (/** @type {typeof MODEL_PHASES[number]} */ phase) =>
      async (/** @type {State} */ { steps }) => {
        const cycle = Math.floor(steps / MODEL_PHASES.length) + 1;
        return { steps: steps + 1, replies: { [phase]: await readReply(phase, cycle) } };
      },
  },
};
const SAVERS = {
  none: () => undefined,
  memory: () => new MemorySaver(),
  SQLite: () => SqliteSaver.fromConnString(join(temporaryFolder(), 'checkpoints.db')),
};

/**
 * Five nodes in a loop and one conditional edge.
 *
 * @param {keyof typeof WORK} work
 * @param {keyof typeof SAVERS} saver
 */
function compile(work, saver) {
  const { state, nodeOf } = WORK[work];
  /** @type {any} The graph's type contains the node names, which a loop cannot express. */
  const graph = new StateGraph(state);
  for (const phase of MODEL_PHASES) graph.addNode(phase, nodeOf(phase));
  graph.addEdge(START, MODEL_PHASES[0]);
  for (const [at, phase] of MODEL_PHASES.entries()) {
    const next = MODEL_PHASES[at + 1];
    if (next !== undefined) graph.addEdge(phase, next);
  }
  const nextNode = (/** @type {State} */ { steps, cycles }) =>
    steps < cycles * MODEL_PHASES.length ? MODEL_PHASES[0] : END;
  graph.addConditionalEdges('yield', nextNode, [MODEL_PHASES[0], END]);
  const checkpointer = SAVERS[saver]();
  return { app: graph.compile({ checkpointer }), checkpointer };
}

/** @type {ReturnType<typeof compile> | undefined} The process has one contender, whose graph is compiled once. */
let compiled;
let threads = 0;
const nextThread = () => {
  threads += 1;
  return String(threads);
};

/**
 * Measures microseconds per node of LangGraph.js, in `runs` invocations one after the other. The graph is compiled beforehand.
 *
 * @param {{ cycles: number, runs?: number, work?: keyof typeof WORK, saver?: keyof typeof SAVERS }} options
 */
export async function measure({ cycles, runs = 1, work = 'nothing', saver = 'none' }) {
  compiled ??= compile(work, saver);
  const { app, checkpointer } = compiled;
  const steps = cycles * MODEL_PHASES.length;
  const ids = Array.from({ length: runs }, () => nextThread());
  const ended = [];
  const startedAt = performance.now();
  for (const thread_id of ids)
    ended.push(await app.invoke({ steps: 0, cycles }, { recursionLimit: steps + 1, configurable: { thread_id } }));
  const elapsedMs = performance.now() - startedAt;
  for (const state of ended) {
    assert.equal(state.steps, steps);
    if (work === 'reply') assert.deepEqual(state.replies, repliesAt(cycles));
  }
  let checkpoints = 0;
  for (const thread_id of checkpointer === undefined ? [] : ids) {
    checkpoints += await assertSaved(app, thread_id, cycles);
    await checkpointer?.deleteThread(thread_id);
  }
  return { microseconds: (elapsedMs * 1000) / (steps * runs), records: checkpoints / (steps * runs) };
}

/**
 * Asserts that every node has its checkpoint, with the replies so far. Returns the number of checkpoints.
 *
 * @param {any} app
 * @param {string} thread_id
 * @param {number} cycles
 */
async function assertSaved(app, thread_id, cycles) {
  let count = 0;
  for await (const { values } of app.getStateHistory({ configurable: { thread_id } })) {
    count += 1;
    if (values.steps > 0 && values.steps % MODEL_PHASES.length === 0)
      assert.deepEqual(values.replies, repliesAt(values.steps / MODEL_PHASES.length));
  }
  // One before the first node, one after each, and one of the input.
  assert.equal(count, cycles * MODEL_PHASES.length + 2);
  return count;
}
