import { describe, expect, it, vi } from 'vitest';
import { allOf, hanging, json, quick, rawPost, refusalOf, request, startService, statusOf } from './service-rig.ts';

describe('bad requests are refused before anything starts', () => {
  it.each<[string, string, string]>([
    ['no JSON', '{"request":', 'invalid_json'],
    ['nothing', '', 'invalid_json'],
    ['null', 'null', 'invalid_body'],
    ['a list', '[]', 'invalid_body'],
    ['no request', '{}', 'invalid_body'],
    ['a request of blanks', '{"request":"  "}', 'invalid_request'],
    ['a request that is a number', '{"request":5}', 'invalid_body'],
    ['a member that there is not', '{"request":"Is it so?","model":"gpt"}', 'invalid_body'],
    ['a prototype', '{"request":"Is it so?","__proto__":{"mode":"manual"}}', 'invalid_body'],
    ['a system turn', '{"request":"Is it so?","history":[{"role":"system","content":"x"}]}', 'invalid_body'],
    ['an empty session', '{"request":"Is it so?","session_id":""}', 'invalid_body'],
  ])('%s', async (_, body, code) => {
    const { post, runs } = await startService({ model: quick() });
    const response = await post('/runs', body);
    const said = (await response.json()) as { code: string; message: string };
    expect({ status: response.status, code: said.code }).toEqual({ status: 400, code });
    expect(Object.keys(said)).toEqual(['code', 'message']);
    expect(said.message).toMatch(/^[^\n]{5,500}$/);
    expect(runs).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['no event', { type: 'run.exploded' }],
    ['the service’s own word', { type: 'run.interrupted' }],
    ['consent without a choice', { type: 'consent.given' }],
    ['nothing', null],
  ])('an event that is %s', async (_, said) => {
    const { post, runs } = await startService({ model: hanging() });
    const controller = new AbortController();
    const stream = await post('/runs', request, { signal: controller.signal });
    const reply = await post(`/runs/${runs[0]?.runId}/events`, said);
    expect(await refusalOf(reply)).toMatchObject({ status: 400, code: 'invalid_body' });
    expect(stream.status).toBe(200);
    controller.abort();
    await runs[0]?.answer;
  });

  it('a body of 10 MB, told beforehand or in chunks', async () => {
    const { url, post, runs } = await startService({ model: quick() });
    const body = JSON.stringify({ request: 'x'.repeat(10_000_000) });
    const whole = await post('/runs', body);
    const chunks = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(body));
        controller.close();
      },
    });
    const init = { method: 'POST', headers: json, body: chunks, duplex: 'half' } as RequestInit;
    const chunked = await fetch(`${url}/runs`, init);
    expect([whole.status, chunked.status]).toEqual([413, 413]);
    expect(await whole.json()).toMatchObject({ code: 'body_too_large' });
    expect(runs).toEqual([]);
  });

  it('more runs at once than it takes', async () => {
    const { post, runs } = await startService({ model: hanging() }, { maxRuns: 1 });
    const controller = new AbortController();
    await post('/runs', request, { signal: controller.signal });
    const second = await post('/runs', request);
    expect(await refusalOf(second)).toMatchObject({ status: 503, code: 'too_many_runs' });
    controller.abort();
    await runs[0]?.answer;
    expect((await post('/runs', request)).status).toBe(200);
  });

  it('a path that there is not', async () => {
    const { url } = await startService({ model: quick() });
    const response = await fetch(`${url}/admin`);
    expect(await refusalOf(response)).toMatchObject({ status: 404, code: 'not_found' });
  });
});

describe('who may call', () => {
  it.each<[string, Record<string, string>, number]>([
    ['a page of another site', { origin: 'https://evil.example' }, 403],
    ['a page of another port', { origin: 'http://127.0.0.1:1' }, 403],
    ['a sandboxed page', { origin: 'null' }, 403],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['plain text, as a page may send it unasked', { 'content-type': 'text/plain;application/json' }, 415],
  ])('not %s', async (_, headers, status) => {
    const { post, runs } = await startService({ model: quick() });
    const response = await post('/runs', request, { headers });
    expect(await refusalOf(response)).toMatchObject({ status, code: expect.any(String) });
    expect(runs).toEqual([]);
  });

  it.each(['evil.example', 'localhost.evil.example', '127.0.0.1.nip.io', 'localhost@evil.example', '[::2]', '0.0.0.0'])(
    'not by the name %s, which was rebound to this address',
    async (host) => {
      const { port } = await startService({ model: quick() });
      expect(await statusOf(port, rawPost('/runs', '{}', host))).toBe(host.includes('@') ? 400 : 403);
    },
  );

  it.each(['localhost', 'LOCALHOST:8787', '127.0.0.1', '[::1]:80', 'chain.example'])('by the name %s', async (host) => {
    const { port } = await startService({ model: quick() }, { hosts: ['chain.example'] });
    expect(await statusOf(port, rawPost('/runs', '{}', host))).toBe(400);
  });

  it('a page of its own', async () => {
    const { url, post } = await startService({ model: quick() });
    expect((await allOf(await post('/runs', request, { headers: { origin: url } }))).at(-1)?.event).toBe('answer');
  });

  it.each<[string, Record<string, string>]>([
    ['none', {}],
    ['another', { authorization: 'Bearer wrong' }],
    ['the beginning of it', { authorization: 'Bearer secret-tok' }],
    ['nothing after Bearer', { authorization: 'Bearer ' }],
    ['another scheme', { authorization: 'Basic secret-token' }],
  ])('with a token, nobody with %s', async (_, headers) => {
    const { post, runs } = await startService({ model: quick() }, { token: 'secret-token' });
    for (const path of ['/runs', '/runs/some/events']) {
      const response = await post(path, request, { headers });
      const body = await response.text();
      expect([400, 401]).toContain(response.status);
      expect(JSON.parse(body)).toMatchObject({ code: 'unauthorized' });
      expect(body).not.toContain('secret-token');
    }
    expect(runs).toEqual([]);
  });

  it('with the token, whoever has it; anybody may ask for its health', async () => {
    const { post, health } = await startService({ model: quick() }, { token: 'secret-token' });
    const response = await post('/runs', request, { headers: { authorization: 'Bearer secret-token' } });
    expect((await allOf(response)).at(-1)?.event).toBe('answer');
    expect(await health()).toMatchObject({ status: 'ok' });
  });
});

it('what breaks in the service is told in its log, not to the caller', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {});
  const newId = () => {
    throw new Error('no entropy for sk-secret');
  };
  const { post } = await startService({ model: quick(), newId });
  const response = await post('/runs', request);
  const body = await response.text();
  expect({ status: response.status, ...JSON.parse(body) }).toMatchObject({ status: 500, code: 'internal' });
  expect(body).not.toContain('sk-secret');
  expect(log).toHaveBeenCalledOnce();
  log.mockRestore();
});
