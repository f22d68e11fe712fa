import { once } from 'node:events';
import { createServer } from 'node:http';
import { promptOf, tokensOf } from '../answer/usage.mjs';
import { PATTERNS } from './patterns.mjs';

/**
 * @typedef {object} Run What the server does in one run of an agent.
 * @property {string} pattern
 * @property {boolean} [endless] Whether the model never comes to an end.
 * @property {boolean} [spoils] Whether the first JSON or tool call is invalid.
 * @property {number} [holdAfter] After so many replies, no request is answered until `release()`.
 */

/** The id of an invalid tool call begins with this. */
const INVALID = 'invalid';

/** `isSpoiled`: whether a reply was invalid. `seesError`: whether a later prompt contains it, and then an error. */
const NOTHING = { calls: 0, inputTokens: 0, outputTokens: 0, isSpoiled: false, seesError: false };

/**
 * Starts the model: OpenAI's chat completions on a loopback port, streamed or whole, without latency. A call counts when its reply is sent. A
 * token is four characters; the prompt contains the tools and the schema of the reply.
 */
export async function startModel() {
  let run = /** @type {Run} */ ({ pattern: 'react' });
  let counts = { ...NOTHING };
  let spoils = false;
  let held = deferred();
  let ids = 0;
  const isHeld = () => run.holdAfter !== undefined && counts.calls >= run.holdAfter;

  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request.setEncoding('utf8')) body += piece;
    // The process that waits for this reply is killed.
    if (isHeld()) return;
    const asked = JSON.parse(body);
    const reply = replyTo(asked);
    ids += 1;
    const prompt = promptOf(asked);
    counts.calls += 1;
    counts.seesError ||= /"wrong.*(error|invalid)/isu.test(prompt);
    counts.inputTokens += tokensOf(prompt);
    counts.outputTokens += tokensOf('tool' in reply ? reply.tool + JSON.stringify(reply.arguments) : contentOf(reply));
    response.once('close', () => isHeld() && held.resolve(null));
    send(response, reply, { id: `chatcmpl-${ids}`, isStream: asked.stream === true });
  });

  const replyTo = (/** @type {any} */ asked) => {
    const { reply, endless } = PATTERNS[run.pattern] ?? {};
    const { messages, tools = [], response_format: format } = asked;
    const given = /** @type {typeof reply} */ (run.endless ? (endless ?? reply) : reply)?.({
      prompt: promptOf({ messages }),
      schema: JSON.stringify(format?.json_schema ?? messages),
      offers: tools.length > 0,
      results: messages.filter(isResult).length,
    });
    if (given === undefined) throw new Error(`no pattern ${run.pattern}`);
    if (!spoils || 'text' in given) return inFormat(given, format);
    spoils = false;
    counts.isSpoiled = true;
    return 'tool' in given ? { ...given, arguments: { wrong: true }, isInvalid: true } : { json: { wrong: true } };
  };

  server.keepAliveTimeout = 60_000;
  server.listen({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  return {
    port: /** @type {import('node:net').AddressInfo} */ (server.address()).port,
    /** Begins a run: counts from zero. */
    begin(/** @type {Run} */ next) {
      run = next;
      spoils = next.spoils ?? false;
      counts = { ...NOTHING };
      held = deferred();
    },
    /** Resolves when the reply after which nothing more is answered was sent. */
    held: () => held.promise,
    /** Answers requests again. */
    release() {
      run = { pattern: run.pattern };
    },
    counts: () => ({ ...counts }),
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** A call that was invalid has no result but an error. @param {{ role: string, tool_call_id?: string }} message */
const isResult = ({ role, tool_call_id: id }) => role === 'tool' && !String(id).startsWith(INVALID);

/**
 * Puts a reply into the form that the schema of the request enforces.
 *
 * @param {import('./patterns.mjs').Reply} reply
 * @param {any} format
 * @returns {import('./patterns.mjs').Reply}
 */
function inFormat(reply, format) {
  const { value } = format?.json_schema?.schema.properties ?? {};
  return 'json' in reply && value ? { json: { value: reply.json } } : reply;
}

function deferred() {
  let resolve = (/** @type {unknown} */ _value) => {};
  const promise = new Promise((given) => {
    resolve = given;
  });
  return { promise, resolve };
}

const contentOf = (/** @type {Exclude<import('./patterns.mjs').Reply, { tool: string }>} */ reply) =>
  'text' in reply ? reply.text : JSON.stringify(reply.json);

/**
 * @param {import('node:http').ServerResponse} response
 * @param {import('./patterns.mjs').Reply} reply
 * @param {{ id: string, isStream: boolean }} options Ids differ, as those of a provider.
 */
function send(response, reply, { id, isStream }) {
  const isCall = 'tool' in reply;
  const call = isCall && { name: reply.tool, arguments: JSON.stringify(reply.arguments) };
  const calls = call ? [{ id: `${reply.isInvalid ? INVALID : 'call'}_${id}`, type: 'function', function: call }] : [];
  const finish_reason = isCall ? 'tool_calls' : 'stop';
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const head = { id, created: 0, model: 'm' };
  const content = isCall ? null : contentOf(reply);
  if (!isStream) {
    const message = { role: 'assistant', content, ...(isCall && { tool_calls: calls }) };
    const choices = [{ index: 0, message, finish_reason }];
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...head, object: 'chat.completion', choices, usage }));
    return;
  }
  const write = (/** @type {object} */ data) =>
    response.write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...data })}\n\n`);
  const delta = isCall ? { tool_calls: calls.map((one, index) => ({ index, ...one })) } : { content };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  write({ choices: [{ index: 0, delta: { role: 'assistant', ...delta }, finish_reason: null }] });
  write({ choices: [{ index: 0, delta: {}, finish_reason }] });
  write({ choices: [], usage });
  response.end('data: [DONE]\n\n');
}
