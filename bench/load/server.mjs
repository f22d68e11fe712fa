import { createServer } from 'node:http';
import { PHASES, replyText } from '../step/replies.mjs';

/** @typedef {import('../step/replies.mjs').Task} Task */

/** How a reply is streamed: the first write after 20 ms, then one every 10 ms. Each holds some chunks of one reply. */
const FIRST_WRITE_MS = 20;
const NEXT_WRITE_MS = 10;
const WRITES = 4;
const CHUNK_CHARS = 16;

const TASKS = /** @type {readonly Task[]} */ ([...PHASES, 'synthesis']);
const writes = Object.fromEntries(TASKS.map((task) => [task, writesOf(textOf(task))]));

/** A server with an OpenAI-like API, in a process of its own: it streams the reply of the task that the request names. */
const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (text) => {
    body += text;
  });
  request.on('end', () => {
    const [, phase] = /Reply with the member \\"(\w+)\\"/u.exec(body) ?? [];
    const task = phase ?? /"json_schema":\{"name":"(\w+?)(?:_reply)?"/u.exec(body)?.[1] ?? '';
    const parts = writes[task];
    if (parts === undefined) {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: `no reply for the schema "${task}"` } }));
      return;
    }
    setTimeout(write, FIRST_WRITE_MS, response, parts, 0);
  });
});

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

/** @param {string} text */
function writesOf(text) {
  const chunks = [{ role: 'assistant', content: '' }];
  for (let at = 0; at < text.length; at += CHUNK_CHARS)
    chunks.push({ role: 'assistant', content: text.slice(at, at + CHUNK_CHARS) });
  const usage = { prompt_tokens: 800, completion_tokens: 75, total_tokens: 875 };
  const events = [
    ...chunks.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
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
process.on('disconnect', () => process.exit(0));
