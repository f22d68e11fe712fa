import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { platformFetch, proxyFor } from '../../../../src/internal/fetch-without-timeout.ts';
import { openaiModel } from '../../../../src/models/openai/openai-model.ts';
import { chatServer, completion, respondWithJson, streaming } from '../../../support/chat-server.ts';
import { anError } from '../../../support/errors.ts';
import { failureFrom, modelRequest, partsOf, textOf } from '../../../support/model-streams.ts';
import { proxyServer, tlsChatServer } from '../../../support/proxy-server.ts';
import { freePort } from '../../../support/servers.ts';

const KEY = 'sk-test-1234567890';
const VARIABLES = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'];
const model = (baseURL: string) => openaiModel({ model: 'm', apiKey: KEY, baseURL });
const portOf = (url: string) => Number(new URL(url).port);
const withPassword = (origin: string) => origin.replace('//', '//user:p%40ss@');

beforeEach(() => {
  for (const name of VARIABLES) vi.stubEnv(name, undefined).stubEnv(name.toLowerCase(), undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

describe('a proxy of the environment', () => {
  test('forwards requests to an http server, with the credentials of its URL', async () => {
    const server = await chatServer(({ response }) => void streaming(response).end(completion('ok')));
    const proxy = await proxyServer(() => portOf(server.baseURL));
    vi.stubEnv('HTTP_PROXY', withPassword(proxy.origin));
    for (let call = 0; call < 2; call += 1) expect(textOf(await partsOf(model('http://llm.test:8080/v1')))).toBe('ok');
    const line = 'POST http://llm.test:8080/v1/chat/completions';
    const authorization = `Basic ${Buffer.from('user:p@ss').toString('base64')}`;
    expect(proxy.asked).toEqual([
      { line, authorization },
      { line, authorization },
    ]);
    expect(server.exchanges[0]?.headers).toMatchObject({ host: 'llm.test:8080', authorization: `Bearer ${KEY}` });
  });

  test('tunnels to an https server, so that it never sees the key, and keeps the tunnel', async () => {
    const server = await tlsChatServer();
    const proxy = await proxyServer(() => server.port);
    vi.stubEnv('HTTPS_PROXY', withPassword(proxy.origin)).stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    for (let call = 0; call < 2; call += 1)
      expect(textOf(await partsOf(model('https://llm.test/v1')))).toBe('over TLS');
    const authorization = `Basic ${Buffer.from('user:p@ss').toString('base64')}`;
    expect(proxy.asked).toEqual([{ line: 'CONNECT llm.test:443', authorization }]);
    expect(server.authorizations).toEqual([`Bearer ${KEY}`, `Bearer ${KEY}`]);
  });

  test('does not disable the check of the server’s certificate', async () => {
    const server = await tlsChatServer();
    const proxy = await proxyServer(() => server.port);
    vi.stubEnv('https_proxy', proxy.origin);
    expect(await failureFrom(model('https://llm.test/v1'))).toMatchObject(
      anError('connection_failed', 'DEPTH_ZERO_SELF_SIGNED_CERT'),
    );
    expect(server.authorizations).toEqual([]);
  });

  test('an abort closes a tunnel that the proxy never opens', async () => {
    const controller = new AbortController();
    const proxy = await proxyServer(() => {
      controller.abort();
      return null;
    }, 0);
    vi.stubEnv('HTTPS_PROXY', proxy.origin);
    expect(await partsOf(model('https://llm.test/v1'), modelRequest(), controller.signal)).toEqual([]);
    await proxy.allClosed();
  });

  test.each([
    ['http', 407, 'it requires credentials', false],
    ['https', 407, 'it requires credentials', false],
    ['https', 403, 'list the host in NO_PROXY', false],
    ['https', 503, 'list the host in NO_PROXY', true],
  ])('that refuses a connection is a failure that names it: %s %i', async (scheme, status, advice, retryable) => {
    const proxy = await proxyServer(() => null, status);
    vi.stubEnv(`${scheme}_proxy`, withPassword(proxy.origin));
    const failure = await failureFrom(model(`${scheme}://llm.test/v1`));
    expect(failure).toMatchObject({ stage: 'transport', code: 'proxy_failed', retryable });
    expect(failure.message).toContain(`the proxy ${proxy.origin} responded with ${status} to a request for llm.test`);
    expect(failure.message).toContain(advice);
    expect(failure.message).not.toContain('p@ss');
  });

  test.each(['http', 'https'])('that cannot be reached is a retryable failure that names it: %s', async (scheme) => {
    const origin = `http://127.0.0.1:${await freePort()}`;
    vi.stubEnv(`${scheme}_proxy`, withPassword(origin));
    const failure = await failureFrom(model(`${scheme}://llm.test/v1`));
    expect(failure).toMatchObject({ code: 'proxy_failed', retryable: true });
    expect(failure.message).toBe(
      `cannot connect to the proxy ${origin} (ECONNREFUSED); check HTTPS_PROXY, HTTP_PROXY and NO_PROXY`,
    );
  });

  test('is not used for a server on loopback', async () => {
    const server = await chatServer(({ response }) => void respondWithJson(response, 401, {}));
    const proxy = await proxyServer(() => null);
    vi.stubEnv('HTTP_PROXY', proxy.origin);
    expect(await failureFrom(model(server.baseURL))).toMatchObject({ code: 'unauthorized' });
    expect(proxy.asked).toEqual([]);
  });
});

describe('the proxy for a URL', () => {
  const proxy = (url: string, env: Readonly<Record<string, string>>) => proxyFor(new URL(url), env)?.href ?? null;

  test.each([
    ['https://a.test', { HTTPS_PROXY: 'http://p:1' }, 'http://p:1/'],
    ['https://a.test', { HTTP_PROXY: 'http://p:1' }, null],
    ['http://a.test', { HTTP_PROXY: 'p:1' }, 'http://p:1/'],
    ['http://a.test', { http_proxy: 'https://low:1', HTTP_PROXY: 'http://up:1' }, 'https://low:1/'],
    ['http://a.test', { HTTP_PROXY: ' ' }, null],
    ['http://localhost:11434', { HTTP_PROXY: 'http://p:1' }, null],
    ['http://[::1]:11434', { HTTP_PROXY: 'http://p:1' }, null],
  ])('%s with %j is %s', (url, env, expected) => {
    expect(proxy(url, env as Record<string, string>)).toBe(expected);
  });

  test.each([
    ['*', true],
    ['a.test', true],
    ['.a.test', true],
    ['*.a.test', true],
    ['other.test, A.test', true],
    ['a.test.', true],
    ['other.test x.a.test', true],
    ['x.a.test:443', true],
    ['x.a.test:80', false],
    ['test', true],
    ['est', false],
    ['y.a.test', false],
    ['', false],
  ])('NO_PROXY %j excludes https://x.a.test: %s', (list, isExcluded) => {
    expect(proxy('https://x.a.test', { HTTPS_PROXY: 'http://p:1', NO_PROXY: list }) === null).toBe(isExcluded);
  });

  test.each(['fd00::1', '[fd00::1]', '[fd00::1]:443'])('NO_PROXY %j excludes an IPv6 address', (list) => {
    const env = { HTTPS_PROXY: 'http://p:1', NO_PROXY: list };
    expect(proxy('https://[fd00::1]', env)).toBeNull();
    expect(proxy('https://[fd00::2]', env)).toBe('http://p:1/');
  });

  test.each([
    ['10.0.0.0/8', 'https://10.255.0.1', true],
    ['10.0.0.0/8', 'https://11.0.0.1', false],
    ['other.test, 192.168.1.7/24', 'http://192.168.1.250:8080', true],
    ['0.0.0.0/0', 'https://8.8.8.8', true],
    ['10.0.0.0/8', 'https://10.0.0.0.test', false],
    ['fd00::/8', 'https://[fdff::1]', true],
    ['[fd00::]/8', 'https://[fdff::1]', true],
    ['fd00::/8', 'https://[fe80::1]', false],
    ['::/0', 'https://[fe80::1]', true],
    ['::/0', 'https://10.0.0.1', false],
    ['10.0.0.0/8', 'https://[::ffff:10.0.0.1]', true],
    ['10.0.0.0/33,10.0.0.0/x,10.0.0/8,fd00::/129,/8', 'https://10.0.0.1', false],
  ])('NO_PROXY %j as address ranges excludes %s: %s', (list, url, isExcluded) => {
    const env = { HTTPS_PROXY: 'http://p:1', HTTP_PROXY: 'http://p:1', NO_PROXY: list };
    expect(proxy(url, env) === null).toBe(isExcluded);
  });

  test('names a variable whose credentials cannot be decoded', () => {
    expect(() => proxy('https://a.test', { HTTPS_PROXY: 'http://user:100%@p:1' })).toThrow(
      'HTTPS_PROXY has a user or password with an invalid % sequence; write a percent sign as %25',
    );
  });

  test('must be an http or https URL; credentials are not quoted', () => {
    expect(() => proxy('http://a.test', { HTTP_PROXY: 'socks5://user:secret@p:1' })).toThrow(
      /^HTTP_PROXY must be an http or https URL.*; received a URL with the scheme "socks5:"$/,
    );
    expect(() => proxy('https://a.test', { HTTPS_PROXY: 'http://' })).toThrow(/^HTTPS_PROXY .* not a URL$/);
  });
});

test('Node’s own transport is used even if a library defines an incomplete navigator, as PDF.js does', async () => {
  vi.stubGlobal('navigator', { userAgent: '' });
  onTestFinished(() => void vi.unstubAllGlobals());
  const fetched = vi.spyOn(globalThis, 'fetch');
  await platformFetch('http://127.0.0.1:1/').catch(() => {});
  expect(fetched).not.toHaveBeenCalled();
});
