import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, stepCountIs, tool } from 'ai';
import * as z from 'zod';
import { answered } from './answered.mjs';
import { ANSWER, openSearch, QUESTION, REACT } from './question.mjs';

const MAX_STEPS = 5;
const search = await openSearch();
const tools = {
  [REACT.tool]: tool({
    description: REACT.description,
    inputSchema: z.object({ query: z.string().describe(REACT.argument) }),
    execute: ({ query }) => search(query),
  }),
};

/**
 * Answers with AI SDK's tool loop.
 *
 * @param {{ port: number }} options
 */
export async function measure({ port }) {
  const provider = createOpenAICompatible({
    name: 'bench',
    apiKey: 'none',
    baseURL: `http://127.0.0.1:${port}/v1`,
  });
  const model = provider('m');
  return await answered(
    port,
    async () => {
      const options = { model, tools, system: REACT.system, prompt: QUESTION, stopWhen: stepCountIs(MAX_STEPS) };
      return (await generateText(options)).text;
    },
    ANSWER,
  );
}
