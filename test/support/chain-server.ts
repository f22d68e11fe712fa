import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { onTestFinished } from 'vitest';
import { memoryJournals } from '../../src/chain/journal/stores.ts';
import type { PostChainOptions } from '../../src/chain/runtime/options.ts';
import { createPostChain } from '../../src/entries/index.ts';
import { bearerTokens, createServer, type RunUpdate, type ServerOptions } from '../../src/entries/server.ts';
import { scriptedModel } from '../../src/models/scripted.ts';
import { replies } from '../../src/testing/replies.ts';

export const ALICE = 'token-of-alice';
export const BOB = 'token-of-bob';

/** Answers at once. */
const immediateModel = () => scriptedModel({}, { otherwise: replies });

export interface ServedOptions extends Partial<Omit<ServerOptions, 'chain'>> {
  readonly chain?: PostChainOptions;
}

/** Serves a chain on a free loopback port until the test ends, for the owners alice and bob. */
export async function startServer({ chain: options, ...given }: ServedOptions = {}) {
  const journals = given.journals ?? memoryJournals();
  const chain = createPostChain({ model: immediateModel(), journals, ...options });
  const authorize = bearerTokens({ [ALICE]: 'alice', [BOB]: 'bob' });
  const server = await createServer({ chain, journals, authorize, ...given });
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
  return { url, port, disconnect, chain, journals, server, close, ...clientOf(url) };
}

/** Requests with the token of alice, unless another one is given. */
export function clientOf(url: string) {
  const send = (path: string, { token = ALICE, ...init }: RequestInit & { readonly token?: string | null } = {}) =>
    fetch(`${url}${path}`, {
      ...init,
      headers: { ...(token !== null && { authorization: `Bearer ${token}` }), ...(init.headers as object) },
    });
  return {
    get: send,
    post: (path: string, body: unknown, init: RequestInit & { readonly token?: string | null } = {}) =>
      send(path, {
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
        ...init,
        headers: { 'content-type': 'application/json', ...(init.headers as object) },
      }),
  };
}

export interface ReceivedUpdate {
  readonly id: string | undefined;
  readonly update: RunUpdate;
}

/** Yields the updates of a stream as they arrive. */
export async function* updatesIn(response: Response): AsyncGenerator<ReceivedUpdate, void> {
  const events = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  for await (const { id, data } of events ?? []) yield { id, update: JSON.parse(data) };
}

export async function collectUpdates(response: Response): Promise<readonly ReceivedUpdate[]> {
  const updates: ReceivedUpdate[] = [];
  for await (const update of updatesIn(response)) updates.push(update);
  return updates;
}
