import { describe, expect, it, vi } from 'vitest';
import {
  collectEvents,
  errorOf,
  hangingModel,
  immediateModel,
  json,
  rawPost,
  request,
  startService,
  statusOf,
} from '../support/example-service.ts';

describe('invalid requests are rejected before anything starts', () => {
  it.each<[string, string, string]>([
    ['invalid JSON', '{"request":', 'invalid_json'],
    ['an empty body', '', 'invalid_json'],
    ['null', 'null', 'invalid_body'],
    ['an array', '[]', 'invalid_body'],
    ['no request', '{}', 'invalid_body'],
    ['a blank request', '{"request":"  "}', 'invalid_request'],
    ['a numeric request', '{"request":5}', 'invalid_body'],
    ['an unknown property', '{"request":"Is it so?","model":"gpt"}', 'invalid_body'],
    ['a __proto__ property', '{"request":"Is it so?","__proto__":{"mode":"manual"}}', 'invalid_body'],
    ['a system turn', '{"request":"Is it so?","history":[{"role":"system","content":"x"}]}', 'invalid_body'],
    ['a session of the caller’s choice', '{"request":"Is it so?","session_id":"alice"}', 'invalid_body'],
  ])('%s', async (_, body, code) => {
    const { post, runs } = await startService({ model: immediateModel() });
    const response = await post('/runs', body);
    const error = (await response.json()) as { code: string; message: string };
    expect({ status: response.status, code: error.code }).toEqual({ status: 400, code });
    expect(Object.keys(error)).toEqual(['code', 'message']);
    expect(error.message).toMatch(/^[^\n]{5,500}$/);
    expect(runs).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['of unknown type', { type: 'run.exploded' }],
    ['reserved for the service', { type: 'run.interrupted' }],
    ['consent without a choice', { type: 'consent.given' }],
    ['limits, which the operator sets', { type: 'run.adjusted', limits: { maxCycles: 1 } }],
    ['consent to no question', { type: 'consent.given', choice: 'remove' }],
    ['consent in the name of an option', { type: 'consent.given', questionId: 'q', choice: 'remove', by: 'option' }],
    ['too long', { type: 'context.undone', operationId: 'x'.repeat(1_001) }],
    ['a direction to an unknown phase', { type: 'run.directed', phase: 'dessert' }],
    ['null', null],
  ])('an invalid event: %s', async (_, event) => {
    const { post, runs } = await startService({ model: hangingModel() });
    const controller = new AbortController();
    const stream = await post('/runs', request, { signal: controller.signal });
    const reply = await post(`/runs/${runs[0]?.runId}/events`, event);
    expect(await errorOf(reply)).toMatchObject({ status: 400, code: 'invalid_body' });
    expect(stream.status).toBe(200);
    controller.abort();
    await runs[0]?.answer;
  });

  it('a body of 10 MB, with its length declared or in chunks', async () => {
    const { url, post, runs } = await startService({ model: immediateModel() });
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

  it('more events than a run accepts', async () => {
    const { post, runs } = await startService({ model: hangingModel() }, { maxEvents: 1 });
    const controller = new AbortController();
    await post('/runs', request, { signal: controller.signal });
    const event = { type: 'context.undone', operationId: 's1.o1' };
    const [first, second] = [
      await post(`/runs/${runs[0]?.runId}/events`, event),
      await post(`/runs/${runs[0]?.runId}/events`, event),
    ];
    expect(first.status).toBe(204);
    expect(await errorOf(second)).toMatchObject({ status: 429, code: 'too_many_events' });
    controller.abort();
    await runs[0]?.answer;
  });

  it('more concurrent runs than allowed', async () => {
    const { post, runs } = await startService({ model: hangingModel() }, { maxRuns: 1 });
    const controller = new AbortController();
    await post('/runs', request, { signal: controller.signal });
    const second = await post('/runs', request);
    expect(await errorOf(second)).toMatchObject({ status: 503, code: 'too_many_runs' });
    controller.abort();
    await runs[0]?.answer;
    expect((await post('/runs', request)).status).toBe(200);
  });

  it('an unknown path', async () => {
    const { url } = await startService({ model: immediateModel() });
    const response = await fetch(`${url}/admin`);
    expect(await errorOf(response)).toMatchObject({ status: 404, code: 'not_found' });
  });
});

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
