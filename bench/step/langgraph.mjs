import { strict as assert } from 'node:assert';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { STEPS } from './replies.mjs';

const State = Annotation.Root({
  steps: /** @type {import('@langchain/langgraph').LastValue<number>} */ (Annotation()),
  cycles: /** @type {import('@langchain/langgraph').LastValue<number>} */ (Annotation()),
});

/** Five bare nodes in a loop, one conditional edge, no checkpointer. */
function compile() {
  /** @type {any} The graph's type contains the node names, which a loop cannot express. */
  const graph = new StateGraph(State);
  for (const phase of STEPS)
    graph.addNode(phase, async (/** @type {typeof State.State} */ { steps }) => ({ steps: steps + 1 }));
  graph.addEdge(START, STEPS[0]);
  for (const [at, phase] of STEPS.entries()) {
    const next = STEPS[at + 1];
    if (next !== undefined) graph.addEdge(phase, next);
  }
  const nextNode = (/** @type {typeof State.State} */ { steps, cycles }) =>
    steps < cycles * STEPS.length ? STEPS[0] : END;
  graph.addConditionalEdges('yield', nextNode, [STEPS[0], END]);
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
  const recursionLimit = cycles * STEPS.length + 1;
  const { steps } = await app.invoke({ steps: 0, cycles }, { recursionLimit });
  const elapsedMs = performance.now() - startedAt;
  assert.equal(steps, cycles * STEPS.length);
  return { microseconds: (elapsedMs * 1000) / steps };
}
