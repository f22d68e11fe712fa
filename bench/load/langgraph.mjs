import { Annotation, END, MemorySaver, START, StateGraph } from '@langchain/langgraph';
import * as z from 'zod';
// The same client as PostChain's; bench/node_modules has an older one.
import OpenAI from '../../node_modules/openai/index.mjs';
import { REQUEST } from '../step/replies.mjs';
import { CALLS, callSchemas } from './calls.mjs';

const State = Annotation.Root({
  request: /** @type {import('@langchain/langgraph').LastValue<string>} */ (Annotation()),
  replies: Annotation({
    reducer: (/** @type {Record<string, unknown>} */ known, /** @type {Record<string, unknown>} */ more) => ({
      ...known,
      ...more,
    }),
    default: () => ({}),
  }),
});

/**
 * Returns a function that runs the same work as a graph: one node per call, each with one streamed call of the same client, a prompt with
 * all earlier replies, JSON.parse and zod, and a checkpoint in memory after each.
 *
 * @param {{ port: number }} options
 */
export function prepare({ port }) {
  const client = new OpenAI({ apiKey: 'none', baseURL: `http://127.0.0.1:${port}/v1`, maxRetries: 3 });
  const jsonSchemas = Object.fromEntries(CALLS.map((name) => [name, z.toJSONSchema(callSchemas[name])]));
  /** @type {any} The graph's type contains the node names, which a loop cannot express. */
  const graph = new StateGraph(State);
  for (const name of CALLS) {
    graph.addNode(`${name}-node`, async (/** @type {typeof State.State} */ { request, replies }) => {
      const stream = await client.chat.completions.create({
        model: 'm',
        stream: true,
        stream_options: { include_usage: true },
        messages: [
          { role: 'system', content: `You are the step "${name}" of a chain. Reply with one JSON object.` },
          { role: 'user', content: `${request}\n\n${JSON.stringify(replies)}` },
        ],
        response_format: { type: 'json_schema', json_schema: { name, schema: jsonSchemas[name] ?? {}, strict: false } },
      });
      let text = '';
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
      return { replies: { [name]: callSchemas[name].parse(JSON.parse(text)) } };
    });
  }
  for (const [at, name] of CALLS.entries()) {
    const before = CALLS[at - 1];
    graph.addEdge(before === undefined ? START : `${before}-node`, `${name}-node`);
  }
  graph.addEdge(`${CALLS.at(-1)}-node`, END);
  const checkpointer = new MemorySaver();
  const app = graph.compile({ checkpointer });
  return {
    kept: checkpointer,
    start: async (/** @type {number} */ number) => {
      const input = { request: `${REQUEST} (${number})` };
      const { replies } = await app.invoke(input, { configurable: { thread_id: String(number) } });
      return { status: 'completed', calls: Object.keys(replies).length };
    },
  };
}
