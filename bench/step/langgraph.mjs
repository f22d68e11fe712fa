import { strict as assert } from 'node:assert';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { MODEL_PHASES } from './replies.mjs';

const State = Annotation.Root({
  steps: /** @type {import('@langchain/langgraph').LastValue<number>} */ (Annotation()),
  cycles: /** @type {import('@langchain/langgraph').LastValue<number>} */ (Annotation()),
});

/** Five bare nodes in a loop, one conditional edge, no checkpointer. */
function compile() {
  /** @type {any} The graph's type contains the node names, which a loop cannot express. */
  const graph = new StateGraph(State);
  for (const phase of MODEL_PHASES)
    graph.addNode(phase, async (/** @type {typeof State.State} */ { steps }) => ({ steps: steps + 1 }));
  graph.addEdge(START, MODEL_PHASES[0]);
  for (const [at, phase] of MODEL_PHASES.entries()) {
    const next = MODEL_PHASES[at + 1];
    if (next !== undefined) graph.addEdge(phase, next);
  }
  const nextNode = (/** @type {typeof State.State} */ { steps, cycles }) =>
    steps < cycles * MODEL_PHASES.length ? MODEL_PHASES[0] : END;
  graph.addConditionalEdges('yield', nextNode, [MODEL_PHASES[0], END]);
  return graph.compile();
}

const app = compile();

/**
 * Measures microseconds per node of LangGraph.js. The graph is compiled beforehand.
 *
 * @param {{ cycles: number }} options
 */
export async function measure({ cycles }) {
  const startedAt = performance.now();
  const recursionLimit = cycles * MODEL_PHASES.length + 1;
  const { steps } = await app.invoke({ steps: 0, cycles }, { recursionLimit });
  const elapsedMs = performance.now() - startedAt;
  assert.equal(steps, cycles * MODEL_PHASES.length);
  return { microseconds: (elapsedMs * 1000) / steps };
}
