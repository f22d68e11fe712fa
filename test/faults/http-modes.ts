import { gzipSync } from 'node:zlib';
import { replies } from '../../src/testing/replies.ts';
import {
  type Exchange,
  event,
  respondWithJson,
  seededSizes,
  splitBytes,
  writeEndlessly,
} from '../support/chat-server.ts';

/**
 * How a run on a server with this fault ends. `completed`: with the model's answer. `degraded`: with an answer that says so. `answered`: with
 * either of the two, because the fault leaves a choice.
 */
type Ending = 'completed' | 'degraded' | 'answered';

type Respond = (exchange: Exchange) => unknown;

export interface FaultMode {
  readonly name: string;
  readonly description: string;
  readonly ending: Ending;
  readonly respond: Respond;
  /** Whether the deadline of a call is part of the fault. */
  readonly isTimed?: boolean;
  /** Whether the server sends without an end, so that memory must be bounded. */
  readonly endless?: boolean;
}

/** One reply that is valid for every phase and for the synthesis. */
const REPLY = { ...Object.assign({}, ...Object.values(replies)), rationale: 'Grüße, 日本語 👩‍👩‍👧 "quoted"' };
export const ANSWER = replies.synthesis.answerText;
const JSON_REPLY = JSON.stringify(REPLY);

// The parts of a good reply.

const usage = { prompt_tokens: 7, completion_tokens: 3 };
const delta = (content: unknown, finish: string | null = null, index = 0) => ({
  object: 'chat.completion.chunk',
  choices: [{ index, delta: { content }, finish_reason: finish }],
});
const half = Math.floor(JSON_REPLY.length / 2);
const [FIRST, SECOND] = [JSON_REPLY.slice(0, half), JSON_REPLY.slice(half)];
const TEXT = event(delta(FIRST)) + event(delta(SECOND));
const FINISH = event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
const USAGE = event({ choices: [], usage });
const DONE = 'data: [DONE]\n\n';
const GOOD = TEXT + FINISH + USAGE + DONE;
/** The same in many chunks, so that the first one arrives soon in pieces, too. */
const IN_CHUNKS = (JSON_REPLY.match(/.{1,60}/gsu) ?? []).map((part) => event(delta(part))).join('') + FINISH + DONE;
const chat = (content: unknown, more: object = {}) => ({
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage,
  ...more,
});
const CHAT = JSON.stringify(chat(JSON_REPLY));

// How bytes are sent.

const SSE = { 'content-type': 'text/event-stream' };
type Headers = Readonly<Record<string, string | readonly string[]>>;

/** Sends a body and ends it. */
const send =
  (body: string | Uint8Array, headers: Headers = SSE, status = 200): Respond =>
  ({ response }) =>
    response.writeHead(status, headers as Record<string, string>).end(body);

/** Sends the start of a body, and then nothing more. */
const hang =
  (body: string | Uint8Array, headers: Headers = SSE, status = 200): Respond =>
  ({ response }) => {
    response.writeHead(status, headers as Record<string, string>).flushHeaders();
    if (body.length > 0) response.write(body);
  };

/** Sends the start of a body and breaks the connection. */
const cut =
  (body: string | Uint8Array, headers: Headers = SSE): Respond =>
  ({ response }) => {
    response.writeHead(200, headers as Record<string, string>).flushHeaders();
    response.write(body || '\n', () => setImmediate(() => response.destroy()));
  };

/** Sends a head, and then the same bytes until the client closes the connection. */
const endless =
  (bytes: string | Uint8Array, { head = '', headers = SSE as Headers, status = 200 } = {}): Respond =>
  async ({ response }) => {
    response.writeHead(status, headers as Record<string, string>).write(head || '\n');
    await writeEndlessly(response, bytes);
  };

/** Sends pieces one after the other, each in its own packet. */
const inPieces =
  (pieces: readonly (string | Uint8Array)[], headers: Headers = SSE): Respond =>
  async ({ response }) => {
    response.writeHead(200, headers as Record<string, string>).flushHeaders();
    for (const piece of pieces) {
      if (response.destroyed) return;
      await new Promise<void>((sent) => response.write(piece, () => setImmediate(sent)));
    }
    response.end();
  };

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Sends the same piece again and again with pauses. */
const drip =
  (piece: string, everyMs: number, headers: Headers = SSE): Respond =>
  async ({ response }) => {
    response.writeHead(200, headers as Record<string, string>).flushHeaders();
    while (!response.destroyed) {
      response.write(piece);
      await pause(everyMs);
    }
  };

/** Writes to the socket itself, below HTTP. */
const raw =
  (text: string | Uint8Array, { stays = false } = {}): Respond =>
  ({ response }) => {
    if (stays) response.socket?.write(text);
    else response.socket?.end(text);
  };

const rawEndless =
  (head: string, bytes: string): Respond =>
  async ({ response: { socket } }) => {
    if (socket === null) return;
    socket.write(head);
    const block = bytes.repeat(Math.ceil(16_384 / bytes.length));
    while (!socket.destroyed) {
      if (!socket.write(block)) await new Promise((next) => socket.once('drain', next).once('close', next));
      socket.removeAllListeners('drain');
    }
  };

const rejected = (message: string, more: object = {}) => ({ error: { message, ...more } });
const status = (
  code: number,
  body: unknown = rejected('No coffee.'),
  headers: Readonly<Record<string, string>> = {},
): Respond => {
  return ({ response }) => respondWithJson(response, code, body, headers);
};
const good = send(GOOD);

/** The fault in the first request only. */
function once(fault: Respond): Respond {
  let count = 0;
  return (exchange) => {
    count += 1;
    return count === 1 ? fault(exchange) : good(exchange);
  };
}

const busy = (headers: Readonly<Record<string, string>>) => status(429, rejected('Slow down.'), headers);
const reply = (content: unknown, finish = 'stop'): Respond =>
  send(event(delta(content)) + event({ choices: [{ index: 0, delta: {}, finish_reason: finish }] }) + DONE);
const json = (body: unknown, type = 'application/json'): Respond =>
  send(typeof body === 'string' ? body : JSON.stringify(body), { 'content-type': type });
const splits = (pieces: readonly (string | Uint8Array)[]) => inPieces(pieces);
const bytesOf = (text: string) => new Uint8Array(Buffer.from(text));
const letters = 'x'.repeat(1_000);

// Tool calls; the reply's tool is named in the request.

type Call = (name: string) => readonly object[];
const toolName = ({ body }: Exchange): string => body.tools?.[0]?.function.name ?? '';
const tools =
  (deltas: Call, tail = event({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] }) + DONE): Respond =>
  (exchange) =>
    send(
      deltas(toolName(exchange))
        .map((tool_calls) => event({ choices: [{ index: 0, delta: { tool_calls } }] }))
        .join('') + tail,
    )(exchange);
const call = (name: string | null, args: unknown, more: object = { index: 0, id: 'c1' }) => ({
  ...more,
  function: { ...(name !== null && { name }), arguments: args },
});

// The table: a name, what the server does, how a run on it ends, and how the server does it.

type Row = readonly [name: string, description: string, ending: Ending, respond: Respond];

const statuses: readonly Row[] = [
  ...[400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504, 529].map(
    (code): Row => [`status-${code}`, `answers ${code} with an error object`, 'degraded', status(code)],
  ),
  ['status-200-empty', '200 with no body', 'degraded', send('')],
  ['status-204', '204 without a body', 'degraded', ({ response }) => response.writeHead(204).end()],
  [
    'error-page',
    '502 with a page of a proxy',
    'degraded',
    send('<html><h1>502 Bad Gateway</h1></html>', { 'content-type': 'text/html' }, 502),
  ],
  ['error-empty', '500 with an empty body', 'degraded', send('', {}, 500)],
  ['error-detail', '500 with the error in "detail" (FastAPI)', 'degraded', status(500, { detail: 'Boom.' })],
  ['error-string', '500 with the error as a string', 'degraded', status(500, { error: 'Boom.' })],
  [
    'error-deep',
    '500 with an error of 10,000 nested objects',
    'degraded',
    send(`${'{"error":'.repeat(10_000)}1${'}'.repeat(10_000)}`, {}, 500),
  ],
  [
    'error-hostile',
    '500 with a text that makes naive patterns slow',
    'degraded',
    status(500, rejected('cannot use '.repeat(8_000))),
  ],
  [
    'error-gzip',
    '500 with a compressed body',
    'degraded',
    send(gzipSync('{"error":{"message":"Boom."}}'), { 'content-encoding': 'gzip' }, 500),
  ],
  ['error-hangs', '500 whose body does not end', 'degraded', hang('{"error":', {}, 500)],
  [
    'error-cut',
    '500 whose body is cut off',
    'degraded',
    ({ response }) => response.writeHead(500).write('{"err', () => response.destroy()),
  ],
  ['error-once', '500 once', 'completed', once(status(500))],
  ['quota', '429 insufficient_quota', 'degraded', status(429, rejected('No money.', { code: 'insufficient_quota' }))],
  [
    'context-length',
    '400 context_length_exceeded',
    'degraded',
    status(400, rejected('Too long.', { code: 'context_length_exceeded' })),
  ],
  [
    'early-hints',
    '103 before a good reply',
    'completed',
    (exchange) => {
      exchange.response.writeEarlyHints({ link: '</a>; rel=preload' });
      return good(exchange);
    },
  ],
];

const redirects: readonly Row[] = [302, 307].map(
  (code): Row => [
    `redirect-${code}`,
    `redirects to another host with ${code}, which must not receive the key`,
    'degraded',
    ({ response }) => response.writeHead(code, { location: 'http://127.0.0.1:1/v1/chat/completions' }).end(),
  ],
);

const waits: readonly Row[] = [
  [
    'retry-after-past',
    '429 once, Retry-After with a date in the past',
    'completed',
    once(busy({ 'retry-after': 'Sun, 01 Mar 2020 12:00:00 GMT' })),
  ],
  [
    'retry-after-hour',
    '429, Retry-After: 3600, longer than the time left',
    'degraded',
    busy({ 'retry-after': '3600' }),
  ],
  [
    'retry-after-date',
    '503, Retry-After with a date in 2999',
    'degraded',
    status(503, rejected('Later.'), { 'retry-after': 'Tue, 01 Jan 2999 12:00:00 GMT' }),
  ],
  ['retry-after-always', '429 always, Retry-After: 0', 'degraded', busy({ 'retry-after': '0' })],
];

const hangs: readonly Row[] = [
  ['hang-before-headers', 'accepts the request and sends nothing', 'degraded', () => {}],
  [
    'hang-in-headers',
    'stops within the headers',
    'degraded',
    raw('HTTP/1.1 200 OK\r\ncontent-type: text/ev', { stays: true }),
  ],
  ['hang-after-headers', 'stops after the headers', 'degraded', hang('')],
  ['hang-in-line', 'stops within a line', 'degraded', hang('data: {"choices":[{"del')],
  ['hang-in-text', 'stops in the middle of the reply', 'degraded', hang(event(delta(FIRST)))],
  ['hang-after-text', 'stops after the text, without an end mark', 'degraded', hang(TEXT)],
  ['hang-after-finish', 'keeps the connection open after the finish reason', 'completed', hang(TEXT + FINISH)],
  ['hang-after-done', 'keeps the connection open after [DONE]', 'completed', hang(GOOD)],
  [
    'hang-after-done-no-finish',
    'keeps the connection open after [DONE]; no finish reason',
    'completed',
    hang(TEXT + DONE),
  ],
  [
    'hang-after-json',
    'keeps the connection open after a JSON answer',
    'completed',
    hang(CHAT, { 'content-type': 'application/json' }),
  ],
  [
    'hang-gzip',
    'stops within a compressed reply',
    'degraded',
    hang(gzipSync(GOOD).subarray(0, 40), { ...SSE, 'content-encoding': 'gzip' }),
  ],
  ['pings-before', 'sends keep-alive comments and no reply', 'degraded', drip(': ping\n\n', 20)],
  [
    'pings-after-finish',
    'sends keep-alive comments after the finish reason',
    'completed',
    async (exchange) => {
      hang(TEXT + FINISH)(exchange);
      while (!exchange.response.destroyed) {
        exchange.response.write(': ping\n\n');
        await pause(20);
      }
    },
  ],
  ['drip-empty', 'sends empty chunks and no reply', 'degraded', drip(event(delta('')), 20)],
  ['drip-text', 'sends one letter after the other, without JSON', 'degraded', drip(event(delta('x')), 20)],
  [
    'drip-reasoning',
    'reasons without an end',
    'degraded',
    drip(event({ choices: [{ index: 0, delta: { reasoning: 'hm ' } }] }), 20),
  ],
  [
    'slow-reply',
    'sends a good reply in 20 pieces with pauses',
    'completed',
    async ({ response }) => {
      response.writeHead(200, SSE).flushHeaders();
      for (const piece of splitBytes(bytesOf(GOOD), () => Math.ceil(GOOD.length / 20))) {
        response.write(piece);
        await pause(5);
      }
      response.end();
    },
  ],
];

/** The deadline of a call is part of these faults. */
const timed: readonly Row[] = [['hang-before-headers-once', 'sends nothing, once', 'completed', once(() => {})]];

const cuts: readonly Row[] = [
  ['cut-before-headers', 'closes the connection without an answer', 'degraded', ({ response }) => response.destroy()],
  [
    'cut-before-headers-once',
    'closes the connection without an answer, once',
    'completed',
    once(({ response }) => response.destroy()),
  ],
  ['reset', 'resets the connection (RST)', 'degraded', ({ response }) => response.socket?.resetAndDestroy()],
  [
    'reset-in-text',
    'resets the connection in the middle of the reply',
    'degraded',
    ({ response }) =>
      response
        .writeHead(200, SSE)
        .write(event(delta(FIRST)), () => setImmediate(() => response.socket?.resetAndDestroy())),
  ],
  ['cut-in-headers', 'closes within the headers', 'degraded', raw('HTTP/1.1 200 OK\r\ncontent-ty')],
  ['cut-in-text', 'closes in the middle of the reply', 'degraded', cut(event(delta(FIRST)))],
  ['cut-in-text-once', 'closes in the middle of the reply, once', 'completed', once(cut(event(delta(FIRST))))],
  ['cut-after-text', 'closes after the text, without an end mark', 'degraded', cut(TEXT)],
  ['cut-after-finish', 'closes after the finish reason', 'completed', cut(TEXT + FINISH)],
  ['cut-after-done', 'closes after [DONE] without the end of the body', 'completed', cut(GOOD)],
  ['end-in-text', 'ends the body properly in the middle of the reply', 'degraded', send(event(delta(FIRST)))],
  ['end-after-text', 'ends the body properly without an end mark', 'degraded', send(TEXT)],
  [
    'length-too-long',
    'announces more bytes than it sends, and closes',
    'completed',
    ({ response }) => {
      response.writeHead(200, { ...SSE, 'content-length': '99999' });
      response.write(GOOD, () => response.destroy());
    },
  ],
  [
    'length-too-short',
    'announces fewer bytes than the reply has',
    'degraded',
    raw(`HTTP/1.1 200 OK\r\ncontent-length: 100\r\nconnection: close\r\n\r\n${GOOD}`),
  ],
  [
    'closes-after-each',
    'closes the connection after each reply',
    'completed',
    send(GOOD, { ...SSE, connection: 'close' }),
  ],
];

const events: readonly Row[] = [
  ['good', 'a good reply', 'completed', good],
  ['no-done', 'no [DONE]', 'completed', send(TEXT + FINISH)],
  ['no-finish', 'no finish reason', 'completed', send(TEXT + DONE)],
  ['bom', 'a byte order mark', 'completed', send(`\ufeff${GOOD}`)],
  ['null-events', 'events that are null', 'completed', send(GOOD.replaceAll('data: ', 'data: null\n\ndata: '))],
  ['done-only', 'nothing but [DONE]', 'degraded', send(DONE)],
  ['not-json', 'an event that is not JSON', 'degraded', send(`data: {"choices":[\n\n${GOOD}`)],
  ['not-json-once', 'an event that is not JSON, once', 'completed', once(send(`data: {"choices":[\n\n${GOOD}`))],
  ['odd-content', '"content" is a number', 'degraded', send(event(delta(42)) + GOOD)],
  [
    'error-event',
    'an error object in the middle of the reply',
    'degraded',
    send(event(delta(FIRST)) + event(rejected('Overloaded.')) + GOOD),
  ],
  [
    'error-event-once',
    'an error object in the middle of the reply, once',
    'completed',
    once(send(event(delta(FIRST)) + event(rejected('Overloaded.')))),
  ],
  [
    'error-event-after-finish',
    'an error object after the finish reason',
    'completed',
    send(TEXT + FINISH + event(rejected('Overloaded.'))),
  ],
  ['error-in-200', 'status 200 with an error object', 'degraded', json(rejected('No coffee.'))],
  [
    'prototype',
    'chunks with __proto__ and constructor',
    'completed',
    send(`data: {"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"choices":[]}\n\n${GOOD}`),
  ],
];

const all = bytesOf(IN_CHUNKS);
const splitRows: readonly Row[] = [
  ['split-bytes', 'one byte per packet', 'completed', splits(splitBytes(all, () => 1))],
  ['split-random', 'pieces of random sizes', 'completed', splits(splitBytes(all, seededSizes(7, 40)))],
  [
    'split-json',
    'a JSON answer, eight bytes per packet',
    'completed',
    inPieces(
      splitBytes(bytesOf(CHAT), () => 8),
      { 'content-type': 'application/json' },
    ),
  ],
  [
    'gzip-bytes',
    'a compressed reply, sixteen bytes per packet',
    'completed',
    inPieces(
      splitBytes(gzipSync(GOOD), () => 16),
      { ...SSE, 'content-encoding': 'gzip' },
    ),
  ],
  [
    'split-letters',
    'one letter of the reply per event',
    'completed',
    send([...JSON_REPLY].map((letter) => event(delta(letter))).join('') + FINISH + DONE),
  ],
];

const invalidText = (() => {
  const bytes = Buffer.from(GOOD);
  const at = bytes.indexOf('日');
  bytes.fill(0xff, at, at + 3);
  return bytes;
})();
const texts: readonly Row[] = [
  ['utf8-invalid', 'invalid UTF-8 in a string', 'completed', send(invalidText)],
  ['prose', 'prose without JSON', 'answered', reply('I would say that it is so. '.repeat(4))],
  ['fenced', 'JSON in a Markdown fence', 'completed', reply(`\`\`\`json\n${JSON_REPLY}\n\`\`\``)],
  [
    'thinking',
    'a <think> block with other JSON before the JSON',
    'completed',
    reply(`<think>{"a":1}</think>${JSON_REPLY}`),
  ],
  [
    'reasoning-only',
    'JSON in the reasoning only',
    'answered',
    send(event({ choices: [{ index: 0, delta: { reasoning: JSON_REPLY } }] }) + FINISH + DONE),
  ],
  ['json-broken', 'JSON with a trailing comma', 'answered', reply(`${JSON_REPLY.slice(0, -1)},}`)],
  ['json-truncated', 'JSON cut at the output limit', 'answered', reply(FIRST, 'length')],
  ['empty', 'an empty reply', 'degraded', reply('')],
  ['empty-once', 'an empty reply, once', 'completed', once(reply(''))],
  ['null-content', 'content that is null', 'degraded', reply(null)],
  [
    'refusal',
    'a refusal',
    'degraded',
    send(event({ choices: [{ index: 0, delta: { refusal: 'I cannot do that.' } }] }) + FINISH + DONE),
  ],
  ['content-filter', 'a reply stopped by the content filter', 'degraded', reply(FIRST, 'content_filter')],
  ['tool-unasked', 'a call of a tool that was not offered', 'degraded', tools(() => [[call('search', '{"q":"x"}')]])],
];

const protocols: readonly Row[] = [
  ['not-http', 'another protocol', 'degraded', raw('SSH-2.0-OpenSSH_9.6\r\n')],
  ['http-1.0', 'HTTP/1.0 without a length', 'completed', raw(`HTTP/1.0 200 OK\r\n\r\n${GOOD}`)],
  ['header-huge', 'a header of 1 MB', 'degraded', raw(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(1_000_000)}\r\n\r\n`)],
  [
    'chunk-size-invalid',
    'an invalid chunk size',
    'degraded',
    raw(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n${GOOD}`),
  ],
];

/** What never ends; each of them also runs with little memory. */
const endlessRows: readonly Row[] = [
  ['endless-500', 'an error body without an end', 'degraded', endless(letters, { status: 500 })],
  [
    'endless-json',
    'a JSON answer without an end',
    'degraded',
    endless(letters, { head: '{"choices":[{"message":{"content":"', headers: { 'content-type': 'application/json' } }),
  ],
  ['endless-spaces', 'white space without an end', 'degraded', endless(' \n')],
  [
    'endless-line',
    'a line without an end',
    'degraded',
    endless(letters, { head: 'data: {"choices":[{"delta":{"content":"' }),
  ],
  ['endless-event', 'an event of data lines without an end', 'degraded', endless(`data: ${letters}\n`)],
  ['endless-comments', 'comments without an end', 'degraded', endless(': ping\n\n')],
  ['endless-text', 'text without an end', 'degraded', endless(event(delta(letters)))],
  ['endless-brackets', 'brackets in the text without an end', 'degraded', endless(event(delta('[{'.repeat(500))))],
  [
    'endless-reasoning',
    'reasoning without an end',
    'degraded',
    endless(event({ choices: [{ index: 0, delta: { reasoning: letters } }] })),
  ],
  [
    'endless-tool',
    'the arguments of a call without an end',
    'degraded',
    endless(event({ choices: [{ index: 0, delta: { tool_calls: [call('x', letters)] } }] })),
  ],
  [
    'endless-tools',
    'new calls without an end',
    'degraded',
    async ({ response }) => {
      response.writeHead(200, SSE);
      for (let at = 0; !response.destroyed; at += 1) {
        if (
          !response.write(
            event({ choices: [{ index: 0, delta: { tool_calls: [call('x', '{}', { index: at, id: `c${at}` })] } }] }),
          )
        )
          await new Promise((next) => response.once('drain', next).once('close', next));
        if (at % 1_000 === 0) response.removeAllListeners('drain');
      }
    },
  ],
  [
    'endless-after-finish',
    'pings without an end after the finish reason',
    'completed',
    endless(': ping\n\n', { head: TEXT + FINISH }),
  ],
  ['endless-gzip', 'a small body that decompresses to 10 GB', 'degraded', endlessGzip],
  ['endless-headers', 'headers without an end', 'degraded', rawEndless('HTTP/1.1 200 OK\r\n', 'x: y\r\n')],
  [
    'wide-objects',
    'an event of millions of objects',
    'degraded',
    send(`data: {"choices":[],"x":[${'{},'.repeat(4_000_000)}0]}\n\n`),
  ],
];

/** Sends the members of a gzip stream, which are small, until the client closes the connection. */
function endlessGzip({ response }: Exchange): Promise<void> {
  response.writeHead(200, { ...SSE, 'content-encoding': 'gzip' });
  return writeEndlessly(response, gzipSync(': ping\n\n'.repeat(100_000)));
}

const modesOf = (rows: readonly Row[], more: Partial<FaultMode> = {}): FaultMode[] =>
  rows.map(([name, description, ending, respond]) => ({ name, description, ending, respond, ...more }));

/** The groups of modes, in the order of docs/reliability.md. */
export const GROUPS: Readonly<Record<string, readonly FaultMode[]>> = {
  'status codes and error bodies': modesOf(statuses),
  redirects: modesOf(redirects),
  'Retry-After': modesOf(waits),
  'hanging and slow': [...modesOf(hangs), ...modesOf(timed, { isTimed: true })],
  'broken connections': modesOf(cuts),
  'server-sent events': modesOf(events),
  'cut at each kind of byte': modesOf(splitRows),
  'text of the model': modesOf(texts),
  'below HTTP': modesOf(protocols),
  'without an end': modesOf(endlessRows, { endless: true }),
};

export const MODES: readonly FaultMode[] = Object.values(GROUPS).flat();
