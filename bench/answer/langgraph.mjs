import { tool } from '@langchain/core/tools';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import * as z from 'zod';
import { answered } from './answered.mjs';
import { ANSWER, openSearch, QUESTION, REACT } from './question.mjs';

const search = await openSearch();
const searchTool = tool(({ query }) => search(query), {
  name: REACT.tool,
  description: REACT.description,
  schema: z.object({ query: z.string().describe(REACT.argument) }),
});

/** @type {ReturnType<typeof createReactAgent> | null} */
let agent = null;

/**
 * Answers with LangGraph's ReAct agent. Replies are not streamed, as in AI SDK's `generateText`: to count the tokens of a stream, the model's
 * client would download an encoding.
 *
 * @param {{ port: number }} options
 */
export async function measure({ port }) {
  agent ??= createReactAgent({
    llm: new ChatOpenAI({
      model: 'm',
      apiKey: 'none',
      configuration: { baseURL: `http://127.0.0.1:${port}/v1` },
    }),
    tools: [searchTool],
    prompt: REACT.system,
  });
  const react = agent;
  return await answered(
    port,
    async () => {
      const { messages } = await react.invoke({ messages: [{ role: 'user', content: QUESTION }] });
      return String(messages.at(-1)?.content);
    },
    ANSWER,
  );
}
