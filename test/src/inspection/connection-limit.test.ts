import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openPage, rawRequest, startInspector } from '../../support/inspection-server.ts';

/** Opens connections that send nothing, one after another. Returns them with their number of closed ones. */
async function silentConnections(url: string, count: number): Promise<Socket[]> {
  const { hostname, port } = new URL(url);
  const sockets: Socket[] = [];
  for (let at = 0; at < count; at += 1) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {});
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    sockets.push(socket);
  }
  return sockets;
}

describe('an inspection server with 256 silent connections', () => {
  it('serves the page', async () => {
    const { url } = await startInspector();
    await silentConnections(url, 256);
    expect((await rawRequest(url)).status).toBe(200);
  });

  it('closes the oldest one of them for each new connection', async () => {
    const { url } = await startInspector();
    const [oldest] = await silentConnections(url, 256);
    const closed = oldest === undefined ? null : once(oldest, 'close');
    await silentConnections(url, 1);
    await closed;
    expect(oldest?.destroyed).toBe(true);
  });

  it('keeps the connections of pages', async () => {
    const { url } = await startInspector();
    const page = await openPage(url);
    await silentConnections(url, 300);
    expect(page.socket.readyState).toBe(page.socket.OPEN);
  });
});
