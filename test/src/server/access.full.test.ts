import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { ALICE, collectUpdates, startServer } from '../../support/chain-server.ts';

const request = { request: 'Is it so?' };

async function errorOf(response: Response) {
  const { code, message } = (await response.json()) as { code: string; message: string };
  return { status: response.status, code, message };
}

/** Returns the status of an unauthorized request with this Host header. */
function statusFor(port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', reject).once('data', (bytes) => {
      socket.destroy();
      resolve(Number(bytes.toString().split(' ')[1]));
    });
    socket.write(`GET /runs HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  });
}

describe('the server', () => {
  it.each<[string, Record<string, string>, number]>([
    ['a page of another origin', { origin: 'https://evil.example' }, 403],
    ['a page of another port', { origin: 'http://127.0.0.1:1' }, 403],
    ['a sandboxed page', { origin: 'null' }, 403],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['plain text, which pages can send without a preflight', { 'content-type': 'text/plain;application/json' }, 415],
  ])('rejects %s', async (_, headers, status) => {
    const { post, get } = await startServer();
    const refused = await errorOf(await post('/runs', request, { headers }));
    expect(refused).toMatchObject({ status, code: expect.any(String) });
    expect(await (await get('/runs')).json()).toEqual({ runs: [] });
  });

  it.each(['evil.example', 'localhost.evil.example', '127.0.0.1.nip.io', 'localhost@evil.example', '[::2]', '0.0.0.0'])(
    'rejects the host name %s, rebound to this address',
    async (host) => {
      const { port } = await startServer();
      expect(await statusFor(port, host)).toBe(host.includes('@') ? 400 : 403);
    },
  );

  it.each(['localhost', 'LOCALHOST:8787', '127.0.0.1', '[::1]:80', 'chain.example'])(
    'asks for a token if the host name is %s',
    async (host) => {
      const { port } = await startServer({ hosts: ['chain.example'] });
      expect(await statusFor(port, host)).toBe(401);
    },
  );

  it('accepts its own page and given origins, also their questions whether they may call it', async () => {
    const origin = 'https://chat.example';
    const { url, post, get } = await startServer({ origins: [origin] });
    const accept = 'text/event-stream';
    for (const headers of [
      { origin: url, accept },
      { origin, accept },
    ]) {
      const updates = await collectUpdates(await post('/runs', request, { headers }));
      expect(updates.at(-1)?.update.type).toBe('answer');
    }
    const preflight = await get('/runs', {
      method: 'OPTIONS',
      token: null,
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' },
    });
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, origin]);
  });

  it.each<[string, Record<string, string>]>([
    ['no token', {}],
    ['another token', { authorization: 'Bearer wrong' }],
    ['a prefix of a token', { authorization: `Bearer ${ALICE.slice(0, -1)}` }],
    ['an empty token after Bearer', { authorization: 'Bearer ' }],
    ['another scheme', { authorization: `Basic ${ALICE}` }],
  ])('rejects %s, except for the health check', async (_, headers) => {
    const { post, get } = await startServer();
    for (const path of ['/runs', '/runs/some/events', '/nothing']) {
      const refused = await errorOf(await post(path, request, { headers, token: null }));
      expect(refused).toMatchObject({ status: 401, code: 'unauthorized' });
      expect(refused.message).not.toContain(ALICE);
    }
    expect(await (await get('/healthz', { token: null })).json()).toEqual({ status: 'ok', runs: 0, streams: 0 });
  });

  it('logs internal errors and does not send them to the caller', async () => {
    const lines: unknown[] = [];
    const newId = () => {
      throw new Error('no entropy for sk-secret');
    };
    const { post } = await startServer({ chain: { newId }, onLog: (line) => lines.push(line) });
    const response = await post('/runs', request);
    const body = await response.text();
    expect({ status: response.status, ...JSON.parse(body) }).toMatchObject({ status: 500, code: 'internal' });
    expect(body).not.toContain('sk-secret');
    expect(lines).toMatchObject([
      { level: 'error', owner: 'alice', error: { message: 'no entropy for sk-secret' } },
      { level: 'info', status: 500 },
    ]);
  });
});
