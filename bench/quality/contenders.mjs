import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { stepCountIs, streamText, tool } from 'ai';
import * as z from 'zod';
import { asLanguageModel } from '../../dist/ai-sdk.js';
import { createPostChain } from '../../dist/index.js';
import { openaiModel } from '../../dist/openai.js';
import { REACT, searchIn } from '../answer/question.mjs';
import { ABSTENTION } from '../eval/measures/judge.mjs';

/**
 * The model that a contender asks.
 *
 * @typedef {object} Server
 * @property {string} model
 * @property {string} baseURL
 * @property {string} apiKey
 * @property {(model: import('../../dist/index.js').ChatModel) => import('../../dist/index.js').ChatModel} [observe] Sees the requests
 * of a chain to its model.
 *
 * @typedef {object} Reply
 * @property {string} answer
 * @property {'completed' | 'degraded' | 'cancelled' | null} status Null if the contender has none.
 * @property {number | null} confidence Null if the contender states none.
 * @property {readonly string[]} reasons
 * @property {{ calls: number, inputTokens: number, cachedInputTokens: number, outputTokens: number, estimated: boolean }} usage
 * @property {number} firstTextMs Milliseconds until the first part of the answer's text that was not withdrawn.
 * @property {number} ms
 *
 * @typedef {(text: string, documents: import('../../dist/index.js').PassageSource) => Promise<Reply>} Ask Rejects if the model could not
 * be reached.
 */

/** Every contender gets these instructions, so that all of them report a missing answer in the same words. */
const INSTRUCTIONS = `Answer from the documents only. If they do not contain the answer, reply only with "${ABSTENTION}", in these words.`;

const MAX_STEPS = 5;

/**
 * Returns AI SDK's tool loop, with PostChain's search as its tool.
 *
 * @param {Server} server
 * @returns {Ask}
 */
export function loop({ model, baseURL, apiKey }) {
  const provider = createOpenAICompatible({ name: 'quality', baseURL, apiKey, includeUsage: true });
  return async (text, documents) => {
    const search = searchIn(documents);
    const tools = {
      [REACT.tool]: tool({
        description: REACT.description,
        inputSchema: z.object({ query: z.string().describe(REACT.argument) }),
        execute: ({ query }) => search(query),
      }),
    };
    const watch = stopwatch();
    const result = streamText({
      model: provider(model),
      tools,
      system: `${REACT.system} ${INSTRUCTIONS}`,
      prompt: text,
      stopWhen: stepCountIs(MAX_STEPS),
      onError: () => {},
    });
    for await (const part of result.fullStream) {
      if (part.type === 'error') throw part.error;
      if (part.type === 'start-step') watch.withdraw();
      if (part.type === 'text-delta' && part.text !== '') watch.text();
    }
    const times = watch.stop();
    const steps = await result.steps;
    const sum = (/** @type {(usage: any) => number | undefined} */ of) =>
      steps.reduce((total, { usage }) => total + (of(usage) ?? 0), 0);
    return {
      answer: await result.text,
      status: null,
      confidence: null,
      reasons: [],
      usage: {
        calls: steps.length,
        inputTokens: sum(({ inputTokens }) => inputTokens),
        cachedInputTokens: sum(({ cachedInputTokens, inputTokenDetails }) =>
          inputTokenDetails === undefined ? cachedInputTokens : inputTokenDetails.cacheReadTokens,
        ),
        outputTokens: sum(({ outputTokens }) => outputTokens),
        estimated: steps.some(({ usage }) => usage.inputTokens === undefined),
      },
      ...times,
    };
  };
}

/**
 * Returns a chain with a profile. Its text streams as it does in the AI SDK.
 *
 * @param {Server} server
 * @param {'lean' | 'balanced' | 'thorough'} profile
 * @returns {Ask}
 */
export function chain({ model: name, baseURL, apiKey, observe = (model) => model }, profile) {
  const model = observe(openaiModel({ model: name, baseURL, apiKey }));
  return async (text, documents) => {
    const { run } = createPostChain({ model, profile, documents });
    /** @type {ReturnType<typeof run>[]} */
    const runs = [];
    const start = (/** @type {Parameters<typeof run>[0]} */ options) => {
      const started = run(options);
      runs.push(started);
      return started;
    };
    const watch = stopwatch();
    const { stream } = await asLanguageModel({ run: start }, { live: true }).doStream({
      prompt: [
        { role: 'system', content: INSTRUCTIONS },
        { role: 'user', content: [{ type: 'text', text }] },
      ],
    });
    for await (const part of stream) {
      if (part.type === 'error') throw part.error;
      if (part.type === 'text-end' && part.providerMetadata?.postchain['void'] !== undefined) watch.withdraw();
      if (part.type === 'text-delta') watch.text();
    }
    const times = watch.stop();
    const answer = /** @type {any} */ (await runs[0]?.answer);
    const { answerText, status, confidence, reasons = [], metadata } = answer;
    if (metadata.reason === 'model_unavailable') throw new Error(reasons[0].message);
    const { modelCalls: calls, inputTokens, cachedInputTokens = 0, outputTokens, estimated } = metadata.usage;
    return {
      answer: answerText,
      status,
      confidence,
      reasons,
      usage: { calls, inputTokens, cachedInputTokens, outputTokens, estimated },
      ...times,
    };
  };
}

function stopwatch() {
  const startedAt = performance.now();
  const elapsed = () => Math.round((performance.now() - startedAt) * 10) / 10;
  /** @type {number | null} */
  let firstTextMs = null;
  return {
    text() {
      firstTextMs ??= elapsed();
    },
    /** Call this if the text so far is not part of the answer. */
    withdraw() {
      firstTextMs = null;
    },
    stop() {
      const ms = elapsed();
      return { firstTextMs: firstTextMs ?? ms, ms };
    },
  };
}
