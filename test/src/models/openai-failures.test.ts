import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import * as z from 'zod';
import { failureSchema } from '../../../machines/contracts/failure.ts';
import { aiSdkModel } from '../../../src/entries/ai-sdk.ts';
import { createStructuredOutput } from '../../../src/llm/attempts/structured-output.ts';
import { openaiModel } from '../../../src/models/openai/openai-model.ts';
import { chatServer, chunk, completion, event, respondWithJson, streaming } from '../../support/chat-server.ts';
import { failureFrom, modelRequest, partsOf, textOf } from '../../support/model-streams.ts';

const KEY = 'sk-test-1234567890';
const model = (baseURL: string) => openaiModel({ model: 'test-model', apiKey: KEY, baseURL });

/** Returns the failure for this response, validated against the contract, and the number of requests. */
async function failureOn(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) {
  const server = await chatServer(({ response }) => respondWithJson(response, status, body, headers));
  const now = () => Date.parse('2026-03-01T12:00:00Z');
  const failure = await failureFrom(openaiModel({ model: 'test-model', apiKey: KEY, baseURL: server.baseURL, now }));
  expect(failureSchema.parse(JSON.parse(JSON.stringify(failure)))).toEqual(failure);
  expect(failure.message).not.toMatch(/[\r\n]/);
  return { ...failure, calls: server.exchanges.length };
}

const said = (message: string, more: object = {}) => ({ error: { message, ...more } });

describe('server errors of the openai model', () => {
  test.each([
    [401, 'unauthorized', false],
    [403, 'unauthorized', false],
    [400, 'bad_request', false],
    [404, 'bad_request', false],
    [413, 'bad_request', false],
    [422, 'bad_request', false],
    [402, 'insufficient_quota', false],
    [408, 'request_timeout', true],
    [409, 'conflict', true],
    [429, 'rate_limited', true],
    [500, 'server_error', true],
    [501, 'server_error', false],
    [503, 'server_error', true],
    [529, 'server_error', true],
  ])('[A2] [A13] HTTP %i is %s, retryable: %s; the model itself sends one request', async (status, code, retryable) => {
    const failure = await failureOn(status, said('No.'));
    expect(failure).toMatchObject({ stage: 'transport', code, retryable, status, retryAfterMs: null, calls: 1 });
    expect(failure.message).toContain(`${status}`);
    expect(failure.message).toContain('No.');
  });

  test('[A13] an exhausted quota (429) is not retryable', async () => {
    const failure = await failureOn(429, said('You exceeded your quota.', { code: 'insufficient_quota' }), {
      'retry-after': '1',
    });
    expect(failure).toMatchObject({ code: 'insufficient_quota', retryable: false, retryAfterMs: null, status: 429 });
  });

  test.each([
    [400, said('No.', { code: 'context_length_exceeded' })],
    [400, said('No.', { type: 'exceed_context_size_error', code: 400 })],
    [400, said("This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.")],
    [400, said('the request exceeds the available context size. try increasing it')],
    [400, said('prompt is too long: 210000 tokens > 200000 maximum')],
    [400, said("This model's maximum prompt length is 131072 but the request contains 200000 tokens.")],
    [422, { detail: 'Prompt contains 40000 tokens, too large for model with 32768 maximum context length' }],
    [413, said('The input token count (9) exceeds the maximum number of tokens allowed (8).')],
  ])('[A13] a prompt that is too long is reported without another request: %i %j', async (status, body) => {
    const failure = await failureOn(status, body, { 'retry-after': '1' });
    expect(failure).toMatchObject({ code: 'prompt_too_long', retryable: false, retryAfterMs: null, status, calls: 1 });
    expect(failure.stage).toBe('transport');
  });

  test('[A13] a limit of tokens per minute is not a prompt that is too long', async () => {
    const body = said('Request too large: maximum context length aside, the limit is 9 tokens per minute.');
    expect(await failureOn(429, body)).toMatchObject({ code: 'rate_limited', retryable: true });
  });

  test.each([
    [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 1500],
    [{ 'retry-after': '2' }, 2000],
    [{ 'retry-after': '0.25' }, 250],
    [{ 'retry-after': 'Sun, 01 Mar 2026 12:00:30 GMT' }, 30_000],
    [{ 'retry-after': 'Sun, 01 Mar 2026 11:59:00 GMT' }, 0],
    [{ 'retry-after': '5 minutes' }, null],
    [{ 'retry-after': '-3' }, null],
    [{ 'retry-after-ms': 'Infinity', 'retry-after': '1e99' }, null],
    [{}, null],
  ])('[A13] Retry-After %j is %s ms', async (headers: Record<string, string>, retryAfterMs) => {
    expect(await failureOn(429, said('Slow down.'), headers)).toMatchObject({ code: 'rate_limited', retryAfterMs });
    expect((await failureOn(503, said('Busy.'), headers)).retryAfterMs).toBe(retryAfterMs);
  });

  test('[A13] the message of a rejected request names the requested wait', async () => {
    const { message } = await failureOn(429, said('Slow down.'), { 'retry-after': '3600' });
    expect(message).toBe(
      'the model server responded with 429 and asks to wait 3,600 s before the next request: Slow down.',
    );
  });

  test('messages have one line and do not contain the key, even partly masked', async () => {
    const echo = `Incorrect API key provided: ${KEY}.\nYou sent sk-t***********7890: "${KEY}"\r\n${'x'.repeat(5_000)}`;
    const { message } = await failureOn(401, said(echo));
    expect(message).toContain('Incorrect API key provided: [key].');
    for (const part of [KEY, 'sk-t', '7890']) expect(message).not.toContain(part);
    expect(message.length).toBeLessThan(500);
    expect((await failureOn(401, `<html>${KEY}</html>`)).message).not.toContain(KEY);
  });

  test.each([
    ['its start', (key: string) => `Incorrect API key provided: ${key.slice(0, 20)}...`],
    ['its end', (key: string) => `Incorrect API key provided: ...${key.slice(-8)}`],
    ['both ends', (key: string) => `Incorrect API key provided: ${key.slice(0, 8)}…${key.slice(-12)}`],
  ])('messages do not contain a part of the key: %s', async (_, echo) => {
    const key = 'sk-proj-abcdabcdEFGH0123456789abcdabcdZ9';
    const server = await chatServer(({ response }) => void respondWithJson(response, 401, said(echo(key))));
    const { message } = await failureFrom(openaiModel({ model: 'm', apiKey: key, baseURL: server.baseURL }));
    expect(message).toMatch(/Incorrect API key provided: (\[key\])?(\.\.\.|…)(\[key\])?$/u);
  });

  test.each([
    ['an address that begins like one in a header', { 'http-referer': 'https://page2.test' }, 'See https://docs.test.'],
    ['words of a header without credentials', { 'user-agent': 'my-company-app/1.0' }, 'No model my-company-llm.'],
  ])('messages keep %s', async (_, headers, text) => {
    const server = await chatServer(({ response }) => respondWithJson(response, 404, said(text)));
    const { message } = await failureFrom(openaiModel({ model: 'm', apiKey: KEY, baseURL: server.baseURL, headers }));
    expect(message).toContain(text);
  });

  test('secrets in headers and short keys are hidden, too', async () => {
    const server = await chatServer(({ response, headers }) =>
      respondWithJson(response, 403, said(JSON.stringify(headers))),
    );
    const headers = { 'api-key': 'azure-secret-0123456789' };
    const { message } = await failureFrom(openaiModel({ model: 'm', apiKey: 'abc', baseURL: server.baseURL, headers }));
    expect(server.exchanges[0]?.headers).toMatchObject({ ...headers, authorization: 'Bearer abc' });
    expect(message).not.toContain('azure-secret');
    expect(message).not.toContain('Bearer abc');
  });

  test.each([
    [{ detail: 'Model is loading' }, 'Model is loading'],
    [{ object: 'error', message: 'Model is loading', code: 400 }, ': Model is loading'],
    [{ error: 'Model is loading' }, 'Model is loading'],
    [said('Model is loading'), ': Model is loading'],
  ])('the error message is found in the body %j', async (body, text) => {
    expect((await failureOn(400, body)).message).toContain(text);
  });

  const GENERATION = '<function=plan_reply>{"q": }</function>';
  test.each([
    [
      said('Failed to call a function. See failed_generation.', {
        code: 'tool_use_failed',
        failed_generation: GENERATION,
      }),
    ],
    [said('Failed to validate JSON.', { code: 'json_validate_failed', failed_generation: GENERATION })],
    [said('Tool choice is required, but model did not call a tool', { failed_generation: GENERATION })],
  ])('[A13] a reply that the server cannot use is correctable, and quoted: %j', async (body) => {
    for (const replyForm of ['tool-call', 'text'] as const) {
      const server = await chatServer(({ response }) => respondWithJson(response, 400, body));
      const failure = await failureFrom(model(server.baseURL), modelRequest({ replyForm }));
      expect(failure).toMatchObject({ stage: 'extraction', code: 'generation_failed', retryable: true, status: 400 });
      expect(failure.message).toContain(`the model wrote: ${GENERATION}`);
      expect(server.exchanges).toHaveLength(1);
    }
  });

  test('[A13] the same within a stream is correctable, too', async () => {
    const error = { message: 'Failed to call a function.', code: 'tool_use_failed', status_code: 400 };
    const server = await chatServer(
      ({ response }) => void streaming(response).end(`event: error\n${event({ error })}`),
    );
    expect(await failureFrom(model(server.baseURL))).toMatchObject({ stage: 'extraction', code: 'generation_failed' });
  });

  test('[A13] a structured output corrects a reply that the server cannot use', async () => {
    const server = await chatServer(({ index, response }) => {
      if (index > 0) streaming(response).end(completion('{"response":"ok"}'));
      else respondWithJson(response, 400, said('Failed.', { code: 'tool_use_failed', failed_generation: GENERATION }));
    });
    const schema = z.object({ response: z.string() });
    const output = createStructuredOutput({ model: model(server.baseURL), schema, prompt: 'Go.' });
    expect(await output.value).toEqual({ response: 'ok' });
    expect(JSON.stringify(server.exchanges[1]?.body.messages)).toContain('<function=plan_reply>');
  });

  test('a 404 reports the base URL', async () => {
    const { message } = await failureOn(404, '404 page not found');
    expect(message).toMatch(/at http:\/\/127\.0\.0\.1:\d+\/v1 \(the base URL usually ends in \/v1\)/);
  });
});

describe('broken replies to the openai model', () => {
  test('[A10] a refused connection, one closed before the reply, and an unknown host are retryable failures', async () => {
    const failed = (message: RegExp) => ({
      ...{ stage: 'transport', code: 'connection_failed', retryable: true },
      message: expect.stringMatching(message),
    });
    const server = await chatServer(({ response }) => void response.destroy());
    expect(await failureFrom(model(server.baseURL))).toMatchObject(
      failed(/^http:\/\/127\.0\.0\.1:\d+ closed the connection before it responded \(ECONNRESET\)/),
    );
    await server.stop();
    expect(await failureFrom(model(server.baseURL))).toMatchObject(
      failed(/^cannot connect to http:\/\/127\.0\.0\.1:\d+ \(ECONNREFUSED\)/),
    );
    for (const name of ['http_proxy', 'HTTP_PROXY']) vi.stubEnv(name, undefined);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await failureFrom(model('http://postchain.invalid/v1'))).toMatchObject({ code: 'connection_failed' });
  });

  test('an error after the finish reason is ignored', async () => {
    const server = await chatServer(({ response }) => {
      const done = event(chunk({ content: 'all' })) + event(chunk({}, 'stop'));
      streaming(response).write(done, () => response.destroy());
    });
    const parts = await partsOf(model(server.baseURL));
    expect(parts.at(-1)).toEqual({ type: 'finish', reason: 'stop', usage: null });
  });

  test.each([
    ['a page', 'text/html', '<html><body>Welcome to nginx!</body></html>'],
    ['nothing', 'text/event-stream', ''],
    ['an event that is not JSON', 'text/event-stream', 'data: {"choices": [\n\n'],
    ['an event that is not a chunk', 'text/event-stream', 'data: {"choices": 42}\n\n'],
    ['a null event', 'text/event-stream', 'data: null\n\n'],
    ['a body that is not JSON', 'application/json', '{"choices": ['],
    ['bytes', 'application/octet-stream', '\0\u0001\uFFFD\n\n\n\0'],
  ])('[A10] an invalid reply is a retryable transport failure: %s', async (_, type, body) => {
    const server = await chatServer(({ response }) => void response.writeHead(200, { 'content-type': type }).end(body));
    expect(await failureFrom(model(server.baseURL))).toMatchObject({
      stage: 'transport',
      code: 'garbled_reply',
      retryable: true,
    });
  });

  test('a response that is not HTTP is a retryable transport failure', async () => {
    const server = await chatServer(({ response }) => void response.socket?.end('SSH-2.0-OpenSSH_9.6\r\n'));
    expect(await failureFrom(model(server.baseURL))).toMatchObject({ code: 'garbled_reply', retryable: true });
  });

  test('an error object within the stream is a failure that ends the reply', async () => {
    const error = event({ object: 'error', message: 'boom', code: 400 });
    const server = await chatServer(({ response }) => {
      streaming(response).end(event(chunk({ content: 'half' })) + error + completion('never seen'));
    });
    const parts = await partsOf(model(server.baseURL));
    expect(textOf(parts)).toBe('half');
    expect(parts.at(-1)).toMatchObject({ type: 'failure', failure: { code: 'bad_request', retryable: false } });
  });

  test.each([
    ['an error', new Error(`no token for ${KEY}`), 'the custom fetch failed: no token for [key]'],
    [
      'an error with a code',
      Object.assign(new Error('no token'), { code: 'E_TOKEN' }),
      'the custom fetch failed (E_TOKEN): no token',
    ],
    [
      'a failed connection',
      new TypeError('fetch failed', { cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }) }),
      'cannot connect to http://llm.test (ECONNREFUSED); check that the server is running',
    ],
  ])('a custom fetch that throws %s is a failure with its message', async (_, error, message) => {
    const fetch = () => Promise.reject(error);
    const model = openaiModel({ model: 'm', apiKey: KEY, baseURL: 'http://llm.test/v1', fetch });
    expect(await failureFrom(model)).toMatchObject({ code: 'connection_failed', message, retryable: true });
  });

  test('an unexpected error is reported', async () => {
    const fetch = async () =>
      new Response(new ReadableStream({ pull: () => Promise.reject(new RangeError(`no ${KEY}`)) }));
    const failure = await failureFrom(openaiModel({ model: 'm', apiKey: KEY, fetch }), modelRequest());
    expect(failure).toMatchObject({ stage: 'unexpected', code: 'unexpected', retryable: false });
    expect(failure.message).toBe('the call failed: RangeError: no [key]');
  });
});

describe('an error within a stream that begins with status 200', () => {
  const at = (baseURL: string) => [
    openaiModel({ model: 'm', apiKey: 'k', baseURL }),
    aiSdkModel(createOpenAICompatible({ name: 'x', baseURL })('m')),
  ];

  test.each<[object | string, string, boolean]>([
    [{ type: 'auth_error', code: '401' }, 'unauthorized', false],
    [{ type: 'None', code: '403' }, 'unauthorized', false],
    [{ type: 'authentication_error' }, 'unauthorized', false],
    [{ code: 'invalid_api_key' }, 'unauthorized', false],
    [{ type: 'AuthenticationError', code: null }, 'unauthorized', false],
    [{ status: 'UNAUTHENTICATED' }, 'unauthorized', false],
    [{ status: 'PERMISSION_DENIED', code: 403 }, 'unauthorized', false],
    [{ type: 'permission_error' }, 'unauthorized', false],
    [{ code: 'account_deactivated' }, 'unauthorized', false],
    ['Unauthorized: invalid API key', 'unauthorized', false],
    [{ code: 'model_not_found', type: 'server_error' }, 'bad_request', false],
    [{ type: 'NotFoundError' }, 'bad_request', false],
    [{ status: '400' }, 'bad_request', false],
    [{ status_code: 422 }, 'bad_request', false],
    [{ type: 'BadRequestError' }, 'bad_request', false],
    [{ status: 'INVALID_ARGUMENT' }, 'bad_request', false],
    [{ code: 'unsupported_value' }, 'bad_request', false],
    [{ code: 'content_policy_violation' }, 'bad_request', false],
    [{ code: 'insufficient_quota' }, 'insufficient_quota', false],
    [{ code: 'billing_hard_limit_reached' }, 'insufficient_quota', false],
    [{ type: 'budget_exceeded' }, 'insufficient_quota', false],
    [{ code: 'context_length_exceeded' }, 'prompt_too_long', false],
    [{ type: 'throttling_error', code: '429' }, 'rate_limited', true],
    [{ code: 'account_rate_limit_exceeded' }, 'rate_limited', true],
    [{ type: 'ThrottlingException' }, 'rate_limited', true],
    [{ status: 'RESOURCE_EXHAUSTED' }, 'rate_limited', true],
    [{ type: 'overloaded_error' }, 'server_error', true],
    [{ code: '503' }, 'server_error', true],
    [{ status: 'UNAVAILABLE' }, 'server_error', true],
    [{ type: 'InternalServerError', code: 'None' }, 'server_error', true],
    [{ code: 'something_odd' }, 'server_error', true],
    ['The engine fell over.', 'server_error', true],
  ])('%j is %s (retryable: %s)', async (error, code, retryable) => {
    const sent = typeof error === 'string' ? error : { message: 'It failed.', ...error };
    const { baseURL } = await chatServer(({ response }) => {
      streaming(response).end(event(chunk({ content: '{"re' })) + event({ error: sent }));
    });
    // The other provider passes on these two members only.
    const models = at(baseURL).slice(0, ['code', 'type'].some((key) => key in Object(error)) ? 2 : 1);
    for (const model of models) expect(await failureFrom(model)).toMatchObject({ code, retryable });
  });
});
