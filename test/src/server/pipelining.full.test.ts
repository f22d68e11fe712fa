import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { serve } from '@hono/node-server';
import { expect, it, onTestFinished } from 'vitest';
import type { ServerLogLine } from '../../../src/entries/server.ts';
import { ALICE, collectUpdates, startServer } from '../../support/chain-server.ts';

/** A client that requests a large run many times on one connection without reading the responses. */
async function pipelined(count: number) {
  const lines: ServerLogLine[] = [];
  const { server, direct, start } = await startServer({ onLog: (line) => lines.push(line) });
  const path = `/runs/${await start({ request: 'Is it so? '.repeat(90_000) })}`;
  await collectUpdates(await direct.get(`${path}/events`));
  const bytes = (await (await direct.get(path)).arrayBuffer()).byteLength;
  lines.length = 0;
  let received = 0;
  // A program may call the server several times for one request.
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

/** The most responses of 900 kB that the operating system buffers for one connection. */
const BUFFERED = 30;

it('answers pipelined requests only as fast as the client reads, and in the end all of them', async () => {
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

it('disconnects a client that pipelines too many requests, and stops answering', async () => {
  const { socket, received, answered } = await pipelined(1_000);
  await expect.poll(() => socket.destroyed).toBe(true);
  expect(received()).toBeGreaterThan(100);
  expect(answered()).toBeLessThan(BUFFERED);
});
