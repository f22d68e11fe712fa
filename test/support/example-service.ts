import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { serve } from '@hono/node-server';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { onTestFinished } from 'vitest';
import { createApp, type ServiceOptions } from '../../examples/service/app.ts';
import type { PostChainOptions } from '../../src/chain/runtime/options.ts';
import type { Run } from '../../src/chain/runtime/run.ts';
import type { RunOptions } from '../../src/chain/runtime/run-options.ts';
import { createPostChain } from '../../src/entries/index.ts';
import { scriptedModel } from '../../src/models/scripted.ts';
import { replies } from '../../src/testing/replies.ts';

/** Answers immediately. */
export const immediateModel = () => scriptedModel({}, { otherwise: replies });
/** Never gets past Intention. */
export const hangingModel = () => scriptedModel({ intention: [{ hang: true }] }, { otherwise: replies });
export const request = { request: 'Is it so?' };
export const json = { 'content-type': 'application/json' };

export interface ServerSentEvent {
  readonly event: string | undefined;
  readonly id: string | undefined;
  readonly data: { readonly type?: string; readonly [member: string]: unknown };
}

/** Starts the example service on a free loopback port until the test ends. `runs` are the runs it started, `asked` their options. */
export async function startService(chainOptions: PostChainOptions, options: ServiceOptions = {}) {
  const runs: Run[] = [];
  const asked: RunOptions[] = [];
  const chain = createPostChain({ consent: 'ask', profile: 'thorough', ...chainOptions });
  const run = (given: RunOptions): Run => {
    asked.push(given);
    const started = chain.run(given);
    runs.push(started);
    return started;
  };
  const server = serve({ fetch: createApp({ run }, options).fetch, hostname: '127.0.0.1', port: 0 }) as Server;
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const post = (path: string, body: unknown, init: RequestInit = {}): Promise<Response> =>
    fetch(`${url}${path}`, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...init,
      headers: { 'content-type': 'application/json', ...init.headers },
    });
  const health = async () => (await fetch(`${url}/healthz`)).json() as Promise<{ status: string; runs: number }>;
  return { url, port, server, runs, asked, post, health };
}

/** Yields the events of a response as they arrive. */
export async function* eventsOf(response: Response): AsyncGenerator<ServerSentEvent> {
  if (response.body === null) throw new Error('the response has no body');
  const events = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  for await (const { event, id, data } of events as unknown as AsyncIterable<{
    event?: string;
    id?: string;
    data: string;
  }>)
    yield { event, id, data: JSON.parse(data) as ServerSentEvent['data'] };
}

export async function collectEvents(response: Response): Promise<ServerSentEvent[]> {
  const all: ServerSentEvent[] = [];
  for await (const event of eventsOf(response)) all.push(event);
  return all;
}

/** Reads until an event matches; the stream stays open. */
export async function waitForEvent(
  events: AsyncGenerator<ServerSentEvent>,
  matches: (event: ServerSentEvent) => boolean,
): Promise<ServerSentEvent> {
  for (;;) {
    const { done, value } = await events.next();
    if (done) throw new Error('the stream ended before a matching event');
    if (matches(value)) return value;
  }
}

export async function errorOf(response: Response) {
  const { code, message } = (await response.json()) as { code: string; message: string };
  return { status: response.status, code, message };
}

/** Sends a request and never reads the response. */
export async function requestWithoutReading(port: number, body: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').pause();
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await new Promise((sent) => socket.write(rawPost('/runs', body), sent));
  return socket;
}

export function rawPost(path: string, body: string, host = '127.0.0.1'): string {
  const lines = [`POST ${path} HTTP/1.1`, `Host: ${host}`, 'Content-Type: application/json'];
  return [...lines, `Content-Length: ${Buffer.byteLength(body)}`, '', body].join('\r\n');
}

export function statusOf(port: number, request: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', reject).once('data', (bytes) => {
      socket.destroy();
      resolve(Number(bytes.toString().split(' ')[1]));
    });
    socket.write(request);
  });
}

export function connectionsOf(server: {
  getConnections(callback: (error: Error | null, count: number) => void): void;
}) {
  return new Promise<number>((resolve, reject) =>
    server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );
}
