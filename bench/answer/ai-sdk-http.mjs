import { streamPlain } from './ai-sdk-plain.mjs';
import { answered } from './answered.mjs';
import { posted, served } from './over-http.mjs';
import { ANSWER } from './question.mjs';

/** @type {Promise<string> | null} */
let origin = null;

/**
 * Answers over HTTP with the same call as `ai-sdk-plain`, as `useChat` receives it. The client is in the process of the server.
 *
 * @param {{ port: number }} options
 */
export async function measure({ port }) {
  origin ??= served(async () => (await streamPlain(port)).toUIMessageStreamResponse());
  const url = `${await origin}/api/chat`;
  return await answered(
    port,
    async (onText) => {
      let text = '';
      for await (const { type, delta } of posted(url, {})) {
        if (type !== 'text-delta') continue;
        onText(delta);
        text += delta;
      }
      return text;
    },
    ANSWER,
  );
}
