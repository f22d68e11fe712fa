import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { stepCountIs, streamText, tool } from 'ai';
import * as z from 'zod';
import { asLanguageModel } from '../../dist/ai-sdk.js';
import { createPostChain } from '../../dist/index.js';
import { gradeByDefault } from '../../dist/machines.js';
import { openaiModel } from '../../dist/openai.js';
import { QUESTION_LABEL, REACT, searchIn } from '../answer/question.mjs';
import { ABSTENTION } from '../eval/measures/judge.mjs';
import { recordedFetch } from './recorded-fetch.mjs';

/**
 * The model that a contender asks.
 *
 * @typedef {object} Server
 * @property {string} model
 * @property {string} baseURL
 * @property {string} apiKey
 * @property {(model: import('../../dist/index.js').ChatModel) => import('../../dist/index.js').ChatModel} [observe] Sees the requests
 * of a chain to its model.
 * @property {number} [contextWindowTokens]
 * @property {boolean} [logprobs] Whether to ask for the probabilities of tokens.
 *
 * @typedef {object} Reply
 * @property {string} answer
 * @property {'completed' | 'degraded' | 'cancelled' | null} status Null if the contender has none.
 * @property {number | null} confidence Null if the contender states none.
 * @property {readonly string[]} reasons
 * @property {{ calls: number, inputTokens: number, cachedInputTokens: number, outputTokens: number, estimated: boolean }} usage
 * @property {number} firstTextMs Milliseconds until the first part of the answer's text that was not withdrawn.
 * @property {number} ms
 * @property {number | null} [grounding] How far the passages support the answer, 0 to 1; null if there is nothing to check.
 * @property {readonly import('./recorded-fetch.mjs').Call[]} modelCalls
 * @property {number} [corrections] Of a chain: how many replies were corrected.
 *
 * @typedef {(text: string, documents: import('../../dist/index.js').PassageSource) => Promise<Reply>} Ask Rejects if the model could not
 * be reached.
 */

/** Every contender gets these instructions, so that all of them report a missing answer in the same words. */
const INSTRUCTIONS = `Answer from the documents only. If they do not contain the answer, reply only with "${ABSTENTION}", in these words.`;

const MAX_STEPS = 5;
/** The peers have no deadlines, and a model on this machine is slow: these are never reached, so that only answers are compared. */
const LIMITS = { totalMs: 3_600_000, phaseMs: 1_800_000, firstChunkMs: 900_000, chunkMs: 900_000 };

/**
 * Returns one call of the model, with the passages that the search finds for the question.
 *
 * @param {Server} server
 * @returns {Ask}
 */
function plain(server) {
  return async (text, documents) => {
    const passages = await searchIn(documents)(text);
    const reply = await streamed(server, { prompt: `${passages}\n\n${QUESTION_LABEL}${text}` });
    return { ...reply, grounding: groundingOf(text, reply.answer, passages) };
  };
}

/**
 * Returns how far the passages support an answer, by the default grader of a chain; null if there is nothing to check.
 *
 * @param {string} request
 * @param {string} answer
 * @param {string} passages
 */
function groundingOf(request, answer, passages) {
  // Each begins with its id in brackets and its headings.
  const evidence = passages.split(/^\[([^\]\n]+)\] /mu).slice(1);
  return gradeByDefault({
    request,
    answer,
    rationale: '',
    claimsCompletion: true,
    evidence: evidence.flatMap((id, at) => (at % 2 === 0 ? [{ id, content: evidence[at + 1] ?? '' }] : [])),
    dialogue: [],
    instructions: '',
  }).grounding;
}

/**
 * Returns AI SDK's tool loop, with PostChain's search as its tool.
 *
 * @param {Server} server
 * @returns {Ask}
 */
function loop(server) {
  return async (text, documents) => {
    const search = searchIn(documents);
    const tools = {
      [REACT.tool]: tool({
        description: REACT.description,
        inputSchema: z.object({ query: z.string().describe(REACT.argument) }),
        execute: ({ query }) => search(query),
      }),
    };
    return await streamed(server, { prompt: text, tools, stopWhen: stepCountIs(MAX_STEPS) });
  };
}

/**
 * Streams an answer with the AI SDK.
 *
 * @param {Server} server
 * @param {{ prompt: string, tools?: import('ai').ToolSet, stopWhen?: ReturnType<typeof stepCountIs> }} options
 * @returns {Promise<Reply>}
 */
async function streamed(server, options) {
  const { fetch, calls } = recordedFetch(server);
  const { model, baseURL, apiKey } = server;
  const provider = createOpenAICompatible({ name: 'quality', baseURL, apiKey, includeUsage: true, fetch });
  const watch = stopwatch();
  const result = streamText({
    ...options,
    model: provider(model),
    system: `${REACT.system} ${INSTRUCTIONS}`,
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
    ...WITHOUT_STATUS,
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
    modelCalls: calls,
  };
}

const WITHOUT_STATUS = { status: null, confidence: null, reasons: [] };

/**
 * Returns LangGraph's ReAct agent, with PostChain's search as its tool. Its replies are not streamed, so that the usage is known.
 *
 * @param {Server} server
 * @returns {Promise<Ask>}
 */
async function langgraph(server) {
  const [{ tool: toolOf }, { createReactAgent }, { ChatOpenAI }] = await Promise.all([
    import('@langchain/core/tools'),
    import('@langchain/langgraph/prebuilt'),
    import('@langchain/openai'),
  ]);
  return async (text, documents) => {
    const { fetch, calls } = recordedFetch(server);
    const search = searchIn(documents);
    const searchTool = toolOf(({ query }) => search(query), {
      name: REACT.tool,
      description: REACT.description,
      schema: z.object({ query: z.string().describe(REACT.argument) }),
    });
    const { model, apiKey, baseURL } = server;
    const agent = createReactAgent({
      llm: new ChatOpenAI({ model, apiKey, maxRetries: 0, configuration: { baseURL, fetch } }),
      tools: [searchTool],
      prompt: `${REACT.system} ${INSTRUCTIONS}`,
    });
    const watch = stopwatch();
    /** @type {readonly any[]} */
    let messages = [];
    let answer = '';
    try {
      ({ messages } = await agent.invoke(
        { messages: [{ role: 'user', content: text }] },
        { recursionLimit: 2 * MAX_STEPS },
      ));
      answer = String(messages.at(-1)?.content);
    } catch (error) {
      if (/** @type {any} */ (error).lc_error_code !== 'GRAPH_RECURSION_LIMIT') throw error;
    }
    const times = watch.stop();
    const sum = (/** @type {'inputTokens' | 'outputTokens'} */ of) =>
      calls.reduce((total, call) => total + call[of], 0);
    return {
      answer,
      ...WITHOUT_STATUS,
      usage: {
        calls: calls.length,
        inputTokens: sum('inputTokens'),
        cachedInputTokens: 0,
        outputTokens: sum('outputTokens'),
        estimated: false,
      },
      ...times,
      modelCalls: calls,
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
function chain(server, profile) {
  const { model: name, baseURL, apiKey, contextWindowTokens, observe = (model) => model } = server;
  return async (text, documents) => {
    const { fetch, calls: modelCalls } = recordedFetch(server);
    const model = observe(
      openaiModel({
        model: name,
        baseURL,
        apiKey,
        fetch,
        ...(contextWindowTokens !== undefined && { contextWindowTokens }),
      }),
    );
    const { run } = createPostChain({ model, profile, documents, limits: LIMITS });
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
    const { answerText, status, confidence, reasons = [], grounding, metadata } = answer;
    if (metadata.reason === 'model_unavailable') throw new Error(reasons[0].message);
    const { modelCalls: calls, inputTokens, cachedInputTokens = 0, outputTokens, estimated } = metadata.usage;
    return {
      answer: answerText,
      status,
      confidence,
      reasons,
      grounding: grounding?.score ?? null,
      corrections: metadata.refinements,
      usage: { calls, inputTokens, cachedInputTokens, outputTokens, estimated },
      ...times,
      modelCalls,
    };
  };
}

/**
 * @param {string} name
 * @param {Server} server
 * @returns {Promise<Ask>}
 */
export async function contenderOf(name, server) {
  if (name === 'plain') return plain(server);
  if (name === 'loop') return loop(server);
  if (name === 'langgraph') return await langgraph(server);
  return chain(server, /** @type {'lean'} */ (name));
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
