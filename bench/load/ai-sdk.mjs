import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { Output, stepCountIs, streamText, tool } from 'ai';
import { REQUEST } from '../step/replies.mjs';
import { CALLS, callSchemas } from './calls.mjs';

/**
 * Returns a function that runs the same work as AI SDK's tool loop: all calls but the last are tools, whose inputs are the replies, and
 * the last one is the typed output. The SDK validates all of them with zod, and every prompt has all earlier replies. It persists
 * nothing; the messages of each run are kept, as an application keeps them for its next turn.
 *
 * @param {{ port: number }} options
 */
export function prepare({ port }) {
  const baseURL = `http://127.0.0.1:${port}/v1`;
  const provider = createOpenAICompatible({
    name: 'bench',
    apiKey: 'none',
    baseURL,
    includeUsage: true,
    supportsStructuredOutputs: true,
  });
  const model = provider('m');
  const tools = Object.fromEntries(
    CALLS.slice(0, -1).map((name) => [name, tool({ inputSchema: callSchemas[name], execute: async () => 'noted' })]),
  );
  const output = Output.object({ schema: callSchemas.synthesis });
  /** @type {unknown[]} */
  const kept = [];
  return {
    kept,
    start: async (/** @type {number} */ number) => {
      const prompt = `${REQUEST} (${number})`;
      const result = streamText({ model, tools, output, prompt, stopWhen: stepCountIs(CALLS.length) });
      await result.consumeStream();
      const [{ answerText }, steps, response] = await Promise.all([result.output, result.steps, result.response]);
      kept.push(response.messages);
      const inputs = steps.flatMap(({ toolResults }) => toolResults.map(({ input }) => input));
      return { status: answerText === '' ? 'empty' : 'completed', calls: inputs.length + 1 };
    },
  };
}
