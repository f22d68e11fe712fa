import OpenAI from 'openai';
import { zodFunction, zodResponseFormat, zodResponsesFunction, zodTextFormat } from 'openai/helpers/zod';
import type { ChatCompletionMessageParam, ChatCompletionToolChoiceOption } from 'openai/resources/chat/completions';
import type { ResponseInputItem } from 'openai/resources/responses/responses';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { entriesOf } from '../../../src/durable/journals/journal-store.ts';
import { always, scriptedModel } from '../../../src/models/scripted.ts';
import { replies } from '../../../src/testing/replies.ts';
import { ALICE, BOB, startServer } from '../../support/chain-server.ts';

const Weather = z.object({ city: z.string() });
const OSLO = { city: 'Oslo' };
const model = 'postchain';
const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: 'Is it so?' }];
const parameters = { type: 'object', properties: { city: { $ref: '#/$defs/c' } }, $defs: { c: { type: 'string' } } };
const fn = (name: string) => ({ name, description: name, parameters, strict: false });
const chatTools = ['weather', 'time'].map((name) => ({ type: 'function' as const, function: fn(name) }));
const tools = ['weather', 'time'].map((name) => ({ type: 'function' as const, ...fn(name) }));

/** A server whose model states this value, and the prompts that it gets. */
async function serve(value: unknown = OSLO, chain: object = {}) {
  const scripted = scriptedModel({ value: always({ reply: value }) }, { otherwise: replies, chunkChars: 5 });
  const server = await startServer({ chain: { model: scripted, ...chain } });
  const client = (apiKey = ALICE) => new OpenAI({ baseURL: `${server.url}/v1`, apiKey, maxRetries: 0 });
  return { ...server, client, calls: scripted.calls };
}

describe('a response format', () => {
  it('is a value for the parsers of both APIs, also streamed, and stored', async () => {
    const client = (await serve()).client();
    const format = { model, messages, response_format: zodResponseFormat(Weather, 'weather') };
    const parsed = await client.chat.completions.parse(format);
    expect(parsed.choices[0]).toMatchObject({ message: { parsed: OSLO, refusal: null }, finish_reason: 'stop' });
    const streamed = await client.chat.completions.stream(format).finalChatCompletion();
    expect(streamed.choices[0]?.message.parsed).toEqual(OSLO);
    const asked = { model, input: 'Is it so?', text: { format: zodTextFormat(Weather, 'weather') } };
    const response = await client.responses.parse(asked);
    expect(response.output_parsed).toEqual(OSLO);
    expect(response.text?.format).toMatchObject({ type: 'json_schema', name: 'weather' });
    expect((await client.responses.stream(asked).finalResponse()).output_parsed).toEqual(OSLO);
    expect((await client.responses.retrieve(response.id)).output_text).toBe(JSON.stringify(OSLO));
    const next = await client.responses.create({ model, input: 'And?', previous_response_id: response.id });
    expect(next.output_text).toBe('It is so.');
  });

  it.each([
    ['json_object', { type: 'json_object' as const }, '{"city":"Oslo"}'],
    ['text', { type: 'text' as const }, 'It is so.'],
  ])('can be %s', async (_, format, content) => {
    const client = (await serve()).client();
    const completion = await client.chat.completions.create({ model, messages, response_format: format });
    expect(completion.choices[0]?.message.content).toBe(content);
    expect((await client.responses.create({ model, input: 'Is it so?', text: { format } })).output_text).toBe(content);
  });

  it('without a value is a refusal with the reason, also streamed', async () => {
    const client = (await serve({ city: 7 })).client();
    const format = { model, messages, response_format: zodResponseFormat(Weather, 'weather') };
    const refused = { parsed: null, content: null, refusal: expect.stringContaining('(city)') };
    expect((await client.chat.completions.parse(format)).choices[0]?.message).toMatchObject(refused);
    const streamed = await client.chat.completions.stream(format).finalChatCompletion();
    expect(streamed.choices[0]?.message).toMatchObject({ refusal: refused.refusal });
    const asked = { model, input: 'Is it so?', text: { format: zodTextFormat(Weather, 'weather') } };
    const response = await client.responses.parse(asked);
    expect(response.output.at(-1)).toMatchObject({ content: [{ type: 'refusal', refusal: refused.refusal }] });
    const stream = client.responses.stream(asked);
    expect((await entriesOf(stream)).map(({ type }) => type)).toContain('response.refusal.done');
    expect((await stream.finalResponse()).output).toMatchObject([{}, { content: [{ type: 'refusal' }] }]);
  });

  const refused: readonly (readonly [object, string])[] = [
    [{ response_format: { type: 'xml' } }, 'response_format'],
    ...[
      'always',
      'required',
      { type: 'function', function: { name: 'x' } },
      { type: 'custom', custom: { name: 'x' } },
    ].map((tool_choice) => [{ tool_choice }, 'tool_choice'] as const),
    [{ max_tokens: 0 }, 'max_tokens'],
    ...['stop', 'logit_bias', 'max_tool_calls', 'moderation', 'prompt'].map(
      (name) => [{ [name]: { length: 1 } }, name] as const,
    ),
  ];
  it.each(refused)('%j is refused', async (given, param) => {
    const { post } = await serve();
    const response = await post('/v1/chat/completions', { model, messages, ...given });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param } });
  });
});

describe('a forced call', () => {
  const one = { type: 'function', function: { name: 'weather' } } as const;
  const only = [{ type: 'function', function: { name: 'weather' } }];
  it.each([
    ['a function', one, OSLO],
    ['"required"', 'required', { name: 'time', arguments: OSLO }],
    ['an allowed tool', { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: only } }, OSLO],
  ] as const)('of %s has valid arguments in chat completions', async (_, tool_choice, value) => {
    const { client, calls } = await serve(value);
    const asked = { model, messages, tools: chatTools, tool_choice: tool_choice as ChatCompletionToolChoiceOption };
    const { choices } = await client().chat.completions.create(asked);
    const called = { function: { name: 'name' in value ? 'time' : 'weather', arguments: '{"city":"Oslo"}' } };
    expect(choices[0]).toMatchObject({ message: { content: null, tool_calls: [called] }, finish_reason: 'tool_calls' });
    expect(calls.some(({ tools }) => tools !== undefined)).toBe(false);
    const stream = client().chat.completions.stream(asked);
    expect((await stream.finalMessage()).tool_calls).toMatchObject([called]);
    // The result is a part of the next request.
    const [message] = choices.map((choice) => choice.message);
    const results = (message?.tool_calls ?? []).map(({ id }) => ({
      role: 'tool' as const,
      tool_call_id: id,
      content: 'Rain.',
    }));
    const next = [...messages, message as ChatCompletionMessageParam, ...results];
    const answer = await client().chat.completions.create({ model, messages: next, tools: chatTools });
    expect(answer.choices[0]?.message.content).toBe('It is so.');
    expect(JSON.stringify(calls.at(-1)?.turns)).toContain(`Tool result of ${called.function.name}`);
  });

  it.each([
    ['a function', { type: 'function', name: 'weather' }, OSLO],
    ['"required"', 'required', { name: 'time', arguments: OSLO }],
    [
      'an allowed tool',
      { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'weather' }] },
      OSLO,
    ],
  ] as const)('of %s has valid arguments in responses', async (_, choice, value) => {
    const { client, calls } = await serve(value);
    const tool_choice = choice as { type: 'function'; name: string };
    const asked = { model, input: 'Is it so?', tools, tool_choice };
    const response = await client().responses.create(asked);
    const name = 'name' in value ? 'time' : 'weather';
    const call = response.output.find((item) => item.type === 'function_call');
    expect(call).toMatchObject({ name, arguments: '{"city":"Oslo"}' });
    expect(response.status).toBe('completed');
    expect(await client().responses.retrieve(response.id)).toEqual(response);
    const streamed = await client().responses.stream(asked).finalResponse();
    expect(streamed.output.at(-1)).toMatchObject({ type: 'function_call', name });
    const result = { type: 'function_call_output', call_id: call?.call_id ?? '', output: 'Rain.' } as const;
    for (const next of [
      { input: [result], previous_response_id: response.id },
      { input: [{ role: 'user', content: 'Is it so?' }, ...response.output, result] as ResponseInputItem[] },
    ]) {
      expect((await client().responses.create({ model, ...next })).output_text).toBe('It is so.');
      expect(JSON.stringify(calls.at(-1)?.turns)).toContain(`Tool result of ${name}`);
    }
  });

  it('is parsed by the helpers for functions, and a refusal without a value', async () => {
    const client = (await serve()).client();
    const chat = [zodFunction({ name: 'weather', parameters: Weather })];
    const { choices } = await client.chat.completions.parse({ model, messages, tools: chat, tool_choice: 'required' });
    expect(choices[0]?.message.tool_calls?.[0]?.function.parsed_arguments).toEqual(OSLO);
    const functions = [zodResponsesFunction({ name: 'weather', parameters: Weather })];
    const asked = { model, input: 'Is it so?', tools: functions, tool_choice: 'required' as const };
    expect((await client.responses.parse(asked)).output.at(-1)).toMatchObject({ parsed_arguments: OSLO });
    const without = (await serve({ city: 7 })).client();
    const refused = await without.chat.completions.parse({ model, messages, tools: chat, tool_choice: 'required' });
    expect(refused.choices[0]).toMatchObject({ message: { refusal: /city/u }, finish_reason: 'stop' });
  });

  it('leaves tools out with "none", and offers only the allowed ones with "auto"', async () => {
    const { client, calls } = await serve();
    const offered = () => /"name":"(\w+)","description":"\w+"/gu.exec(calls[0]?.turns.at(-1)?.content ?? '')?.[1];
    const allowed = { mode: 'auto' as const, tools: [{ type: 'function', function: { name: 'time' } }] };
    const asked = { model, messages, tools: chatTools };
    await client().chat.completions.create({
      ...asked,
      tool_choice: { type: 'allowed_tools', allowed_tools: allowed },
    });
    expect(offered()).toBe('time');
    await client().chat.completions.create({ ...asked, tool_choice: 'none' });
    expect(JSON.stringify(calls.at(-1)?.turns)).not.toContain('weather');
  });
});

describe('a conversation of another server', () => {
  const said = (message: object): ChatCompletionMessageParam[] => [
    { role: 'user', content: 'Hello?' },
    message as ChatCompletionMessageParam,
    ...messages,
  ];
  it.each([
    ['null and a refusal', { content: null, refusal: 'No, sorry.' }, 'No, sorry.'],
    ['null and audio', { content: null, audio: { id: 'a' } }, ''],
    ['null and no calls', { content: null, tool_calls: [], refusal: null, annotations: [] }, ''],
    ['null and a call in the old format', { content: null, function_call: { name: 'f', arguments: '{}' } }, ''],
    ['nothing', {}, ''],
    [
      'parts, some unsaid',
      {
        content: [
          { type: 'thinking', thinking: 'x' },
          { type: 'text', text: 'Hi.' },
        ],
      },
      'Hi.',
    ],
    ['a name', { name: 'bot', content: 'I am.' }, 'I am.'],
  ])('may have an assistant message with %s', async (_, message, text) => {
    const { client, calls } = await serve();
    await client().chat.completions.create({ model, messages: said({ role: 'assistant', ...message }) });
    expect(JSON.stringify(calls[0]?.turns)).toContain(text);
  });

  it('may end with the results of calls, or have some in the old format', async () => {
    const { client, calls } = await serve();
    const call = { id: 'call_abc', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } };
    for (const content of [null, '', 'I will look.']) {
      const made = { role: 'assistant', content, tool_calls: [call] };
      const ending = [...messages, made, { role: 'tool', tool_call_id: 'call_abc', content: 'Sun.' }];
      await client().chat.completions.create({ model, messages: ending as ChatCompletionMessageParam[] });
      expect(calls.at(-1)?.turns[1]?.content).toContain('Tool result of weather({"city":"Rome"}): Sun.');
    }
    const former = said({ role: 'function', name: 'weather', content: 'Hail.' });
    await client().chat.completions.create({ model, messages: former });
    expect(JSON.stringify(calls.at(-1)?.turns)).toContain('Hail.');
  });

  it('may have any item of OpenAI’s API, which is skipped, but no unknown one', async () => {
    const { post, calls } = await serve();
    const types = [
      'web_search_call',
      'file_search_call',
      'computer_call',
      'computer_call_output',
      'code_interpreter_call',
    ];
    const more = ['image_generation_call', 'local_shell_call', 'local_shell_call_output', 'mcp_list_tools', 'mcp_call'];
    const rest = ['mcp_approval_request', 'mcp_approval_response', 'custom_tool_call', 'custom_tool_call_output'];
    const items = [...types, ...more, ...rest, 'reasoning', 'compaction', 'shell_call', 'apply_patch_call'];
    const input = [...items.map((type) => ({ type, id: 'x', secret: 'zzz' })), { role: 'user', content: 'Is it so?' }];
    expect((await post('/v1/responses', { model, input })).status).toBe(200);
    expect(JSON.stringify(calls[0]?.turns)).not.toContain('zzz');
    expect((await post('/v1/responses', { model, input: [{ type: 'web_serch_call' }, ...input] })).status).toBe(400);
  });
});

describe('a stored response', () => {
  it('has input items, in pages, for its owner only, and is deleted', async () => {
    const { client } = await serve();
    const { responses } = client();
    const input = ['One?', 'Two?', 'Three?'].map((content) => ({ role: 'user' as const, content }));
    const { id } = await responses.create({ model, input });
    const texts = (await entriesOf(responses.inputItems.list(id, { limit: 2, order: 'asc' }))).map(
      (item) => JSON.stringify(item).match(/"text":"(\w+)/u)?.[1],
    );
    expect(texts).toEqual(['One', 'Two', 'Three']);
    const page = await responses.inputItems.list(id, { limit: 1 });
    expect(page).toMatchObject({ has_more: true, data: [{ type: 'message', role: 'user' }] });
    for (const asked of [{ limit: 0 }, { after: 'x' }, { order: 'x' as 'asc' }])
      await expect(responses.inputItems.list(id, asked)).rejects.toMatchObject({ status: 400 });
    for (const foreign of [client(BOB).responses.inputItems.list(id), client(BOB).responses.delete(id)])
      await expect(foreign).rejects.toMatchObject({ status: 404 });
    await responses.delete(id);
    await expect(responses.retrieve(id)).rejects.toMatchObject({ status: 404 });
  });
});

it('a response has at most as many tokens as its request allows', async () => {
  const client = (await serve({ city: 'x'.repeat(1_000) })).client();
  const response_format = { type: 'json_object' } as const;
  const { choices } = await client.chat.completions.create({ model, messages, response_format, max_tokens: 20 });
  expect(choices[0]).toMatchObject({
    finish_reason: 'length',
    message: { content: expect.stringMatching(/^.{80}$/u) },
  });
  const response = await client.responses.create({ model, input: 'Is it so?', max_output_tokens: 2 });
  expect(response).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
  expect(await client.responses.retrieve(response.id)).toEqual(response);
});
