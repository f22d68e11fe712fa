import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { streamText } from 'ai';
import { answered } from './answered.mjs';
import { ANSWER, openSearch, QUESTION, REACT } from './question.mjs';

const search = await openSearch();

/**
 * Starts one streamed AI SDK call whose prompt contains the passages found.
 *
 * @param {number} port
 */
export async function streamPlain(port) {
  const provider = createOpenAICompatible({ name: 'bench', apiKey: 'none', baseURL: `http://127.0.0.1:${port}/v1` });
  const prompt = `${await search(QUESTION)}\n\n${QUESTION}`;
  return streamText({ model: provider('m'), system: REACT.system, prompt });
}

/**
 * Answers with that call.
 *
 * @param {{ port: number }} options
 */
export async function measure({ port }) {
  return await answered(
    port,
    async (onText) => {
      let text = '';
      for await (const part of (await streamPlain(port)).textStream) {
        onText(part);
        text += part;
      }
      return text;
    },
    ANSWER,
  );
}
