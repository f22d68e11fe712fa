import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { TASKS, type Task } from '../../machines/contracts/phase.ts';
import { replies } from '../../src/testing/replies.ts';

/** One request as the server got it, and the response to write to; `index` counts from 0. */
export interface Exchange {
  readonly index: number;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: ChatBody;
  readonly response: ServerResponse;
}

/** The members of a request for a reply, in either API, that tests look at. */
export interface ChatBody {
  readonly input?: readonly { readonly role: string; readonly content: string }[];
  readonly text?: { readonly format?: { readonly type: string; readonly strict?: boolean } };
  readonly store?: boolean;
  readonly model?: string;
  readonly messages?: readonly { readonly role: string; readonly content: string }[];
  readonly stream?: boolean;
  readonly stream_options?: unknown;
  readonly response_format?: {
    readonly type: string;
    readonly json_schema?: { readonly name: string; readonly schema: unknown; readonly strict: boolean };
  };
  readonly tools?: readonly {
    readonly type: string;
    readonly function: {
      readonly name: string;
      readonly description?: string;
      readonly parameters: unknown;
      readonly strict?: boolean;
    };
  }[];
  readonly tool_choice?: string | { readonly type: string; readonly function: { readonly name: string } };
  readonly temperature?: number;
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
}

export interface ChatServer {
  /** Up to and with `/v1`. */
  readonly baseURL: string;
  readonly exchanges: readonly Exchange[];
  /** How many connections carried a request so far, and how many of those are open now. */
  readonly used: () => { readonly ever: number; readonly open: number };
  /** Resolves when every connection that carried a request is closed. */
  readonly allClosed: () => Promise<void>;
  /** How many connections are open now: those, and what `fetch` opened and never used (nodejs/undici#5845). */
  readonly connections: () => Promise<number>;
  readonly stop: () => Promise<void>;
}

/** A real HTTP server on a free loopback port, stopped at the end of the test that started it. */
export async function chatServer(answer: (exchange: Exchange) => void | Promise<void>): Promise<ChatServer> {
  const server = await startChatServer(answer);
  onTestFinished(server.stop);
  return server;
}

/** The same server; the caller stops it. */
export async function startChatServer(answer: (exchange: Exchange) => void | Promise<void>): Promise<ChatServer> {
  const exchanges: Exchange[] = [];
  const closings = new Map<Socket, Promise<void>>();
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers, socket } = request;
    if (!closings.has(socket)) closings.set(socket, new Promise((closed) => socket.once('close', () => closed())));
    const bytes: Buffer[] = [];
    for await (const piece of request) bytes.push(piece);
    const body: ChatBody = bytes.length === 0 ? {} : JSON.parse(Buffer.concat(bytes).toString());
    const exchange = { index: exchanges.length, method, path, headers, body, response };
    exchanges.push(exchange);
    await answer(exchange);
  });
  server.on('connection', (socket: Socket) => socket.setNoDelay());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const stop = async (): Promise<void> => {
    if (!server.listening) return;
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    exchanges,
    used: () => ({ ever: closings.size, open: [...closings.keys()].filter(({ destroyed }) => !destroyed).length }),
    allClosed: async () => void (await Promise.all(closings.values())),
    connections: () =>
      new Promise((resolve, reject) => server.getConnections((error, n) => (error ? reject(error) : resolve(n)))),
    stop,
  };
}

/** One server-sent event with a JSON body. */
export function event(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/** A chunk of a chat completion: a delta and, perhaps, why it ends. */
export function chunk(delta: Readonly<Record<string, unknown>>, finishReason: string | null = null): object {
  return { object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finishReason }] };
}

/** A chunk with deltas of tool calls. */
export function toolChunk(...calls: readonly object[]): object {
  return chunk({ tool_calls: calls });
}

export const DONE = 'data: [DONE]\n\n';

/** A whole reply as the bytes of a well-behaved server: the text, `stop`, the usage, the end mark. */
export function completion(text: string, usage: object | null = { prompt_tokens: 7, completion_tokens: 3 }): string {
  const parts = [chunk({ role: 'assistant', content: '' }), chunk({ content: text }), chunk({}, 'stop')];
  const events = parts.map(event).join('');
  return `${events}${usage === null ? '' : event({ object: 'chat.completion.chunk', choices: [], usage })}${DONE}`;
}

/** One event of a response of the Responses API. */
export function responseEvent(type: string, members: Readonly<Record<string, unknown>> = {}): string {
  return `event: ${type}\n${event({ type, ...members })}`;
}

/** The last events of a response with this text, as OpenAI sends them: no end mark. */
export function responseOf(text: string, members: Readonly<Record<string, unknown>> = {}): string {
  const message = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] };
  const response = { object: 'response', status: 'completed', output: [message], ...members };
  return [
    responseEvent('response.created', { response: { object: 'response', status: 'in_progress', output: [] } }),
    responseEvent('response.output_text.delta', { output_index: 0, content_index: 0, delta: text }),
    responseEvent('response.output_text.done', { output_index: 0, content_index: 0, text }),
    responseEvent('response.output_item.done', { output_index: 0, item: message }),
    responseEvent('response.completed', { response }),
  ].join('');
}

/** Begins an event stream; what is written to `response` after it goes out at once. */
export function streaming(response: ServerResponse): ServerResponse {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' }).flushHeaders();
  return response;
}

/** Writes the same bytes again and again, as fast as they are read, until the connection closes. */
export function writeEndlessly(response: ServerResponse, bytes: string | Uint8Array): void {
  const block = Buffer.from(bytes);
  const blocks = Buffer.concat(Array.from({ length: Math.ceil(16_384 / block.length) }, () => block));
  const read = function (this: Readable): void {
    this.push(blocks);
  };
  pipeline(new Readable({ read }), response, () => {});
}

/** Answers with a status and a JSON body. */
export function respondWithJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/**
 * A server that rejects the requests for which `complaint` returns a status and a body. It replies to all others with a call of the last
 * tool that they offer, or with `text` if they offer none.
 */
export async function pickyServer(
  complaint: (body: ChatBody, index: number) => readonly [status: number, body: unknown] | null,
  text = '{}',
) {
  const server = await chatServer(({ body, index, response }) => {
    const refusal = complaint(body, index);
    const name = body.tools?.at(-1)?.function.name;
    const call = { index: 0, id: 'a', function: { name, arguments: '{"q":"x"}' } };
    if (refusal !== null) respondWithJson(response, ...refusal);
    else if (name === undefined) streaming(response).end(completion(text));
    else streaming(response).end(event(toolChunk(call)) + event(chunk({}, 'stop')));
  });
  return { baseURL: server.baseURL, bodies: () => server.exchanges.map(({ body }) => body) };
}

/** A server with every model, each of which gives a valid reply to every request. */
export const replyingServer = (): Promise<ChatServer> =>
  chatServer(({ method, body, response }) => {
    if (method === 'GET') response.end('{}');
    else streaming(response).end(completion(JSON.stringify(replyTo(body))));
  });

/** Watches the bodies that `inner` fetches, so that a server can wait until a piece was read before it sends the next one. */
export function trackedFetch(inner: typeof globalThis.fetch) {
  const waiting = new Map<number, () => void>();
  let pieces = 0;
  let bytes = 0;
  const counter = (): TransformStream<Uint8Array, Uint8Array> =>
    new TransformStream({
      transform(piece, controller) {
        pieces += 1;
        bytes += piece.length;
        controller.enqueue(piece);
        waiting.get(bytes)?.();
      },
    });
  return {
    fetch: async (input: string | URL | Request, init?: RequestInit) => {
      const { body, status, headers } = await inner(input, init);
      return new Response(body?.pipeThrough(counter()) ?? null, { status, headers });
    },
    /** How many pieces were read so far. */
    pieces: () => pieces,
    /** Resolves when this many bytes were read in all. */
    read: (wanted: number) =>
      new Promise<void>((resolve) => (bytes >= wanted ? resolve() : waiting.set(wanted, resolve))),
  };
}

/** Bytes cut into pieces of the sizes that `sizeOf` gives, one after the other. */
export function splitBytes(bytes: Uint8Array, sizeOf: () => number): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const piece = bytes.subarray(at, at + sizeOf());
    pieces.push(piece);
    at += piece.length;
  }
  return pieces;
}

/** Sizes from 1 to `most` that look random and are the same for the same seed. */
export function seededSizes(seed: number, most: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return 1 + Math.floor((state / 2 ** 32) * most);
  };
}

/** Returns the name of the prompt of a request, from the prompt's end, the name of its schema or, for a brief reply, its beginning. */
export function taskOf({ messages, input, response_format: format, text, tools }: ChatBody): Task | 'brief' {
  const prompt = JSON.stringify((messages ?? input)?.map(({ content }) => content) ?? []);
  const { name = tools?.[0]?.function.name } = (format?.json_schema ?? text?.format ?? {}) as {
    readonly name?: string;
  };
  const member = /Reply with the member \\"(.*?)\\" only\./u.exec(prompt)?.[1];
  const isBrief = prompt.includes('Answer the request in its language');
  return (
    [...TASKS, 'brief' as const].find((task) => task === member || name === `${task}_reply`) ??
    (isBrief ? 'brief' : 'action')
  );
}

/** Returns a valid reply to a request. */
export const replyTo = (body: ChatBody): object => replies[taskOf(body)];
