import { describe, expect, it, vi } from 'vitest';
import {
  collectEvents,
  errorOf,
  immediateModel,
  rawPost,
  request,
  startService,
  statusOf,
} from '../support/example-service.ts';

describe('authorization', () => {
  it.each<[string, Record<string, string>, number]>([
    ['a page of another origin', { origin: 'https://evil.example' }, 403],
    ['a page of another port', { origin: 'http://127.0.0.1:1' }, 403],
    ['a sandboxed page', { origin: 'null' }, 403],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    [
      'plain text, which pages can send without a preflight request',
      { 'content-type': 'text/plain;application/json' },
      415,
    ],
  ])('rejects %s', async (_, headers, status) => {
    const { post, runs } = await startService({ model: immediateModel() });
    const response = await post('/runs', request, { headers });
    expect(await errorOf(response)).toMatchObject({ status, code: expect.any(String) });
    expect(runs).toEqual([]);
  });

  it.each(['evil.example', 'localhost.evil.example', '127.0.0.1.nip.io', 'localhost@evil.example', '[::2]', '0.0.0.0'])(
    'rejects the host name %s, rebound to this address',
    async (host) => {
      const { port } = await startService({ model: immediateModel() });
      expect(await statusOf(port, rawPost('/runs', '{}', host))).toBe(host.includes('@') ? 400 : 403);
    },
  );

  it.each(['localhost', 'LOCALHOST:8787', '127.0.0.1', '[::1]:80', 'chain.example'])(
    'accepts the host name %s',
    async (host) => {
      const { port } = await startService({ model: immediateModel() }, { hosts: ['chain.example'] });
      expect(await statusOf(port, rawPost('/runs', '{}', host))).toBe(400);
    },
  );

  it('accepts its own page', async () => {
    const { url, post } = await startService({ model: immediateModel() });
    expect((await collectEvents(await post('/runs', request, { headers: { origin: url } }))).at(-1)?.event).toBe(
      'answer',
    );
  });

  it.each<[string, Record<string, string>]>([
    ['no token', {}],
    ['another token', { authorization: 'Bearer wrong' }],
    ['a prefix of the token', { authorization: 'Bearer secret-tok' }],
    ['an empty token after Bearer', { authorization: 'Bearer ' }],
    ['another scheme', { authorization: 'Basic secret-token' }],
  ])('if a token is set, rejects %s', async (_, headers) => {
    const { post, runs } = await startService({ model: immediateModel() }, { token: 'secret-token' });
    for (const path of ['/runs', '/runs/some/events']) {
      const response = await post(path, request, { headers });
      const body = await response.text();
      expect([400, 401]).toContain(response.status);
      expect(JSON.parse(body)).toMatchObject({ code: 'unauthorized' });
      expect(body).not.toContain('secret-token');
    }
    expect(runs).toEqual([]);
  });

  it('accepts the token; the health check needs none', async () => {
    const { post, health } = await startService({ model: immediateModel() }, { token: 'secret-token' });
    const response = await post('/runs', request, { headers: { authorization: 'Bearer secret-token' } });
    expect((await collectEvents(response)).at(-1)?.event).toBe('answer');
    expect(await health()).toMatchObject({ status: 'ok' });
  });
});

it('logs internal errors and does not send them to the caller', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {});
  const newId = () => {
    throw new Error('no entropy for sk-secret');
  };
  const { post } = await startService({ model: immediateModel(), newId });
  const response = await post('/runs', request);
  const body = await response.text();
  expect({ status: response.status, ...JSON.parse(body) }).toMatchObject({ status: 500, code: 'internal' });
  expect(body).not.toContain('sk-secret');
  expect(log).toHaveBeenCalledOnce();
  log.mockRestore();
});
