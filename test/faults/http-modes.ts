import { gzipSync } from 'node:zlib';
import { replies } from '../../src/testing/replies.ts';
import {
  chunk,
  DONE,
  type Exchange,
  event,
  respondWithJson,
  seededSizes,
  splitBytes,
  toolChunk,
  writeEndlessly,
} from '../support/chat-server.ts';

/**
 * How a run on a server with this fault ends. `completed`: with the model's answer. `degraded`: with an answer that says so. `answered`: with
 * either of the two, because the fault leaves a choice.
 */
type Ending = 'completed' | 'degraded' | 'answered';

type Respond = (exchange: Exchange) => unknown;

export interface FaultMode {
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
const delta = (content: unknown) => chunk({ content });
const half = Math.floor(JSON_REPLY.length / 2);
const [FIRST, SECOND] = [JSON_REPLY.slice(0, half), JSON_REPLY.slice(half)];
const TEXT = event(delta(FIRST)) + event(delta(SECOND));
const FINISH = event(chunk({}, 'stop'));
const USAGE = event({ choices: [], usage });
const GOOD = TEXT + FINISH + USAGE + DONE;
/** The same in many chunks, so that the first one arrives soon in pieces, too. */
const IN_CHUNKS = (JSON_REPLY.match(/.{1,60}/gsu) ?? []).map((part) => event(delta(part))).join('') + FINISH + DONE;
const CHAT = JSON.stringify({
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: JSON_REPLY }, finish_reason: 'stop' }],
  usage,
});

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
  (body: string): Respond =>
  ({ response }) => {
    response.writeHead(200, SSE).flushHeaders();
    response.write(body, () => setImmediate(() => response.destroy()));
  };

/** Sends a head, and then the same bytes until the client closes the connection. */
const endless =
  (bytes: string | Uint8Array, { head = '', headers = SSE as Headers, status = 200 } = {}): Respond =>
  ({ response }) => {
    response.writeHead(status, headers as Record<string, string>).write(head || '\n');
    writeEndlessly(response, bytes);
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

/** Sends a head, and then the same piece again and again with pauses. */
const drip =
  (piece: string, head = ''): Respond =>
  async (exchange) => {
    const { response } = exchange;
    hang(head)(exchange);
    while (!response.destroyed) {
      response.write(piece);
      await pause(20);
    }
  };

/** Writes to the socket itself, below HTTP. */
const raw =
  (text: string, { stays = false } = {}): Respond =>
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
const status =
  (code: number, body: unknown = rejected('No coffee.'), headers: Readonly<Record<string, string>> = {}): Respond =>
  ({ response }) =>
    respondWithJson(response, code, body, headers);
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
  send(event(delta(content)) + event(chunk({}, finish)) + DONE);
const bytesOf = (text: string) => new Uint8Array(Buffer.from(text));
const letters = 'x'.repeat(1_000);

const call = (name: string, args: string, index = 0) => ({
  index,
  id: `c${index}`,
  function: { name, arguments: args },
});

// The table: what the server does, how a run on it ends, and how the server does it.

type Row = readonly [description: string, ending: Ending, respond: Respond];

const statuses: readonly Row[] = [
  ...[400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504, 529].map(
    (code): Row => [`answers ${code} with an error object`, 'degraded', status(code)],
  ),
  ['200 with no body', 'degraded', send('')],
  ['204 without a body', 'degraded', ({ response }) => response.writeHead(204).end()],
  [
    '502 with a page of a proxy',
    'degraded',
    send('<html><h1>502 Bad Gateway</h1></html>', { 'content-type': 'text/html' }, 502),
  ],
  ['500 with an empty body', 'degraded', send('', {}, 500)],
  ['500 with the error in "detail" (FastAPI)', 'degraded', status(500, { detail: 'Boom.' })],
  ['500 with the error as a string', 'degraded', status(500, { error: 'Boom.' })],
  [
    '500 with an error of 10,000 nested objects',
    'degraded',
    send(`${'{"error":'.repeat(10_000)}1${'}'.repeat(10_000)}`, {}, 500),
  ],
  ['500 with a text that makes naive patterns slow', 'degraded', status(500, rejected('cannot use '.repeat(8_000)))],
  [
    '500 with a compressed body',
    'degraded',
    send(gzipSync('{"error":{"message":"Boom."}}'), { 'content-encoding': 'gzip' }, 500),
  ],
  ['500 whose body does not end', 'degraded', hang('{"error":', {}, 500)],
  [
    '500 whose body is cut off',
    'degraded',
    ({ response }) => response.writeHead(500).write('{"err', () => response.destroy()),
  ],
  ['500 once', 'completed', once(status(500))],
  ['429 insufficient_quota', 'degraded', status(429, rejected('No money.', { code: 'insufficient_quota' }))],
  ['400 context_length_exceeded', 'degraded', status(400, rejected('Too long.', { code: 'context_length_exceeded' }))],
  [
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
    `redirects to another host with ${code}, which must not receive the key`,
    'degraded',
    ({ response }) => response.writeHead(code, { location: 'http://127.0.0.1:1/v1/chat/completions' }).end(),
  ],
);

const waits: readonly Row[] = [
  [
    '429 once, Retry-After with a date in the past',
    'completed',
    once(busy({ 'retry-after': 'Sun, 01 Mar 2020 12:00:00 GMT' })),
  ],
  ['429, Retry-After: 3600, longer than the time left', 'degraded', busy({ 'retry-after': '3600' })],
  [
    '503, Retry-After with a date in 2999',
    'degraded',
    status(503, rejected('Later.'), { 'retry-after': 'Tue, 01 Jan 2999 12:00:00 GMT' }),
  ],
  ['429 always, Retry-After: 0', 'degraded', busy({ 'retry-after': '0' })],
];

const hangs: readonly Row[] = [
  ['accepts the request and sends nothing', 'degraded', () => {}],
  ['stops within the headers', 'degraded', raw('HTTP/1.1 200 OK\r\ncontent-type: text/ev', { stays: true })],
  ['stops after the headers', 'degraded', hang('')],
  ['stops within a line', 'degraded', hang('data: {"choices":[{"del')],
  ['stops in the middle of the reply', 'degraded', hang(event(delta(FIRST)))],
  ['stops after the text, without an end mark', 'degraded', hang(TEXT)],
  ['keeps the connection open after the finish reason', 'completed', hang(TEXT + FINISH)],
  ['keeps the connection open after [DONE]', 'completed', hang(GOOD)],
  ['keeps the connection open after [DONE]; no finish reason', 'completed', hang(TEXT + DONE)],
  ['keeps the connection open after a JSON answer', 'completed', hang(CHAT, { 'content-type': 'application/json' })],
  [
    'stops within a compressed reply',
    'degraded',
    hang(gzipSync(GOOD).subarray(0, 40), { ...SSE, 'content-encoding': 'gzip' }),
  ],
  ['sends keep-alive comments and no reply', 'degraded', drip(': ping\n\n')],
  ['sends keep-alive comments after the finish reason', 'completed', drip(': ping\n\n', TEXT + FINISH)],
  ['sends empty chunks and no reply', 'degraded', drip(event(delta('')))],
  ['sends one letter after the other, without JSON', 'degraded', drip(event(delta('x')))],
  ['reasons without an end', 'degraded', drip(event(chunk({ reasoning: 'hm ' })))],
  [
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
const timed: readonly Row[] = [['sends nothing, once', 'completed', once(() => {})]];

const cuts: readonly Row[] = [
  ['closes the connection without an answer', 'degraded', ({ response }) => response.destroy()],
  ['closes the connection without an answer, once', 'completed', once(({ response }) => response.destroy())],
  ['resets the connection (RST)', 'degraded', ({ response }) => response.socket?.resetAndDestroy()],
  [
    'resets the connection in the middle of the reply',
    'degraded',
    ({ response }) =>
      response
        .writeHead(200, SSE)
        .write(event(delta(FIRST)), () => setImmediate(() => response.socket?.resetAndDestroy())),
  ],
  ['closes within the headers', 'degraded', raw('HTTP/1.1 200 OK\r\ncontent-ty')],
  ['closes in the middle of the reply', 'degraded', cut(event(delta(FIRST)))],
  ['closes in the middle of the reply, once', 'completed', once(cut(event(delta(FIRST))))],
  ['closes after the text, without an end mark', 'degraded', cut(TEXT)],
  ['closes after the finish reason', 'completed', cut(TEXT + FINISH)],
  ['closes after [DONE] without the end of the body', 'completed', cut(GOOD)],
  ['ends the body properly in the middle of the reply', 'degraded', send(event(delta(FIRST)))],
  ['ends the body properly without an end mark', 'degraded', send(TEXT)],
  [
    'announces more bytes than it sends, and closes',
    'completed',
    ({ response }) => {
      response.writeHead(200, { ...SSE, 'content-length': '99999' });
      response.write(GOOD, () => response.destroy());
    },
  ],
  [
    'announces fewer bytes than the reply has',
    'degraded',
    raw(`HTTP/1.1 200 OK\r\ncontent-length: 100\r\nconnection: close\r\n\r\n${GOOD}`),
  ],
  ['closes the connection after each reply', 'completed', send(GOOD, { ...SSE, connection: 'close' })],
];

const events: readonly Row[] = [
  ['a good reply', 'completed', good],
  ['no [DONE]', 'completed', send(TEXT + FINISH)],
  ['no finish reason', 'completed', send(TEXT + DONE)],
  ['a byte order mark', 'completed', send(`\ufeff${GOOD}`)],
  ['events that are null', 'completed', send(GOOD.replaceAll('data: ', 'data: null\n\ndata: '))],
  ['nothing but [DONE]', 'degraded', send(DONE)],
  ['an event that is not JSON', 'degraded', send(`data: {"choices":[\n\n${GOOD}`)],
  ['an event that is not JSON, once', 'completed', once(send(`data: {"choices":[\n\n${GOOD}`))],
  ['"content" is a number', 'degraded', send(event(delta(42)) + GOOD)],
  [
    'an error object in the middle of the reply',
    'degraded',
    send(event(delta(FIRST)) + event(rejected('Overloaded.')) + GOOD),
  ],
  [
    'an error object in the middle of the reply, once',
    'completed',
    once(send(event(delta(FIRST)) + event(rejected('Overloaded.')))),
  ],
  ['an error object after the finish reason', 'completed', send(TEXT + FINISH + event(rejected('Overloaded.')))],
  ['status 200 with an error object', 'degraded', status(200, rejected('No coffee.'))],
  [
    'chunks with __proto__ and constructor',
    'completed',
    send(`data: {"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"choices":[]}\n\n${GOOD}`),
  ],
];

const all = bytesOf(IN_CHUNKS);
const splitRows: readonly Row[] = [
  ['one byte per packet', 'completed', inPieces(splitBytes(all, () => 1))],
  ['pieces of random sizes', 'completed', inPieces(splitBytes(all, seededSizes(7, 40)))],
  [
    'a JSON answer, eight bytes per packet',
    'completed',
    inPieces(
      splitBytes(bytesOf(CHAT), () => 8),
      { 'content-type': 'application/json' },
    ),
  ],
  [
    'a compressed reply, sixteen bytes per packet',
    'completed',
    inPieces(
      splitBytes(gzipSync(GOOD), () => 16),
      { ...SSE, 'content-encoding': 'gzip' },
    ),
  ],
  [
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
  ['invalid UTF-8 in a string', 'completed', send(invalidText)],
  ['prose without JSON', 'answered', reply('I would say that it is so. '.repeat(4))],
  ['JSON in a Markdown fence', 'completed', reply(`\`\`\`json\n${JSON_REPLY}\n\`\`\``)],
  ['a <think> block with other JSON before the JSON', 'completed', reply(`<think>{"a":1}</think>${JSON_REPLY}`)],
  ['JSON in the reasoning only', 'answered', send(event(chunk({ reasoning: JSON_REPLY })) + FINISH + DONE)],
  ['JSON with a trailing comma', 'answered', reply(`${JSON_REPLY.slice(0, -1)},}`)],
  ['JSON cut at the output limit', 'answered', reply(FIRST, 'length')],
  ['an empty reply', 'degraded', reply('')],
  ['an empty reply, once', 'completed', once(reply(''))],
  ['content that is null', 'degraded', reply(null)],
  ['a refusal', 'degraded', send(event(chunk({ refusal: 'I cannot do that.' })) + FINISH + DONE)],
  ['a reply stopped by the content filter', 'degraded', reply(FIRST, 'content_filter')],
  [
    'a call of a tool that was not offered',
    'degraded',
    send(event(toolChunk(call('search', '{"q":"x"}'))) + event(chunk({}, 'tool_calls')) + DONE),
  ],
];

const protocols: readonly Row[] = [
  ['another protocol', 'degraded', raw('SSH-2.0-OpenSSH_9.6\r\n')],
  ['HTTP/1.0 without a length', 'completed', raw(`HTTP/1.0 200 OK\r\n\r\n${GOOD}`)],
  ['a header of 1 MB', 'degraded', raw(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(1_000_000)}\r\n\r\n`)],
  ['an invalid chunk size', 'degraded', raw(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n${GOOD}`)],
];

/** What never ends; each of them also runs with little memory. */
const endlessRows: readonly Row[] = [
  ['an error body without an end', 'degraded', endless(letters, { status: 500 })],
  [
    'a JSON answer without an end',
    'degraded',
    endless(letters, { head: '{"choices":[{"message":{"content":"', headers: { 'content-type': 'application/json' } }),
  ],
  ['white space without an end', 'degraded', endless(' \n')],
  ['a line without an end', 'degraded', endless(letters, { head: 'data: {"choices":[{"delta":{"content":"' })],
  ['an event of data lines without an end', 'degraded', endless(`data: ${letters}\n`)],
  ['comments without an end', 'degraded', endless(': ping\n\n')],
  ['text without an end', 'degraded', endless(event(delta(letters)))],
  ['brackets in the text without an end', 'degraded', endless(event(delta('[{'.repeat(500))))],
  ['reasoning without an end', 'degraded', endless(event(chunk({ reasoning: letters })))],
  ['the arguments of a call without an end', 'degraded', endless(event(toolChunk(call('x', letters))))],
  [
    'new calls without an end',
    'degraded',
    async ({ response }) => {
      response.writeHead(200, SSE);
      for (let at = 0; !response.destroyed; at += 1) {
        if (!response.write(event(toolChunk(call('x', '{}', at)))))
          await new Promise((next) => response.once('drain', next).once('close', next));
        if (at % 1_000 === 0) response.removeAllListeners('drain');
      }
    },
  ],
  ['pings without an end after the finish reason', 'completed', endless(': ping\n\n', { head: TEXT + FINISH })],
  ['a small body that decompresses to 10 GB', 'degraded', endlessGzip],
  ['headers without an end', 'degraded', rawEndless('HTTP/1.1 200 OK\r\n', 'x: y\r\n')],
  ['an event of millions of objects', 'degraded', send(`data: {"choices":[],"x":[${'{},'.repeat(4_000_000)}0]}\n\n`)],
];

/** Sends the members of a gzip stream, which are small, until the client closes the connection. */
function endlessGzip({ response }: Exchange): void {
  response.writeHead(200, { ...SSE, 'content-encoding': 'gzip' });
  writeEndlessly(response, gzipSync(': ping\n\n'.repeat(100_000)));
}

const modesOf = (rows: readonly Row[], more: Partial<FaultMode> = {}): FaultMode[] =>
  rows.map(([description, ending, respond]) => ({ description, ending, respond, ...more }));

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
