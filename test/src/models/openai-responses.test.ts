import { describe, expect, test } from 'vitest';
import { openaiModel } from '../../../src/models/openai/openai-model.ts';
import type { OpenAIModelOptions } from '../../../src/models/openai/options.ts';
import {
  type ChatBody,
  chatServer,
  completion,
  DONE,
  respondWithJson,
  responseEvent,
  responseOf,
  seededSizes,
  splitBytes,
  streaming,
} from '../../support/chat-server.ts';
import { failureFrom, modelRequest, partsOf, replyOf, textOf } from '../../support/model-streams.ts';

const model = (baseURL: string, options: Partial<OpenAIModelOptions> = {}) =>
  openaiModel({ model: 'm', apiKey: 'k', baseURL, api: 'responses', ...options });

/** A server that sends these bytes as the stream of every reply. */
const serverOf = (bytes: string) => chatServer(({ response }) => void streaming(response).end(bytes));

/** The parts of one reply of these bytes. */
const partsFrom = async (bytes: string, request = modelRequest()) =>
  partsOf(model((await serverOf(bytes)).baseURL), request);

const completed = (members: object = {}) =>
  responseEvent('response.completed', {
    response: { object: 'response', status: 'completed', output: [], ...members },
  });
const delta = (type: string, text: string, index = 0) =>
  responseEvent(`response.${type}.delta`, { output_index: index, delta: text });
const item = (event: 'added' | 'done', index: number, members: object) =>
  responseEvent(`response.output_item.${event}`, { output_index: index, item: members });
const call = (name: string, args: string) => ({ type: 'function_call', id: 'fc', call_id: 'c', name, arguments: args });
const USAGE = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 16 },
  output_tokens: 9,
  output_tokens_details: { reasoning_tokens: 4 },
  total_tokens: 29,
};

describe('the openai model with the Responses API', () => {
  test('sends the prompt and the schema of the reply, and stores nothing on the server', async () => {
    const server = await serverOf(responseOf('{}'));
    const options = {
      temperature: 0.5,
      maxOutputTokens: 50,
      reasoningEffort: 'low',
      reasoningSummary: 'auto',
    } as const;
    const subject = model(server.baseURL, { ...options, serviceTier: 'flex', promptCacheKey: 'k1' });
    expect(textOf(await partsOf(subject))).toBe('{}');
    const { turns, outputSchema: schema } = modelRequest();
    expect(server.exchanges[0]).toMatchObject({ method: 'POST', path: '/v1/responses' });
    expect(server.exchanges[0]?.body).toEqual({
      model: 'm',
      stream: true,
      store: false,
      input: turns,
      text: { format: { type: 'json_schema', name: 'action_reply', schema, strict: true } },
      temperature: 0.5,
      max_output_tokens: 50,
      reasoning: { effort: 'low', summary: 'auto' },
      service_tier: 'flex',
      prompt_cache_key: 'k1',
    });
  });

  test('requests a reply as a tool call, and offers other tools beside it', async () => {
    const server = await serverOf(responseOf('{}'));
    const search = { name: 'search', description: 'Searches.', parameters: { type: 'object', properties: {} } };
    const subject = model(server.baseURL);
    await partsOf(subject, modelRequest({ replyForm: 'tool-call' }));
    await partsOf(subject, modelRequest({ tools: [search] }));
    const [forced, offering] = server.exchanges.map(({ body }) => body);
    expect(forced).toMatchObject({
      tools: [{ type: 'function', name: 'action_reply', strict: true, parameters: { type: 'object' } }],
      tool_choice: { type: 'function', name: 'action_reply' },
    });
    expect(forced).not.toHaveProperty('text');
    expect(offering).toMatchObject({ tools: [{ type: 'function', ...search, strict: false }], tool_choice: 'auto' });
  });

  test('streams text and reasoning, and ends with cached and reasoning tokens', async () => {
    const parts = await partsFrom(
      responseEvent('response.created', { response: { status: 'in_progress' } }) +
        item('added', 0, { type: 'reasoning', summary: [] }) +
        delta('reasoning_summary_text', 'Let me ') +
        delta('reasoning_text', 'see.') +
        item('done', 0, { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Let me see.' }] }) +
        delta('output_text', '{"a"', 1) +
        responseEvent('keepalive') +
        delta('output_text', ':1}', 1) +
        item('done', 1, { type: 'message', content: [{ type: 'output_text', text: '{"a":1}' }] }) +
        completed({ output: [{ type: 'message', content: [{ type: 'output_text', text: '{"a":1}' }] }], usage: USAGE }),
    );
    expect(parts).toEqual([
      { type: 'reasoning-delta', text: 'Let me ' },
      { type: 'reasoning-delta', text: 'see.' },
      { type: 'text-delta', text: '{"a"' },
      { type: 'text-delta', text: ':1}' },
      {
        type: 'finish',
        reason: 'stop',
        usage: { inputTokens: 20, outputTokens: 9, cachedInputTokens: 16, reasoningTokens: 4, estimated: false },
      },
    ]);
  });

  test('reassembles tool calls, however the bytes are cut and whether their arguments are streamed', async () => {
    const bytes = Buffer.from(
      item('added', 0, call('first', '')) +
        item('added', 1, call('second', '')) +
        delta('function_call_arguments', '{"q":', 0) +
        delta('function_call_arguments', '{"n":2}', 1) +
        delta('function_call_arguments', '"ü"}', 0) +
        item('done', 0, call('first', '{"q":"ü"}')) +
        item('done', 1, call('second', '{"n":2}')) +
        item('done', 2, call('third', '{}')) +
        completed({ output: [call('first', '{"q":"ü"}'), call('second', '{"n":2}'), call('third', '{}')] }),
    );
    const calls = [
      { name: 'first', arguments: '{"q":"ü"}' },
      { name: 'second', arguments: '{"n":2}' },
      { name: 'third', arguments: '{}' },
    ];
    for (const size of [() => bytes.length, seededSizes(7, 60), () => 1]) {
      const queue = splitBytes(bytes, size).values();
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          const { done, value } = queue.next();
          if (done) controller.close();
          else controller.enqueue(value);
        },
      });
      const parts = await partsOf(model('http://127.0.0.1:1/v1', { fetch: async () => new Response(body) }));
      expect(replyOf(parts)).toMatchObject({ calls, end: 'tool-calls' });
    }
  });

  test('keeps the calls apart if a server numbers all items of the output 0, or changes their ids', async () => {
    const bytes = ['first', 'second'].map(
      (name, at) =>
        item('added', 0, { ...call(name, ''), id: `a${at}` }) +
        delta('function_call_arguments', `{"at":`, 0) +
        delta('function_call_arguments', `${at}}`, 0) +
        item('done', 0, { ...call(name, `{"at":${at}}`), id: `b${at}` }),
    );
    const text =
      item('added', 0, { type: 'message' }) +
      item('done', 0, { type: 'message', content: [{ type: 'output_text', text: 'ok' }] });
    expect(replyOf(await partsFrom(bytes.join('') + text + completed()))).toMatchObject({
      text: 'ok',
      calls: [
        { name: 'first', arguments: '{"at":0}' },
        { name: 'second', arguments: '{"at":1}' },
      ],
    });
  });

  test('reads the reply from the last event if only reasoning was streamed', async () => {
    const output = [
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] },
      { type: 'message', content: [{ type: 'output_text', text: '{}' }] },
    ];
    const reply = replyOf(await partsFrom(delta('reasoning_summary_text', 'Hm.') + completed({ output })));
    expect(reply).toEqual({ text: '{}', reasoning: 'Hm.', calls: [], end: 'stop' });
  });

  test('reads a response that is not streamed, and one whose only event with content is the last', async () => {
    const output = [
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] },
      { type: 'message', content: [{ type: 'output_text', text: '{"a":1}' }] },
      call('search', '{}'),
    ];
    const expected = {
      text: '{"a":1}',
      reasoning: 'Hm.',
      calls: [{ name: 'search', arguments: '{}' }],
      end: 'tool-calls',
    };
    const server = await chatServer(({ response }) =>
      respondWithJson(response, 200, { object: 'response', status: 'completed', output, error: null, usage: USAGE }),
    );
    const parts = await partsOf(model(server.baseURL, { stream: false }));
    expect(replyOf(parts)).toEqual(expected);
    expect(parts.at(-1)).toMatchObject({ usage: { inputTokens: 20, cachedInputTokens: 16 } });
    expect(server.exchanges[0]?.body.stream).toBe(false);
    expect(replyOf(await partsFrom(completed({ output })))).toEqual(expected);
  });

  test.each([
    ['max_output_tokens', 'length'],
    ['content_filter', 'content-filter'],
    ['other', 'other'],
  ])('an incomplete response ends with the finish reason of its details: %s', async (reason, end) => {
    const response = { object: 'response', status: 'incomplete', incomplete_details: { reason }, usage: USAGE };
    const parts = await partsFrom(delta('output_text', '{"a') + responseEvent('response.incomplete', { response }));
    expect(replyOf(parts)).toMatchObject({ text: '{"a', end });
    expect(parts.at(-1)).toMatchObject({ usage: { inputTokens: 20 } });
  });

  test('a refusal is a failure that quotes it', async () => {
    const parts = await partsFrom(delta('refusal', 'I cannot ') + delta('refusal', 'help.') + completed());
    expect(parts.at(-1)).toMatchObject({
      type: 'failure',
      failure: { stage: 'refinement', code: 'refused', message: 'the model refused: I cannot help.' },
    });
  });

  test.each([
    [
      'failed',
      { status: 'failed', error: { code: 'rate_limit_exceeded', message: 'Slow down.' } },
      'rate_limited',
      true,
    ],
    ['failed', { status: 'failed', error: { code: 'server_error', message: 'Boom.' } }, 'server_error', true],
    ['failed', { status: 'failed', error: { code: 'invalid_prompt', message: 'No.' } }, 'bad_request', false],
    ['completed', { status: 'cancelled', error: null }, 'server_error', true],
  ])('a response that failed is a failure with its usage: %s %j', async (type, members, code, retryable) => {
    const response = { object: 'response', output: [], usage: USAGE, ...members };
    const parts = await partsFrom(delta('output_text', 'half') + responseEvent(`response.${type}`, { response }));
    expect(textOf(parts)).toBe('half');
    expect(parts.at(-1)).toMatchObject({ failure: { code, retryable }, usage: { inputTokens: 20, outputTokens: 9 } });
  });

  test.each([
    [{ code: 'rate_limit_exceeded', message: 'Slow down.', param: null }, 'rate_limited'],
    [
      { error: { type: 'invalid_request_error', code: 'context_length_exceeded', message: 'Too long.' } },
      'prompt_too_long',
    ],
    [{ code: null, message: 'Boom.' }, 'server_error'],
  ])('an error event is a failure: %j', async (members, code) => {
    const parts = await partsFrom(delta('output_text', 'half') + responseEvent('error', members));
    expect(parts.at(-1)).toMatchObject({ type: 'failure', failure: { code } });
  });

  test.each([
    ['cut before its end', delta('output_text', 'half'), 'stream_cut'],
    ['empty', '', 'garbled_reply'],
  ])('a reply that is %s is a retryable failure', async (_, bytes, code) => {
    const parts = await partsFrom(bytes);
    expect(parts.at(-1)).toMatchObject({ failure: { stage: 'transport', code, retryable: true } });
  });

  test('a reply of the other API is read, too', async () => {
    expect(replyOf(await partsFrom(completion('{}')))).toMatchObject({ text: '{}', end: 'stop' });
    const server = await serverOf(responseOf('{}'));
    const chat = openaiModel({ model: 'm', apiKey: 'k', baseURL: server.baseURL, api: 'chat' });
    expect(replyOf(await partsOf(chat))).toMatchObject({ text: '{}', end: 'stop' });
  });

  test('a reply is used as soon as it is complete, with or without an end mark', async () => {
    const server = await chatServer(({ response, index }) => {
      streaming(response).write(responseOf('{}', { usage: USAGE }) + (index === 0 ? '' : DONE));
    });
    for (let reply = 0; reply < 2; reply += 1)
      expect(replyOf(await partsOf(model(server.baseURL)))).toMatchObject({ text: '{}', end: 'stop' });
    await server.allClosed();
  });

  test('falls back to a JSON object and to text if the server rejects the format, and remembers it', async () => {
    const server = await chatServer(({ body, response }) => {
      const type = body.text?.format?.type;
      if (type === undefined) streaming(response).end(responseOf('{}'));
      else respondWithJson(response, 400, { error: { message: `Unsupported: ${type}`, param: 'text.format' } });
    });
    const subject = model(server.baseURL);
    for (let reply = 0; reply < 2; reply += 1) expect(textOf(await partsOf(subject))).toBe('{}');
    const formats = server.exchanges.map(({ body }) => body.text?.format?.type);
    expect(formats).toEqual(['json_schema', 'json_object', undefined, undefined]);
    expect(server.exchanges[2]?.body.input?.[0]?.content).toContain('It must match this JSON Schema');
  });

  test('a 404 mentions that not every server has the Responses API', async () => {
    const server = await chatServer(({ response }) => void response.writeHead(404).end('not found'));
    expect((await failureFrom(model(server.baseURL))).message).toContain('not every server has the Responses API');
  });
});

describe('the openai model without a chosen API', () => {
  const ONLY = 'This model is only supported in v1/responses and not in v1/chat/completions.';
  const WITH_TOOLS =
    'Function tools with reasoning_effort are not supported for m in /v1/chat/completions. Please use /v1/responses instead.';
  const search = { name: 'search', description: 'Searches.', parameters: { type: 'object', properties: {} } };

  /** A server that rejects these chat completions, with the text that OpenAI has for them. */
  const server = (rejects: (body: ChatBody) => boolean, status: number, message: string) =>
    chatServer(({ path, body, response }) => {
      if (path === '/v1/responses') streaming(response).end(responseOf('{}'));
      else if (rejects(body)) respondWithJson(response, status, { error: { message, param: 'model' } });
      else streaming(response).end(completion('{}'));
    });

  test.each([
    [404, ONLY, () => true],
    [400, WITH_TOOLS, ({ tools }: ChatBody) => tools !== undefined],
  ])(
    'uses the Responses API if chat completions lack the model or a combination: %i %s',
    async (status, message, rejects) => {
      const picky = await server(rejects, status, message);
      const subject = openaiModel({ model: 'm', apiKey: 'k', baseURL: picky.baseURL });
      for (let reply = 0; reply < 2; reply += 1)
        expect(textOf(await partsOf(subject, modelRequest({ tools: [search] })))).toBe('{}');
      const paths = picky.exchanges.map(({ path }) => path);
      expect(paths).toEqual(['/v1/chat/completions', '/v1/responses', '/v1/responses']);
      expect(picky.exchanges[1]?.body.tools).toHaveLength(1);
    },
  );

  test('does not change an API that was chosen', async () => {
    const picky = await server(() => true, 404, ONLY);
    const subject = openaiModel({ model: 'm', apiKey: 'k', baseURL: picky.baseURL, api: 'chat' });
    expect((await failureFrom(subject)).message).toContain('only supported in v1/responses');
    expect(picky.exchanges).toHaveLength(1);
  });
});
