import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { serve } from '@hono/node-server';
import { expect, it, onTestFinished } from 'vitest';
import type { ServerLogLine } from '../../../src/entries/server.ts';
import { ALICE, collectUpdates, startServer } from '../../support/chain-server.ts';

/** A run whose view is large, on a server that a client asks for it many times over one connection, without reading. */
async function pipelined(count: number) {
  const lines: ServerLogLine[] = [];
  const { server, direct, start } = await startServer({ onLog: (line) => lines.push(line) });
  const path = `/runs/${await start({ request: 'Is it so? '.repeat(90_000) })}`;
  await collectUpdates(await direct.get(`${path}/events`));
  const bytes = (await (await direct.get(path)).arrayBuffer()).byteLength;
  lines.length = 0;
  let received = 0;
  // A program may ask several times before it answers.
  const fetch: typeof server.fetch = async (request, bindings) => {
    received += 1;
    await server.fetch(new Request('http://localhost/nothing'), bindings);
    lines.length -= 1;
    return server.fetch(request, bindings);
  };
  const http = serve({ fetch, hostname: '127.0.0.1', port: 0 }) as HttpServer;
  await once(http, 'listening');
  const client = connect((http.address() as AddressInfo).port, '127.0.0.1').pause();
  client.on('error', () => {});
  const [socket] = await once(http, 'connection');
  onTestFinished(() => {
    client.destroy();
    http.close();
  });
  client.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${ALICE}\r\n\r\n`.repeat(count));
  return { client, socket, bytes, received: () => received, answered: () => lines.length };
}

/** What the operating system buffers of a connection, at most, in responses of 900 kB. */
const BUFFERED = 30;

it('answers the pipelined requests of a client that does not read only as it reads them, and then all', async () => {
  const { client, bytes, received, answered } = await pipelined(90);
  await expect.poll(received).toBe(90);
  await expect.poll(answered).toBeGreaterThan(0);
  expect([bytes > 900_000, answered() < BUFFERED]).toEqual([true, true]);
  let read = 0;
  client.on('data', (chunk: Buffer) => {
    read += chunk.length;
  });
  client.resume();
  await expect.poll(() => read, { timeout: 20_000 }).toBeGreaterThan(90 * bytes);
  expect(answered()).toBe(90);
});

it('disconnects a client that pipelines very many requests, and answers no more of them', async () => {
  const { socket, received, answered } = await pipelined(1_000);
  await expect.poll(() => socket.destroyed).toBe(true);
  expect(received()).toBeGreaterThan(100);
  expect(answered()).toBeLessThan(BUFFERED);
});
