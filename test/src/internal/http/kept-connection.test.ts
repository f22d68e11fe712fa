import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { platformFetch, repeatingFetch } from '../../../../src/internal/fetch-without-timeout.ts';

const REPLY = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: keep-alive\r\nkeep-alive: timeout=5\r\n\r\nok';

/** A server that answers one request on each connection, and resets it at the second. */
async function forgetfulServer() {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.once('data', () => {
      socket.write(REPLY);
      socket.once('data', () => socket.resetAndDestroy());
    });
    socket.on('error', () => {});
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, count: () => connections };
}

it('a request that may be repeated is sent again if the server has closed the kept connection', async () => {
  const { url, count } = await forgetfulServer();
  for (const expected of [1, 2, 3]) {
    expect(await (await repeatingFetch(url, { method: 'POST', body: 'hi' })).text()).toBe('ok');
    expect(count()).toBe(expected);
  }
});

it('a request that may act twice is not sent again', async () => {
  const { url } = await forgetfulServer();
  await (await platformFetch(url, { method: 'POST', body: 'hi' })).text();
  await expect(platformFetch(url, { method: 'POST', body: 'hi' })).rejects.toMatchObject({ code: 'ECONNRESET' });
});
