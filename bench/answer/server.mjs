import { createServer } from 'node:http';
import { replyTo } from './replies.mjs';
import { CHARS_PER_TOKEN, cachedTokens, promptOf, tokensOf } from './usage.mjs';

/**
 * The model server, in a process of its own: OpenAI's chat completions with a model of latency and caching. The first token of a reply
 * is due after 50 ms, the others at 100 per second; about every 10 ms, all tokens that are due are written. A request without `stream`
 * gets the whole reply when its last token is due.
 *
 * `GET /counts` returns the calls and tokens since the last such request, and starts a new run: its prompts are not in the cache.
 *
 * @typedef {{ calls: number, inputTokens: number, cachedTokens: number, outputTokens: number }} Counts
 */

const FIRST_TOKEN_MS = 50;
const TOKEN_MS = 10;

let counts = noCounts();
/** The prompts of the run that were read completely. */
let cache = /** @type {string[]} */ ([]);

/** @returns {Counts} */
function noCounts() {
  return { calls: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0 };
}

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    sendJson(response, 200, counts);
    counts = noCounts();
    cache = [];
    return;
  }
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (text) => {
    body += text;
  });
  request.on('end', () => {
    const startedAt = performance.now();
    const asked = /** @type {import('./replies.mjs').ChatRequest} */ (JSON.parse(body));
    const reply = replyTo(asked);
    if (reply === null) {
      sendJson(response, 400, { error: { message: `no reply for the request ${body.slice(-300)}` } });
      return;
    }
    const usage = count(promptOf(asked), reply);
    if (asked.stream === true) stream(response, reply, usage, startedAt);
    else sendWhole(response, reply, usage, startedAt);
  });
});

/**
 * Counts a call and returns its usage as the API reports it. The prompt is in the cache when it has been read: at the first token.
 *
 * @param {string} prompt
 * @param {import('./replies.mjs').Reply} reply
 */
function count(prompt, reply) {
  const run = cache;
  const [input, cached, output] = [tokensOf(prompt), cachedTokens(prompt, run), lengthOf(reply)];
  setTimeout(() => run.push(prompt), FIRST_TOKEN_MS);
  counts.calls += 1;
  counts.inputTokens += input;
  counts.cachedTokens += cached;
  counts.outputTokens += output;
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
  };
}

/** Returns the tokens of a reply; those of a tool call include its name. */
function lengthOf(/** @type {import('./replies.mjs').Reply} */ { text, tool }) {
  return tokensOf(`${tool ?? ''}${text}`);
}

/**
 * @param {import('node:http').ServerResponse} response
 * @param {import('./replies.mjs').Reply} reply
 * @param {object} usage
 * @param {number} startedAt
 */
function stream(response, reply, usage, startedAt) {
  const { text, tool } = reply;
  const total = lengthOf(reply);
  const nameTokens = total - tokensOf(text);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
  const head = headOf('chat.completion.chunk');
  const eventOf = (/** @type {object} */ data) => `data: ${JSON.stringify({ ...head, ...data })}\n\n`;
  const write = (/** @type {object} */ delta, /** @type {string | null} */ finish = null) =>
    response.write(eventOf({ choices: [{ index: 0, delta, finish_reason: finish }] }));
  let sent = 0;
  const step = () => {
    const due = Math.min(total, Math.floor((performance.now() - startedAt - FIRST_TOKEN_MS) / TOKEN_MS) + 1);
    if (due > sent) {
      if (sent === 0) write({ role: 'assistant', ...(tool === null ? { content: '' } : callDelta(tool, '')) });
      const part = text.slice(charsAt(sent - nameTokens), charsAt(due - nameTokens));
      if (part !== '') write(tool === null ? { content: part } : callDelta(null, part));
      sent = due;
    }
    if (sent < total) {
      const nextAt = startedAt + FIRST_TOKEN_MS + sent * TOKEN_MS;
      setTimeout(step, Math.max(1, nextAt - performance.now()));
      return;
    }
    write({}, tool === null ? 'stop' : 'tool_calls');
    response.end(`${eventOf({ choices: [], usage })}data: [DONE]\n\n`);
  };
  setTimeout(step, FIRST_TOKEN_MS);
}

const charsAt = (/** @type {number} */ tokens) => Math.max(0, tokens) * CHARS_PER_TOKEN;

/**
 * @param {string | null} name Null after the first delta.
 * @param {string} text
 */
function callDelta(name, text) {
  const opening = name === null ? {} : { id: 'call_1', type: 'function' };
  return { tool_calls: [{ index: 0, ...opening, function: { ...(name !== null && { name }), arguments: text } }] };
}

/**
 * @param {import('node:http').ServerResponse} response
 * @param {import('./replies.mjs').Reply} reply
 * @param {object} usage
 * @param {number} startedAt
 */
function sendWhole(response, reply, usage, startedAt) {
  const { text, tool } = reply;
  const calls = [{ id: 'call_1', type: 'function', function: { name: tool, arguments: text } }];
  const message = tool === null ? { content: text } : { content: null, tool_calls: calls };
  const choice = { index: 0, message: { role: 'assistant', ...message }, finish_reason: tool ? 'tool_calls' : 'stop' };
  const dueAt = startedAt + FIRST_TOKEN_MS + (lengthOf(reply) - 1) * TOKEN_MS;
  const completion = { ...headOf('chat.completion'), choices: [choice], usage };
  setTimeout(() => sendJson(response, 200, completion), dueAt - performance.now());
}

/**
 * Returns what every chunk of a reply begins with. The ids differ, because LangGraph replaces a message by a later one with the same id.
 *
 * @param {string} object
 */
function headOf(object) {
  return { id: `chatcmpl-${counts.calls}`, object, created: 0, model: 'm' };
}

/**
 * @param {import('node:http').ServerResponse} response
 * @param {number} status
 * @param {unknown} body
 */
function sendJson(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

server.keepAliveTimeout = 60_000;
server.listen({ port: 0, host: '127.0.0.1' }, () => {
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  process.send?.({ port: address.port });
});
process.on('disconnect', () => process.exit(0));
