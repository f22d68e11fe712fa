import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { LanguageModelV2 } from 'provider-v2';
import type { LanguageModelV3 } from 'provider-v3';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { type AiSdkLanguageModel, type AiSdkModelOptions, aiSdkModel } from '../../../../src/entries/ai-sdk.ts';
import { failureFrom, modelRequest, partsOf, replyOf } from '../../../support/model-streams.ts';

type Options = Parameters<AiSdkLanguageModel['doStream']>[0];
type Reply = readonly object[] | Error;

const usage = { inputTokens: { total: 9, cacheRead: 4 }, outputTokens: { total: 3, reasoning: 1 } };
const finish = { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage };
const text = (delta: string) => ({ type: 'text-delta', id: '0', delta });
const JSON_REPLY = [text('{"response":"x"}'), finish];

/** A language model that gives these replies, one per call; the last one is repeated. */
function fake(replies: readonly Reply[], changes: Partial<AiSdkLanguageModel> = {}) {
  const calls: Options[] = [];
  const model: AiSdkLanguageModel = {
    specificationVersion: 'v4',
    provider: 'fake.chat',
    modelId: 'm-1',
    async doStream(options) {
      const reply = replies[Math.min(calls.length, replies.length - 1)] ?? [];
      calls.push(options);
      if (reply instanceof Error) throw reply;
      return { stream: streamOf(reply) };
    },
    ...changes,
  };
  return { calls, create: (options?: AiSdkModelOptions) => aiSdkModel(model, options) };
}

function streamOf(parts: readonly object[]): Awaited<ReturnType<AiSdkLanguageModel['doStream']>>['stream'] {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part as { type: string });
      controller.close();
    },
  });
}

/** An APICallError as every version of the provider package throws it. */
function callError(statusCode: number | undefined, message: string, more: object = {}): Error {
  return Object.assign(new Error(message), {
    name: 'AI_APICallError',
    url: 'https://api.test/v1/chat',
    statusCode,
    ...more,
  });
}

describe('aiSdkModel', () => {
  test('accepts language models of V2, V3 and V4', () => {
    expectTypeOf<LanguageModelV2>().toExtend<AiSdkLanguageModel>();
    expectTypeOf<LanguageModelV3>().toExtend<AiSdkLanguageModel>();
    expectTypeOf<LanguageModelV4>().toExtend<AiSdkLanguageModel>();
    expect(fake([JSON_REPLY]).create()).toMatchObject({
      id: 'fake.chat:m-1',
      contextWindowTokens: 128_000,
      nativeTools: true,
    });
  });

  test.each([
    ['the name of a model', 'openai/gpt-4.1', /languageModel: expected a language model of the AI SDK/],
    ['a model of V1', { specificationVersion: 'v1', provider: 'p', modelId: 'm' }, /specificationVersion: .*"v1"/],
  ])('rejects %s', (_, model, message) => {
    expect(() => aiSdkModel(model as never)).toThrow(message);
  });

  test('rejects an unknown option', () => {
    expect(() => fake([]).create({ maxTokens: 5 } as never)).toThrow(/maxTokens: unknown option; expected one of/);
  });

  test('sends its settings, the provider’s options and one system message first', async () => {
    const { calls, create } = fake([JSON_REPLY]);
    const settings = { temperature: 0.2, maxOutputTokens: 99, headers: { 'x-team': 'a' } };
    const model = create({ ...settings, providerOptions: { fake: { effort: 'low' } } });
    const turns = [
      { role: 'system', content: 'One.' },
      { role: 'user', content: 'Hello' },
      { role: 'system', content: 'Two.' },
    ] as const;
    await partsOf(model, modelRequest({ turns }));
    expect(calls[0]).toMatchObject({
      ...settings,
      providerOptions: { fake: { effort: 'low' } },
      prompt: [
        { role: 'system', content: 'One.\n\nTwo.' },
        { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
      ],
    });
  });

  test.each([
    ['is undefined', undefined],
    ['has no totals', { inputTokens: {}, outputTokens: {} }],
    ['is not a number', { inputTokens: { total: '9' }, outputTokens: { total: 3 } }],
  ])('reports no usage if it %s', async (_, given) => {
    const last = (await partsOf(fake([[{ ...finish, usage: given }]]).create())).at(-1);
    expect(last).toEqual({ type: 'finish', reason: 'stop', usage: null });
  });

  test.each([
    [
      'a reason of "interrupted"',
      [{ ...finish, finishReason: { unified: 'interrupted', raw: undefined } }],
      'stream_cut',
    ],
    ['no raw reason', [{ ...finish, finishReason: { unified: 'other', raw: undefined } }], 'stream_cut'],
    ['no finish reason', [{ ...finish, finishReason: undefined }], 'stream_cut'],
    ['no finish part', [], 'stream_cut'],
    ['a reason of "error"', [{ ...finish, finishReason: { unified: 'error', raw: 'MALFORMED' } }], 'garbled_reply'],
    ['an error object', [{ type: 'error', error: { type: 'overloaded_error', message: 'Busy.' } }], 'server_error'],
    ['an error text', [{ type: 'error', error: 'Busy.' }], 'server_error'],
    ['an error without a value', [{ type: 'error' }], 'server_error'],
  ])('reports a stream that ends with %s as a retryable failure', async (_, parts, code) => {
    expect(await failureFrom(fake([[text('{"re'), ...parts]]).create())).toMatchObject({ code, retryable: true });
  });

  test.each([
    ['nothing', []],
    [
      'no content',
      [
        { type: 'stream-start', warnings: [] },
        { type: 'finish', finishReason: { unified: 'other', raw: undefined }, usage: {} },
      ],
    ],
  ])('names the base URL if a stream has %s, as for a page of HTML', async (_, parts) => {
    expect(await failureFrom(fake([parts]).create())).toMatchObject({
      code: 'stream_cut',
      message: 'the response has no content; check the base URL of the provider',
    });
  });

  test('names the base URL if a provider reads a page of HTML', async () => {
    const fetch = async () =>
      new Response('<!doctype html><p>It works!</p>', { headers: { 'content-type': 'text/html' } });
    const provider = createOpenAICompatible({ name: 'local', baseURL: 'http://localhost:1/v1', fetch });
    expect((await failureFrom(aiSdkModel(provider('m')))).message).toMatch(/check the base URL/);
  });

  test('does not stream arguments that are not JSON before they are whole', async () => {
    const call = [
      { type: 'tool-input-start', id: 'a', toolName: 'search', inputEncoding: 'text' },
      { type: 'tool-input-delta', id: 'a', delta: 'raw text' },
      { type: 'tool-call', toolCallId: 'a', toolName: 'search', input: '{"q":"raw text"}' },
      { type: 'tool-call', toolCallId: 'b', toolName: 'browse', input: '{}', providerExecuted: true },
    ];
    const { calls } = replyOf(await partsOf(fake([[...call, finish]]).create()));
    expect(calls).toEqual([{ name: 'search', arguments: '{"q":"raw text"}' }]);
  });

  test('requests JSON without a schema if the provider warns that it ignores the schema, and remembers that', async () => {
    const ignored = {
      type: 'stream-start',
      warnings: [{ type: 'unsupported', feature: 'responseFormat', details: 'No schemas.' }],
    };
    const { calls, create } = fake([[ignored, ...JSON_REPLY], JSON_REPLY]);
    const warnings: string[] = [];
    const model = create({ onWarning: (warning) => warnings.push(warning) });
    expect(replyOf(await partsOf(model))).toMatchObject({ text: '{"response":"x"}', end: 'stop' });
    await partsOf(model, modelRequest({ outputSchema: { type: 'object' } }));
    expect(calls.map(({ responseFormat }) => responseFormat?.schema !== undefined)).toEqual([true, false, false]);
    expect(calls[0]?.abortSignal?.aborted).toBe(true);
    expect(JSON.stringify(calls[1]?.prompt)).toContain('JSON Schema');
    expect(warnings).toEqual(['unsupported: responseFormat: No schemas.']);
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('The log is full.');
      },
    ],
    ['rejects', () => Promise.reject(new Error('The log is full.'))],
  ])('ignores an onWarning that %s', async (_, onWarning) => {
    const warned = { type: 'stream-start', warnings: [{ type: 'other', message: 'Slow today.' }] };
    const model = fake([[warned, ...JSON_REPLY]]).create({ onWarning });
    expect(replyOf(await partsOf(model))).toMatchObject({ text: '{"response":"x"}', end: 'stop' });
  });

  test('requests JSON without a schema if the provider rejects this schema, and remembers that for it', async () => {
    const { calls, create } = fake([callError(400, "Invalid schema for response_format 'x'."), JSON_REPLY]);
    const model = create();
    expect(replyOf(await partsOf(model)).end).toBe('stop');
    await partsOf(model, modelRequest({ outputSchema: { type: 'object', title: 'other' } }));
    expect(calls.map(({ responseFormat }) => responseFormat?.schema !== undefined)).toEqual([true, false, true]);
  });

  test('describes tools in the prompt if the provider rejects them beside JSON', async () => {
    const { calls, create } = fake([callError(400, 'Function calling with JSON is unsupported.'), JSON_REPLY]);
    const tools = [{ name: 'search', description: 'Searches.', parameters: { type: 'object' } }];
    const turnsWithoutTools = [{ role: 'user', content: 'You may search.' }] as const;
    await partsOf(create(), modelRequest({ tools, turnsWithoutTools }));
    expect(calls.map((call) => call.tools?.length ?? 0)).toEqual([1, 0]);
    expect(JSON.stringify(calls[1]?.prompt)).toContain('You may search.');
  });

  test('requests the tool call in the prompt if the provider rejects forced calls', async () => {
    const call = { type: 'tool-call', toolCallId: 'a', toolName: 'action_reply', input: '{"response":"x"}' };
    const { calls, create } = fake([
      callError(400, 'tool_choice forces tool use, which is not supported.'),
      [call, finish],
    ]);
    const reply = replyOf(await partsOf(create(), modelRequest({ replyForm: 'tool-call' })));
    expect(reply.calls).toEqual([{ name: 'action_reply', arguments: '{"response":"x"}' }]);
    expect(calls.map(({ toolChoice }) => toolChoice?.type)).toEqual(['tool', 'auto']);
  });

  test.each([
    [
      'a prompt that is too long',
      callError(400, 'prompt is too long: 210000 tokens > 200000'),
      'prompt_too_long',
      false,
    ],
    ['a missing key', Object.assign(new Error('No key.'), { name: 'AI_LoadAPIKeyError' }), 'unauthorized', false],
    ['a server that is down', callError(undefined, 'Cannot connect to API'), 'connection_failed', true],
    ['a reply that is not JSON', callError(200, 'Invalid JSON response'), 'garbled_reply', true],
    ['an error of its own', new Error('Boom.'), 'unexpected', false],
  ])('reports %s', async (_, error, code, retryable) => {
    expect(await failureFrom(fake([error]).create())).toMatchObject({ code, retryable });
  });

  test('reads the wait that Google sends in the body of an error', async () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34s' }];
    const responseBody = JSON.stringify({
      error: { code: 429, message: 'Quota.', status: 'RESOURCE_EXHAUSTED', details },
    });
    const failure = await failureFrom(fake([callError(429, 'Quota.', { responseBody })]).create());
    expect(failure).toMatchObject({ code: 'rate_limited', retryAfterMs: 34_000 });
  });

  test.each([
    'sk-0123456789abcdef0123456789abcdef',
    'sk-abcdefghijklmnopqrstuvwx',
    'AIzaSyD4x9Qm2Lk7Pw0Rv5Tz8Bn3Hc6Jf1Gs',
    'gsk_abcdefghijklmnopqrst',
    '0123456789abcdef0123456789abcdef',
    '9b2f6c1e-7d3a-4e5b-8c9d-0a1b2c3d4e5f',
  ])('hides %s at every status', async (key) => {
    for (const status of [400, 401, 402, 403, 404, 422, 429, 500, 503]) {
      const failure = await failureFrom(fake([callError(status, `Insufficient balance for key ${key}.`)]).create());
      expect(failure.message).toMatch(/Insufficient balance for key \[key\]/);
    }
    const ended = { ...finish, finishReason: { unified: 'error', raw: `KEY ${key}` } };
    expect((await failureFrom(fake([[text('{'), ended]]).create())).message).toMatch(/\(KEY \[key\]\)/);
  });

  test('shows the names of models, options and features', async () => {
    const names =
      'claude-sonnet-4-5-20250929, gpt-4o-realtime-preview-2024-12-17, extended-cache-ttl-2025-04-11, task-management-for-everyone';
    expect((await failureFrom(fake([callError(404, `Unknown: ${names}.`)]).create())).message).toContain(names);
  });

  test('asks for prose with the prompt alone, and with the tools in words if the provider rejects tools', async () => {
    const refusal = callError(400, 'This model does not support tools.');
    const { calls, create } = fake([[text('Hi.'), finish], refusal, [text('Hi.'), finish]]);
    const model = create();
    const prose = modelRequest({ replyForm: 'prose', outputSchema: {} });
    const tools = [{ name: 'search', description: 'Searches.', parameters: { type: 'object' } }];
    const turnsWithoutTools = [{ role: 'user', content: 'Tools in words.' }] as const;
    expect(replyOf(await partsOf(model, prose))).toMatchObject({ text: 'Hi.', end: 'stop' });
    expect(replyOf(await partsOf(model, { ...prose, tools, turnsWithoutTools }))).toMatchObject({ text: 'Hi.' });
    for (const call of calls) expect(call).not.toHaveProperty('responseFormat');
    expect(calls.map((call) => [call.tools?.length ?? 0, call.prompt.length])).toEqual([
      [0, 2],
      [1, 2],
      [0, 1],
    ]);
  });

  test.each([
    ['undefined', undefined, 'the call failed: the model threw undefined'],
    ['null', null, 'the call failed: the model threw null'],
    ['a string', 'Out of\nluck.', 'the call failed: the model threw "Out of luck."'],
    ['a key', 'sk-abcdefghijklmnopqrstuvwx', 'the call failed: the model threw "[key]"'],
    ['a big integer', 5n, 'the call failed: the model threw a value that is not JSON'],
  ])('reports a model that throws %s', async (_, thrown, message) => {
    const model = fake([], { doStream: () => Promise.reject(thrown) }).create();
    expect(await failureFrom(model)).toMatchObject({ code: 'unexpected', message, status: null });
  });

  test('reports an error that contains itself', async () => {
    const error: Record<string, unknown> = {};
    error['error'] = error;
    const model = fake([], { doStream: () => Promise.reject(error) }).create();
    expect((await failureFrom(model)).message).toMatch(/a value that is not JSON/);
  });

  test('reports the last error of a model that retried', async () => {
    const lastError = callError(429, 'Slow down.');
    const error = Object.assign(new Error('Failed after 3 attempts.'), { name: 'AI_RetryError', lastError });
    expect(await failureFrom(fake([error]).create())).toMatchObject({ code: 'rate_limited', status: 429 });
  });

  test('ends on an abort even if the provider ignores it', async () => {
    const silent = fake([], { doStream: async () => ({ stream: new ReadableStream() }) }).create();
    const never = fake([], { doStream: () => new Promise(() => {}) }).create();
    for (const model of [silent, never]) {
      const controller = new AbortController();
      const parts = partsOf(model, modelRequest(), controller.signal);
      setImmediate(() => controller.abort());
      expect(await parts).toEqual([]);
    }
  });
});
