import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { streamText } from 'ai';
import { answered } from './answered.mjs';
import { ANSWER, openSearch, QUESTION, REACT } from './question.mjs';

const search = await openSearch();

/**
 * Answers with one streamed AI SDK call whose prompt contains the passages found.
 *
 * @param {{ port: number }} options
 */
export async function measure({ port }) {
  const provider = createOpenAICompatible({ name: 'bench', apiKey: 'none', baseURL: `http://127.0.0.1:${port}/v1` });
  return await answered(
    port,
    async (onText) => {
      const prompt = `${await search(QUESTION)}\n\n${QUESTION}`;
      let text = '';
      for await (const part of streamText({ model: provider('m'), system: REACT.system, prompt }).textStream) {
        onText();
        text += part;
      }
      return text;
    },
    ANSWER,
  );
}
