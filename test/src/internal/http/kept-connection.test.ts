import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { fetchWithoutTimeout } from '../../../../src/internal/fetch-without-timeout.ts';

const REPLY = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: keep-alive\r\nkeep-alive: timeout=5\r\n\r\nok';

it('a request on a connection that the server has closed after a reply is sent again on a new one', async () => {
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
  for (const expected of [1, 2, 3]) {
    expect(await (await fetchWithoutTimeout(url, { method: 'POST', body: 'hi' })).text()).toBe('ok');
    expect(connections).toBe(expected);
  }
});
