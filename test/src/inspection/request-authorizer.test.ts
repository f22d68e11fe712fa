import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { builtPage, openPage, rawRequest, startInspector } from '../../support/inspection-server.ts';

const UPGRADE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

describe('the inspector page', () => {
  it('is served under the token path with a restrictive content security policy', async () => {
    const { url } = await startInspector();
    const { host } = new URL(url);
    const { status, headers, body } = await rawRequest(url);
    expect({ status, body }).toEqual({ status: 200, body: '<!doctype html><title>The page</title>' });
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'x-frame-options': 'DENY',
      'content-security-policy': `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; worker-src 'self'; connect-src 'self' ws://${host}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    });
    const script = await rawRequest(`${url}assets/page-1a2b.js`);
    expect([script.status, script.headers['content-type']]).toEqual([200, 'text/javascript; charset=utf-8']);
  });

  it('answers HEAD without a body and redirects from the path without a slash', async () => {
    const { url } = await startInspector();
    const head = await rawRequest(url, { method: 'HEAD' });
    expect([head.status, head.headers['content-length'], head.body]).toEqual([200, '38', '']);
    const { status, headers } = await rawRequest(url, { path: new URL(url).pathname.slice(0, -1) });
    expect([status, headers.location]).toEqual([308, new URL(url).pathname]);
  });

  it('explains how to build it when it is not built', async () => {
    const page = builtPage();
    rmSync(join(page, 'index.html'));
    const { status, body } = await rawRequest((await startInspector({ page })).url);
    expect(status).toBe(503);
    expect(body).toBe('The inspector page is not built; run: npm run build\n');
  });
});

describe('a server with a token of its own', () => {
  const token = 't'.repeat(43);

  it('serves its fixed path only with the token', async () => {
    const { url } = await startInspector({ token });
    expect(new URL(url).pathname).toBe(`/${token}/`);
    for (const path of ['/', '/assets/page-1a2b.js']) expect((await rawRequest(url, { path })).status).toBe(404);
  });

  it('rejects a token that is easy to guess', async () => {
    await expect(startInspector({ token: 'short' })).rejects.toThrow(
      /token: expected 32 to 128 characters of base64url/u,
    );
  });
});

describe('rejected requests', () => {
  it.each([
    ['a missing token', '/'],
    ['a wrong token', `/${'A'.repeat(32)}/`],
    ['a token that is too long', `/${'A'.repeat(4_000)}/`],
    ['an absolute URL as path', 'http://127.0.0.1/'],
  ])('for %s get 404', async (_, path) => {
    const { url } = await startInspector();
    const { status, body, headers } = await rawRequest(url, { path });
    expect({ status, body }).toEqual({
      status: 404,
      body: expect.stringMatching(/^This address is not valid\. .*\n$/u),
    });
    expect(headers['x-content-type-options']).toBe('nosniff');
  });

  it.each([
    '../outside.js',
    '..%2foutside.js',
    '%2e%2e/outside.js',
    'assets/../../outside.js',
    'assets/..%5c..%5coutside.js',
    '/outside.js',
    '.hidden.js',
    '%2ehidden.js',
    'index.html%00.js',
    'assets',
    'assets/',
    'nothing.js',
    'index.htm',
  ])('for the path %s get 404', async (path) => {
    const { url } = await startInspector();
    const { status, body } = await rawRequest(url, { path: `${new URL(url).pathname}${path}` });
    expect({ status, body }).toEqual({ status: 404, body: 'Not found.\n' });
  });

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('with the method %s get 405', async (method) => {
    const { url } = await startInspector();
    const { status, body, headers } = await rawRequest(url, { method });
    expect({ status, body }).toEqual({ status: 405, body: 'Method not allowed; use GET or HEAD.\n' });
    expect(headers.allow).toBe('GET, HEAD');
  });

  it('include a foreign Host header, as sent after DNS rebinding', async () => {
    const { url } = await startInspector();
    const { host, port } = new URL(url);
    const statusFor = async (name: string, headers = {}) =>
      (await rawRequest(url, { headers: { host: name, ...headers } })).status;
    for (const name of [host, `localhost:${port}`, `[::1]:${port}`]) expect(await statusFor(name)).toBe(200);
    for (const name of ['evil.example', `evil.example:${port}`, 'localhost', '127.0.0.1', `localhost.evil:${port}`])
      expect(await statusFor(name), name).toBe(403);
  });

  it('include a socket from the page of another origin; programs and the own page are accepted', async () => {
    const { url } = await startInspector();
    const { host, port } = new URL(url);
    const opened = async (headers: Record<string, string>, path = 'socket') =>
      (await rawRequest(`${url}${path}`, { headers: { ...UPGRADE, ...headers } })).status;
    expect(await opened({})).toBe(101);
    expect(await opened({ origin: `http://${host}` })).toBe(101);
    expect(await opened({ host: `localhost:${port}`, origin: `http://localhost:${port}` })).toBe(101);
    for (const origin of ['http://evil.example', 'null', `https://${host}`, `http://localhost:${port}`, ''])
      expect(await opened({ origin }), origin).toBe(403);
    expect(await opened({ host: 'evil.example', origin: 'http://evil.example' })).toBe(403);
    for (const path of ['', 'sockets', 'constructor', 'socket/', '__proto__']) expect(await opened({}, path)).toBe(404);
    const elsewhere = await rawRequest(url, { path: '/socket', headers: UPGRADE });
    expect([elsewhere.status, elsewhere.body]).toEqual([404, expect.stringMatching(/^This address is not valid\./u)]);
  });

  it('include bytes that are not HTTP', async () => {
    const { url } = await startInspector();
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write('\u0016\u0003\u0001 this is no HTTP\r\n\r\n');
    const [answer] = await once(socket.setEncoding('utf8'), 'data');
    expect(answer).toMatch(/^HTTP\/1\.1 400/u);
    expect((await rawRequest(url)).status).toBe(200);
  });

  it('include a seventeenth page', async () => {
    const { url } = await startInspector();
    const pages = await Promise.all(Array.from({ length: 16 }, () => openPage(url)));
    const one = await rawRequest(`${url}socket`, { headers: UPGRADE });
    expect([one.status, one.body]).toEqual([503, 'Too many connections (at most 16); close one first.\n']);
    pages[0]?.socket.close();
    await pages[0]?.closed;
    await expect.poll(async () => (await rawRequest(`${url}socket`, { headers: UPGRADE })).status).toBe(101);
  });
});

describe('an invalid message from a page', () => {
  it.each([
    ['invalid JSON', 'what'],
    ['not an object', '3'],
    ['an unknown type', '{"type":"hello"}'],
    ['an invalid number', '{"type":"open","runId":"a","from":-1}'],
    ['no run id', '{"type":"open","from":0}'],
    ['an endless run id', JSON.stringify({ type: 'close', runId: 'a'.repeat(5_000) })],
    ['bytes', new Uint8Array([1, 2, 3])],
  ])('closes only its own socket: %s', async (_, message) => {
    const { url } = await startInspector();
    const [page, other] = await Promise.all([openPage(url), openPage(url)]);
    page.socket.send(message);
    expect(await page.closed).toEqual({ code: 1008, reason: 'Invalid message.' });
    other.say({ type: 'open', runId: 'nothing', from: 0 });
    expect(await other.end('nothing')).toMatchObject({ problem: 'There is no run "nothing".' });
  });

  it('closes its socket if it is too long', async () => {
    const { url } = await startInspector();
    const page = await openPage(url);
    page.socket.send(JSON.stringify({ type: 'send', id: 1, runId: 'a', event: 'x'.repeat(70_000) }));
    expect((await page.closed).code).toBe(1009);
    expect((await rawRequest(url)).status).toBe(200);
  });
});

describe('the inspection server', () => {
  it('listens only on the loopback interface, with a unique token', async () => {
    const [one, other] = await Promise.all([startInspector(), startInspector()]);
    expect(one.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}\/$/u);
    expect(new URL(one.url).pathname).not.toBe(new URL(other.url).pathname);
    const own = Object.values(networkInterfaces()).flatMap(
      (all) => all?.filter(({ family }) => family === 'IPv4') ?? [],
    );
    const addresses = own.map(({ address }) => address).filter((address) => address !== '127.0.0.1');
    // On Linux, the loopback interface has many addresses regardless of the network.
    if (process.platform === 'linux') addresses.push('127.0.0.2');
    for (const address of addresses)
      await expect(once(connect(Number(new URL(one.url).port), address), 'connect'), address).rejects.toThrow(
        'ECONNREFUSED',
      );
  });

  it('rejects an invalid option by name and reports a port in use', async () => {
    const { url } = await startInspector();
    const { port } = new URL(url);
    await expect(startInspector({ port: Number(port) })).rejects.toMatchObject({
      code: 'invalid_option',
      message: `port: ${port} is in use; use another port, or 0 for any free one.`,
    });
    await expect(startInspector({ port: 70_000 })).rejects.toMatchObject({
      code: 'invalid_option',
      message: 'port: expected an integer from 0 to 65535; received 70000.',
    });
    await expect(startInspector({ journals: 'runs' as never })).rejects.toMatchObject({ code: 'invalid_option' });
    await expect(startInspector({ ports: 1 } as never)).rejects.toThrow('ports: unknown option');
  });

  it('closes all connections, and can be closed twice', async () => {
    const server = await startInspector();
    const page = await openPage(server.url);
    const idle = connect(Number(new URL(server.url).port), '127.0.0.1');
    await once(idle, 'connect');
    const gone = once(idle, 'close');
    await Promise.all([server.close(), server.close()]);
    expect((await page.closed).code).toBe(1001);
    await gone;
    await expect(rawRequest(server.url)).rejects.toThrow('ECONNREFUSED');
  });

  it('closes without waiting for an unresponsive page', async () => {
    const server = await startInspector();
    const page = await openPage(server.url);
    page.socket.pause();
    await server.close();
    await expect(rawRequest(server.url)).rejects.toThrow('ECONNREFUSED');
    expect(page.socket.readyState).toBe(WebSocket.OPEN);
  });
});
