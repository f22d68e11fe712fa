import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { serve } from '@hono/node-server';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { onTestFinished } from 'vitest';
import * as z from 'zod';
import type { PostChainOptions } from '../../src/chain/runtime/options.ts';
import { memoryJournals } from '../../src/durable/journals/memory-journals.ts';
import type { Journals } from '../../src/entries/durable.ts';
import { createPostChain, defineCapability } from '../../src/entries/index.ts';
import { bearerTokens, createServer, type RunUpdate, type ServerOptions } from '../../src/entries/server.ts';
import { scriptedModel } from '../../src/models/scripted.ts';
import { replies } from '../../src/testing/replies.ts';

export const ALICE = 'the-token-of-alice';
export const BOB = 'the-token-of-bob';

/** Answers at once. */
const immediateModel = () => scriptedModel({}, { otherwise: replies });

export interface ServedOptions extends Partial<Omit<ServerOptions, 'chain'>> {
  readonly chain?: PostChainOptions;
}

/** A chain whose Action wants to refund orders, each of which needs approval, and the orders that were refunded. */
export function refunds(...orders: readonly string[]) {
  const refunded: string[] = [];
  const refund = defineCapability({
    name: 'refund',
    description: 'Refunds an order.',
    arguments: z.object({ order: z.string() }),
    approval: 'always',
    execute({ order }) {
      refunded.push(order);
      return `Refunded ${order}.`;
    },
  });
  const calls = orders.map((order) => ({ capability: 'refund', arguments: JSON.stringify({ order }) }));
  const wanting = { ...replies, action: { ...replies.action, calls } };
  const model = scriptedModel({}, { otherwise: wanting, chunkChars: 4 });
  return { refunded, chain: { model, capabilities: [refund] } };
}

/** Serves a chain on a free loopback port until the test ends, for the owners alice and bob. */
export async function startServer({ chain: options, ...given }: ServedOptions = {}) {
  const journals = options?.journals ?? memoryJournals();
  const chain = createPostChain({ model: immediateModel(), ...options, journals });
  return { chain, journals, ...(await serveUntilEnd({ chain, ...given })) };
}

/** Serves on a free loopback port until the test ends, for the owners alice and bob. */
export async function serveUntilEnd(options: Omit<ServerOptions, 'authorize'> & Partial<ServerOptions>) {
  const server = await createServer({ authorize: bearerTokens({ [ALICE]: 'alice', [BOB]: 'bob' }), ...options });
  const http = serve({ fetch: server.fetch, hostname: '127.0.0.1', port: 0 }) as HttpServer;
  await once(http, 'listening');
  const { port } = http.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const close = async (): Promise<void> => {
    await server.close();
    http.closeAllConnections();
    if (http.listening) await new Promise((resolve) => http.close(resolve));
  };
  onTestFinished(close);
  /** Closes the connections of all clients, which may connect again. */
  const disconnect = (): void => http.closeAllConnections();
  /** Requests without a connection: they reach the server at once, in order. */
  const direct = clientOf('http://localhost', (path, init) => server.fetch(new Request(path, init)));
  return { url, port, disconnect, server, close, direct, ...clientOf(url) };
}

/** Requests with the token of alice, unless another one is given. */
export function clientOf(url: string, fetch: typeof globalThis.fetch = globalThis.fetch) {
  const send = (path: string, { token = ALICE, ...init }: RequestInit & { readonly token?: string | null } = {}) =>
    fetch(`${url}${path}`, {
      ...init,
      headers: { ...(token !== null && { authorization: `Bearer ${token}` }), ...(init.headers as object) },
    });
  const post = (path: string, body: unknown, init: RequestInit & { readonly token?: string | null } = {}) =>
    send(path, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...init,
      headers: { 'content-type': 'application/json', ...(init.headers as object) },
    });
  return {
    get: send,
    post,
    /** Starts a run and resolves with its id. */
    start: async (body: object = { request: 'Is it so?' }): Promise<string> =>
      ((await (await post('/runs', body)).json()) as { runId: string }).runId,
    health: async () => (await (await send('/healthz')).json()) as { status: string; runs: number; streams: number },
  };
}

/** Yields the events of a stream as they arrive. */
export async function* eventsIn({ body }: Response) {
  yield* body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream()) ?? [];
}

export interface ReceivedUpdate {
  readonly id: string | undefined;
  readonly update: RunUpdate;
}

/** Yields the updates of a stream as they arrive. */
export async function* updatesIn(response: Response): AsyncGenerator<ReceivedUpdate, void> {
  for await (const { id, data } of eventsIn(response)) yield { id, update: JSON.parse(data) };
}

export async function collectUpdates(response: Response): Promise<readonly ReceivedUpdate[]> {
  const updates: ReceivedUpdate[] = [];
  for await (const update of updatesIn(response)) updates.push(update);
  return updates;
}

/** Returns journals whose entries reach each reader one at a time. */
export function oneAtATime(journals: Journals): Journals {
  return {
    ...journals,
    async *follow(id, options) {
      for await (const entry of journals.follow(id, options)) {
        yield entry;
        await setImmediate();
        await setImmediate();
      }
    },
  };
}
