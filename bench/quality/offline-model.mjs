import { once } from 'node:events';
import { createServer } from 'node:http';
import { createPassageIndex, createPostChain, documentsFrom, extractiveModel } from '../../dist/index.js';
import { QUESTION_LABEL } from '../answer/question.mjs';
import { textOf } from '../answer/replies.mjs';
import { promptOf, tokensOf } from '../answer/usage.mjs';

/**
 * The answers by question; the extractive model answers all others.
 *
 * @typedef {Readonly<Record<string, { answer: string, confidence: number }>>} Script
 * @typedef {import('../answer/replies.mjs').ChatRequest} ChatRequest
 * @typedef {import('../../dist/index.js').ModelRequest} ModelRequest
 */

/** From this confidence, a scripted answer claims to complete the task. */
const COMPLETE = 0.7;
const CHUNK_CHARS = 40;

/**
 * Starts a server with OpenAI's chat completions that needs no network and no LLM. For a chain, it sends the replies of the extractive
 * model, which reads a request's input and not its prompt: `observe` remembers the request of each prompt. For a tool loop, it first
 * calls the tool with the question, and then answers with what the extractive model finds in the result; without tools, it answers from
 * the passages of the prompt.
 *
 * @param {Script} script
 * @returns {Promise<import('./contenders.mjs').Server & { close: () => void }>}
 */
export async function offlineServer(script) {
  /** @type {Map<string, ModelRequest>} By the last message of the prompt. */
  const asked = new Map();
  const server = createServer(async (request, response) => {
    const chunks = await request.toArray();
    const body = /** @type {ChatRequest} */ (JSON.parse(Buffer.concat(chunks).toString()));
    try {
      const known = asked.get(textOf(body.messages.at(-1)));
      sendReply(response, body, known === undefined ? await loopReply(body, script) : await chainReply(known, script));
    } catch (error) {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: String(error) } }));
    }
  });
  server.listen({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    model: 'offline',
    baseURL: `http://127.0.0.1:${port}/v1`,
    apiKey: 'not-needed',
    observe: (model) => ({
      ...model,
      stream(request, options) {
        asked.set(request.turns.at(-1)?.content ?? '', request);
        return model.stream(request, options);
      },
    }),
    close: () => server.close(),
  };
}

/** @typedef {{ text: string, call: { name: string, id: string } | null }} Sent `text`: the reply, or the arguments of the call. */

/**
 * @param {ChatRequest} request
 * @param {Script} script
 * @returns {Promise<Sent>}
 */
async function loopReply({ messages, tools = [] }, script) {
  const [tool] = /** @type {any[]} */ (tools);
  const [passages = '', question = passages] = textOf(messages.find(({ role }) => role === 'user')).split(
    QUESTION_LABEL,
  );
  const results = messages.filter(({ role }) => role === 'tool').map(textOf);
  if (tool !== undefined && results.length === 0)
    return { text: JSON.stringify({ query: question }), call: { name: tool.function.name, id: 'call_1' } };
  const scripted = script[question];
  if (scripted !== undefined) return { text: scripted.answer, call: null };
  // The first line of each passage has its id and headings.
  const found = tool === undefined ? [passages] : results;
  const text = found.map((result) => result.replace(/^\[[^\]\n]+\] /gmu, '# ')).join('\n\n');
  const { documents } = await documentsFrom([{ path: 'results.md', text }]);
  const chain = createPostChain({ documents: createPassageIndex(documents) });
  return { text: (await chain.run({ request: question }).answer).answerText, call: null };
}

/**
 * @param {ModelRequest} request
 * @param {Script} script
 * @returns {Promise<Sent>}
 */
async function chainReply(request, script) {
  let text = '';
  for await (const part of extractiveModel().stream(request, { signal: new AbortController().signal })) {
    if (part.type === 'text-delta') text += part.text;
    if (part.type === 'failure') throw new Error(part.failure.message);
  }
  const scripted = script[/** @type {{ request?: string }} */ (request.input).request ?? ''];
  return { text: scripted === undefined ? text : scriptedReply(text, scripted), call: null };
}

/**
 * Returns a reply of the extractive model with the scripted answer and confidence in place of its own.
 *
 * @param {string} text
 * @param {Script[string]} scripted
 */
function scriptedReply(text, { answer, confidence }) {
  const own = {
    ...Object.fromEntries(['answer', 'answerText', 'response', 'summary', 'integrated'].map((name) => [name, answer])),
    confidence,
    informationSufficiency: confidence,
    taskComplete: confidence >= COMPLETE,
    noEvidence: false,
    proposedPhase: null,
  };
  return JSON.stringify(
    JSON.parse(text, (name, value) => (Object.hasOwn(own, name) ? own[/** @type {'answer'} */ (name)] : value)),
  );
}

/**
 * Streams a reply with its usage.
 *
 * @param {import('node:http').ServerResponse} response
 * @param {ChatRequest} request
 * @param {Sent} reply
 */
function sendReply(response, request, { text, call }) {
  const [input, output] = [tokensOf(promptOf(request)), tokensOf(`${call?.name ?? ''}${text}`)];
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 0, model: 'offline' };
  const send = (/** @type {object} */ data) => response.write(`data: ${JSON.stringify({ ...head, ...data })}\n\n`);
  const choice = (/** @type {object} */ delta, /** @type {string | null} */ finish = null) =>
    send({ choices: [{ index: 0, delta, finish_reason: finish }] });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const [at, piece] of (text.match(new RegExp(`[^]{1,${CHUNK_CHARS}}`, 'gu')) ?? []).entries()) {
    const opening = at === 0 ? { id: call?.id, type: 'function' } : {};
    const named = { ...(at === 0 && { name: call?.name }), arguments: piece };
    choice(call === null ? { content: piece } : { tool_calls: [{ index: 0, ...opening, function: named }] });
  }
  choice({}, call === null ? 'stop' : 'tool_calls');
  const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
  send({ choices: [], usage });
  response.end('data: [DONE]\n\n');
}
