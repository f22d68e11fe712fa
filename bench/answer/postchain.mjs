import { createPostChain } from '../../dist/index.js';
import { openaiModel } from '../../dist/openai.js';
import { answered } from './answered.mjs';
import { openDocuments } from './documents.mjs';
import { ANSWER, QUESTION, SET } from './question.mjs';

/** @typedef {{ port: number, profile: import('../../dist/index.js').ProfileOption }} Options */

/** @type {ReturnType<typeof createPostChain> | null} One lane has one profile. */
let chain = null;

const OPENAI = 'https://api.openai.com';

/**
 * Returns a `fetch` that redirects requests for OpenAI to the benchmark's server. PostChain leaves the schema out of the prompt only for
 * OpenAI.
 *
 * @param {number} port
 * @returns {typeof fetch}
 */
function redirectTo(port) {
  return (url, init) => fetch(String(url).replace(OPENAI, `http://127.0.0.1:${port}`), init);
}

/** @param {Options & { journals?: import('../../dist/index.js').JournalStore }} options */
export async function openChain({ port, profile, journals }) {
  return createPostChain({
    model: openaiModel({ model: 'm', apiKey: 'none', baseURL: `${OPENAI}/v1`, fetch: redirectTo(port) }),
    documents: await openDocuments(SET),
    profile,
    ...(journals && { journals }),
  });
}

/** @param {Options} options */
export async function measure({ port, profile }) {
  chain ??= await openChain({ port, profile });
  const { run } = chain;
  let usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 };
  const sample = await answered(
    port,
    async (onText) => {
      const { events, answer } = run({ request: QUESTION });
      for await (const event of events) if (event.type === 'answer-delta') onText(event.text);
      const { status, answerText, metadata, notes } = await answer;
      if (status !== 'completed') throw new Error(`expected a completed answer; received ${notes}`);
      usage = { cachedInputTokens: 0, ...metadata.usage };
      return answerText;
    },
    ANSWER,
  );
  const reported = [usage.inputTokens, usage.cachedInputTokens, usage.outputTokens].join();
  const counted = [sample.inputTokens, sample.cachedTokens, sample.outputTokens].join();
  if (reported !== counted) throw new Error(`expected the usage ${counted}; received ${reported}`);
  return sample;
}
