import { createServer } from 'node:http';
import { replyText } from '../step/replies.mjs';
import { CALLS } from './calls.mjs';

/** @typedef {import('../step/replies.mjs').Task} Task */

/** How a reply is streamed: the first write after 20 ms, then one every 10 ms. Each holds some chunks of one reply. */
const FIRST_WRITE_MS = 20;
const NEXT_WRITE_MS = 10;
const WRITES = 4;
const CHUNK_CHARS = 16;

/** The writes of each reply as text, and as the input of a tool of that name. */
const texts = Object.fromEntries(CALLS.map((task) => [task, writesOf(chunksOf(task).map(contentOf), 'stop')]));
const toolReplies = CALLS.map((task, at) =>
  at === CALLS.length - 1 ? texts[task] : writesOf(chunksOf(task).map(inputOf(task, at)), 'tool_calls'),
);

/** The requests since the parent asked for them. */
let counts = { requests: 0, bytes: 0 };

/**
 * A server with an OpenAI-like API, in a process of its own: it streams the reply of the task that the request names. If the request has
 * tools, it calls each in turn; the last reply is text.
 */
const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (text) => {
    body += text;
  });
  request.on('end', () => {
    counts.requests += 1;
    counts.bytes += body.length;
    const parts = partsFor(body);
    if (parts === undefined) {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: `no reply for the request ${body.slice(0, 200)}` } }));
      return;
    }
    setTimeout(write, FIRST_WRITE_MS, response, parts, 0);
  });
});

/** @param {string} body */
function partsFor(body) {
  if (body.includes('"tools":[')) return toolReplies[body.split('"role":"tool"').length - 1];
  const [, phase] = /Reply with the member \\"(\w+)\\"/u.exec(body) ?? [];
  const task = phase ?? /"json_schema":\{"name":"(\w+?)(?:_reply)?"/u.exec(body)?.[1] ?? '';
  return texts[task];
}

/**
 * @param {import('node:http').ServerResponse} response
 * @param {readonly string[]} parts
 * @param {number} at
 */
function write(response, parts, at) {
  if (at === 0) response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(parts[at]);
  if (at + 1 < parts.length) setTimeout(write, NEXT_WRITE_MS, response, parts, at + 1);
  else response.end();
}

/** Returns a valid reply; that of Yield completes the run after one cycle. */
function textOf(/** @type {Task} */ task) {
  if (task !== 'yield') return replyText(task, 1);
  return JSON.stringify({ ...JSON.parse(replyText(task, 1)), confidence: 0.95, taskComplete: true });
}

/** @param {Task} task */
function chunksOf(task) {
  const text = textOf(task);
  const count = Math.ceil(text.length / CHUNK_CHARS);
  return ['', ...Array.from({ length: count }, (_, at) => text.slice(at * CHUNK_CHARS, (at + 1) * CHUNK_CHARS))];
}

/** @param {string} content */
function contentOf(content) {
  return { role: 'assistant', content };
}

/** @param {Task} name @param {number} at */
function inputOf(name, at) {
  return (/** @type {string} */ text) => {
    const opening = { id: `call_${at}`, type: 'function', function: { name, arguments: '' } };
    const call = text === '' ? opening : { function: { arguments: text } };
    return { role: 'assistant', tool_calls: [{ index: 0, ...call }] };
  };
}

/**
 * @param {readonly object[]} deltas
 * @param {string} finish
 */
function writesOf(deltas, finish) {
  const usage = { prompt_tokens: 800, completion_tokens: 75, total_tokens: 875 };
  const events = [
    ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
    { choices: [{ index: 0, delta: {}, finish_reason: finish }] },
    { choices: [], usage },
  ].map((event) => `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'm', ...event })}\n\n`);
  const perWrite = Math.ceil(events.length / WRITES);
  const parts = Array.from({ length: WRITES }, (_, at) => events.slice(at * perWrite, (at + 1) * perWrite).join(''));
  return [...parts.slice(0, -1), `${parts.at(-1)}data: [DONE]\n\n`];
}

server.keepAliveTimeout = 60_000;
server.listen({ port: 0, host: '127.0.0.1', backlog: 8_192 }, () => {
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  process.send?.({ port: address.port });
});
process.on('message', () => {
  process.send?.(counts);
  counts = { requests: 0, bytes: 0 };
});
process.on('disconnect', () => process.exit(0));
