import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, isStepCount, tool } from 'ai';
import OpenAI from 'openai';
import type { ResponseFunctionToolCall, ResponseInputItem } from 'openai/resources/responses/responses';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { JournalStore } from '../../../src/durable/journals/journal-store.ts';
import { memoryJournals } from '../../../src/durable/journals/memory-journals.ts';
import { scriptedModel } from '../../../src/models/scripted.ts';
import type { RunView } from '../../../src/server/run-view.ts';
import { replies } from '../../../src/testing/replies.ts';
import { ALICE, BOB, refunds, startServer } from '../../support/chain-server.ts';

const parameters = { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] };
const description = 'Returns the weather.';
const weather = { type: 'function' as const, name: 'get_weather', description, parameters, strict: false };
const asked = { model: 'postchain', input: 'Do I need an umbrella?', tools: [weather] };
const { type: _, strict: __, ...definition } = weather;
const chatTool = { type: 'function' as const, function: definition };
const messages = [{ role: 'user' as const, content: 'Do I need an umbrella?' }];

/** A server whose model asks for the weather in these places, in rounds of calls, and the prompts that it gets. */
const serve = (...rounds: readonly (readonly string[])[]) => serveFrom(memoryJournals(), ...rounds);

async function serveFrom(journals: JournalStore, ...rounds: readonly (readonly string[])[]) {
  const callsIn = (places: readonly string[]) =>
    places.map((location) => ({ capability: 'get_weather', arguments: JSON.stringify({ location }) }));
  const [first = [], ...others] = rounds;
  const continuation = [
    ...others.map((places) => ({ done: false, finalOutput: null, next: callsIn(places) })),
    { done: true, finalOutput: null, next: [] },
  ];
  const model = scriptedModel(
    { action: [{ ...replies.action, calls: callsIn(first) }], continuation },
    { otherwise: replies, chunkChars: 8 },
  );
  const server = await startServer({ chain: { journals, model, ...(others.length > 0 && { continuation: 'model' }) } });
  const client = (apiKey = ALICE) => new OpenAI({ baseURL: `${server.url}/v1`, apiKey, maxRetries: 0 });
  return { ...server, client, prompts: () => JSON.stringify(model.calls.map(({ turns }) => turns)) };
}

const callsOf = ({ output }: OpenAI.Responses.Response): readonly ResponseFunctionToolCall[] =>
  output.filter((item) => item.type === 'function_call');

const outputOf = ({ call_id }: { readonly call_id: string }, output = 'It rains.'): ResponseInputItem => ({
  type: 'function_call_output',
  call_id,
  output,
});

describe('a tool of the client in the Responses API', () => {
  it('is called, and its output continues the run in another response', async () => {
    const { client, prompts, get } = await serve(['Bergen', 'Oslo']);
    const { responses } = client();
    const first = await responses.create(asked);
    expect(first).toMatchObject({ status: 'completed', incomplete_details: null, output_text: '' });
    const calls = callsOf(first);
    expect(calls).toMatchObject([
      { name: 'get_weather', arguments: '{"location":"Bergen"}', status: 'completed' },
      { name: 'get_weather', arguments: '{"location":"Oslo"}' },
    ]);
    expect(await responses.retrieve(first.id)).toEqual(first);
    const [one, two] = calls.map((call) => outputOf(call, `In ${call.arguments}, it rains.`));
    const next = { ...asked, previous_response_id: first.id };
    const partly = responses.create({ ...next, input: [one as ResponseInputItem] });
    await expect(partly).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(calls[1]?.call_id ?? ''),
    });
    const input = [one, two] as ResponseInputItem[];
    const twice = responses.create({
      ...next,
      input: [...input, outputOf({ call_id: calls[0]?.call_id ?? '' }, 'Sun.')],
    });
    await expect(twice).rejects.toMatchObject({ status: 400, param: 'input' });
    // Two retries at the same time are one.
    const [second, same] = await Promise.all([1, 2].map(() => responses.create({ ...next, input })));
    expect(same).toEqual(second);
    if (second === undefined) throw new Error('no response');
    expect(second).toMatchObject({ status: 'completed', output_text: 'It is so.', previous_response_id: first.id });
    expect(second.id).not.toBe(first.id);
    expect(prompts()).toContain('it rains.');
    expect(await responses.retrieve(second.id)).toEqual(second);
    expect(await responses.retrieve(first.id)).toEqual(first);
    // A client that retries gets the same response, and no other result counts, however often it is sent.
    expect(await responses.create({ ...next, input })).toEqual(second);
    for (let sent = 0; sent < 2; sent += 1) {
      const changed = responses.create({ ...next, input: calls.map((call) => outputOf(call, 'Sun.')) });
      await expect(changed).rejects.toMatchObject({ status: 409 });
    }
    const { runs } = (await (await get('/runs')).json()) as { runs: { runId: string }[] };
    const { answer } = (await (await get(`/runs/${runs[0]?.runId}`)).json()) as RunView;
    expect(first.usage?.total_tokens).toBeGreaterThan(0);
    for (const [count, total] of [
      ['input_tokens', answer?.metadata.usage.inputTokens],
      ['output_tokens', answer?.metadata.usage.outputTokens],
    ] as const)
      expect((first.usage?.[count] ?? 0) + (second.usage?.[count] ?? 0)).toBe(total);
    const third = await responses.create({ ...asked, input: 'Why?', tools: [], previous_response_id: second.id });
    expect(third.output_text).toBe('It is so.');
  });

  it('is called again and again by a client that sends the whole conversation', async () => {
    const { client, get } = await serve(['Bergen'], ['Oslo']);
    const input: ResponseInputItem[] = [{ role: 'user', content: asked.input }];
    const places: string[] = [];
    let text = '';
    while (text === '') {
      const response = await client().responses.create({ ...asked, input, store: false });
      input.push(...(response.output as ResponseInputItem[]));
      for (const call of callsOf(response)) {
        places.push(JSON.parse(call.arguments).location);
        input.push(outputOf(call));
      }
      text = response.output_text;
    }
    expect(places).toEqual(['Bergen', 'Oslo']);
    expect(((await (await get('/runs')).json()) as { runs: unknown[] }).runs).toHaveLength(1);
    // In a later question, the calls are history.
    input.push({ role: 'user', content: 'Why?' });
    expect((await client().responses.create({ ...asked, input, tools: [] })).output_text).toBe('It is so.');
  });

  it('is streamed, and each response can be read again from any event', async () => {
    const { client } = await serve(['Bergen']);
    const { responses } = client();
    const collect = async (events: AsyncIterable<OpenAI.Responses.ResponseStreamEvent>) => {
      const all = [];
      for await (const event of events) all.push(event);
      return all;
    };
    const stream = responses.stream(asked);
    const first = await collect(stream);
    const response = await stream.finalResponse();
    const [call] = callsOf(response);
    expect(first.filter(({ type }) => type.startsWith('response.function_call_arguments'))).toMatchObject([
      { delta: '{"location":"Bergen"}', item_id: call?.id },
      { arguments: '{"location":"Bergen"}', item_id: call?.id },
    ]);
    const input = [outputOf({ call_id: call?.call_id ?? '' })];
    const second = await collect(await responses.create({ ...asked, input, stream: true }));
    const last = second.at(-1);
    const id = last?.type === 'response.completed' ? last.response.id : '';
    for (const [read, events] of [
      [response.id, first],
      [id, second],
    ] as const) {
      expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at));
      for (const starting_after of [-1, 1, events.length - 2])
        expect(await collect(await responses.retrieve(read, { stream: true, starting_after }))).toEqual(
          events.slice(starting_after + 1),
        );
    }
  });

  it('waits in the background, and is canceled', async () => {
    const { client, get } = await serve(['Bergen']);
    const { responses } = client();
    const { id } = await responses.create({ ...asked, background: true });
    await expect.poll(async () => (await responses.retrieve(id)).status).toBe('completed');
    const first = await responses.cancel(id);
    expect(callsOf(first)).toHaveLength(1);
    const late = responses.create({ ...asked, input: callsOf(first).map((call) => outputOf(call)) });
    await expect(late).rejects.toMatchObject({ status: 409 });
    const { runs } = (await (await get('/runs')).json()) as { runs: { status: string }[] };
    expect(runs).toMatchObject([{ status: 'cancelled' }]);
    await expect(responses.retrieve(id.replace('resp', 'resp3'))).rejects.toMatchObject({ status: 404 });
  });

  it('is answered only by its owner, and only if it was called', async () => {
    const server = await serve(['Bergen']);
    const first = await server.client().responses.create(asked);
    const [call] = callsOf(first);
    const id = call?.call_id ?? '';
    const send = (apiKey: string, ...ids: readonly string[]) =>
      server.client(apiKey).responses.create({ ...asked, input: ids.map((call_id) => outputOf({ call_id })) });
    await expect(send(BOB, id)).rejects.toMatchObject({ status: 404 });
    await expect(send(ALICE, id.replace('approval1', 'approval2'))).rejects.toMatchObject({ status: 400 });
    for (const other of ['call_of_another_server', 'c1'])
      await expect(send(ALICE, other)).rejects.toMatchObject({ status: 400, param: 'input' });
    // These results do not count.
    for (const previous_response_id of ['resp_other', first.id.replace('resp', 'resp2')]) {
      const input = [outputOf({ call_id: id }, 'Sun.')];
      const other = server.client().responses.create({ ...asked, input, previous_response_id });
      await expect(other).rejects.toMatchObject({ status: 400, param: 'previous_response_id' });
    }
    const forged = server
      .client()
      .responses.create({ ...asked, previous_response_id: first.id.replace('resp', 'resp9') });
    await expect(forged).rejects.toMatchObject({ status: 404 });
    const none = server.client().responses.retrieve(first.id.replace('resp', 'resp0'));
    await expect(none).rejects.toMatchObject({ status: 404 });
    expect(await server.client().responses.retrieve(first.id)).toEqual(first);
    expect((await send(ALICE, id)).output_text).toBe('It is so.');
  });

  it('is called one at a time if the client says so, and its result continues the run in a restarted server', async () => {
    const journals = memoryJournals();
    const before = await serveFrom(journals, ['Bergen', 'Oslo']);
    const { responses } = before.client();
    const serial = { ...asked, parallel_tool_calls: false };
    const first = await responses.create(serial);
    expect(first.parallel_tool_calls).toBe(false);
    expect(callsOf(first)).toMatchObject([{ arguments: '{"location":"Bergen"}' }]);
    await before.close();
    const { client } = await serveFrom(journals);
    const results = callsOf(first).map((call) => outputOf(call));
    const second = await client().responses.create({ ...serial, input: results });
    expect(callsOf(second)).toMatchObject([{ arguments: '{"location":"Oslo"}' }]);
    // The client loses the stream of the answer, and sends its request again.
    const input = [...results, ...callsOf(second).map((call) => outputOf(call))];
    const last = { ...serial, input, stream: true as const };
    for await (const { type } of await client().responses.create(last)) if (type === 'response.created') break;
    const stream = client().responses.stream(last);
    expect((await stream.finalResponse()).output_text).toBe('It is so.');
  });

  it('is called before the result of the one before it, and the results may come together', async () => {
    const { responses } = (await serve(['Bergen', 'Oslo'])).client();
    const serial = { ...asked, parallel_tool_calls: false };
    const first = await responses.create(serial);
    const calls = [first, await responses.retrieve(first.id.replace('resp', 'resp2'))].flatMap(callsOf);
    expect(calls).toHaveLength(2);
    const input = calls.map((call) => outputOf(call));
    expect((await responses.create({ ...serial, input })).output_text).toBe('It is so.');
  });

  it('needs no result after its user has denied it', async () => {
    const { client, get, post } = await serve(['Bergen', 'Oslo']);
    const { responses } = client();
    const calls = callsOf(await responses.create(asked));
    const { runs } = (await (await get('/runs')).json()) as { runs: { runId: string }[] };
    const run = `/runs/${runs[0]?.runId}`;
    const { questions } = (await (await get(run)).json()) as { questions: Record<string, string>[] };
    const { questionId, digest } = questions[0] ?? {};
    await post(`${run}/events`, { type: 'approval.given', questionId, digest, decision: 'deny' });
    const input = calls.slice(1).map((call) => outputOf(call));
    expect((await responses.create({ ...asked, input })).status).toBe('completed');
  });

  it('never stands for an approval, which the run waits for after the results of the client', async () => {
    const { chain, refunded } = refunds('A7');
    const action = {
      ...replies.action,
      calls: [...callsIn('refund', '{"order":"A7"}'), ...callsIn('get_weather', '{"location":"Bergen"}')],
    };
    const model = scriptedModel({}, { otherwise: { ...replies, action } });
    const server = await startServer({ chain: { ...chain, model } });
    const { responses } = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: ALICE, maxRetries: 0 });
    const first = await responses.create(asked);
    const [call, ...others] = callsOf(first);
    expect([call?.name, others]).toEqual(['get_weather', []]);
    const id = call?.call_id ?? '';
    const forged = [id, id.replace('approval2', 'approval1')].map((call_id) => outputOf({ call_id }));
    await expect(responses.create({ ...asked, input: forged })).rejects.toMatchObject({ status: 400 });
    const second = await responses.create({ ...asked, input: [outputOf({ call_id: id })] });
    expect(second).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'user_input_required' } });
    const changed = () => responses.create({ ...asked, input: [outputOf({ call_id: id }, 'Sun.')] }).catch((e) => e);
    for (const error of [await changed(), await changed()])
      expect([error.status, error.headers.get('x-should-retry')]).toEqual([409, 'false']);
    expect(refunded).toEqual([]);
    const runId = second.metadata?.['postchain_run'] ?? '';
    const { questions } = (await (await server.get(`/runs/${runId}`)).json()) as {
      questions: Record<string, string>[];
    };
    const { questionId, digest } = questions[0] ?? {};
    await server.post(`/runs/${runId}/events`, { type: 'approval.given', questionId, digest, decision: 'approve' });
    await expect.poll(async () => (await responses.retrieve(second.id)).output_text).toBe('It is so.');
    expect(refunded).toEqual(['A7']);
  });
});

const callsIn = (capability: string, args: string) => [{ capability, arguments: args }];

describe('a tool of the client in chat completions', () => {
  it("is run by OpenAI's helper, with and without a stream", async () => {
    for (const stream of [false, true]) {
      const { client, prompts } = await serve(['Bergen', 'Oslo'], ['Paris']);
      const seen: unknown[] = [];
      const called = { ...definition, parse: JSON.parse, function: (args: object) => seen.push(args) && 'It rains.' };
      const tools = [{ type: 'function' as const, function: called }];
      const { completions } = client().chat;
      const params = { model: 'postchain', messages, tools };
      const runner = stream ? completions.runTools({ ...params, stream }) : completions.runTools(params);
      expect(await runner.finalContent()).toBe('It is so.');
      expect(seen).toEqual([{ location: 'Bergen' }, { location: 'Oslo' }, { location: 'Paris' }]);
      expect(prompts()).toContain('It rains.');
    }
  });

  it('ends the completion, and its result continues the run', async () => {
    const { client } = await serve(['Bergen', 'Oslo']);
    const { completions } = client().chat;
    const params = { model: 'postchain', messages, tools: [chatTool], parallel_tool_calls: false };
    const first = await completions.create(params);
    const [choice] = first.choices;
    expect(choice).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
    const resultsFor = ({ message }: OpenAI.Chat.Completions.ChatCompletion.Choice) => [
      message,
      ...(message.tool_calls ?? []).map(({ id }) => ({
        role: 'tool' as const,
        tool_call_id: id,
        content: 'It rains.',
      })),
    ];
    const other = await completions.create({ ...params, messages: [...messages, ...resultsFor(choice as never)] });
    expect([choice, other.choices[0]].map((one) => one?.message.tool_calls?.length)).toEqual([1, 1]);
    const results = [first, other].flatMap(({ choices }) => resultsFor(choices[0] as never));
    const next = { ...params, messages: [...messages, ...results] };
    const second = await completions.create(next);
    expect(second.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'It is so.' } });
    expect(new Set([first.id, other.id, second.id]).size).toBe(3);
    expect([first, other].map(({ usage }) => (usage?.total_tokens ?? 0) > 0)).toEqual([true, false]);
    expect(await completions.create(next)).toEqual(second);
    const later = { ...next, messages: [...next.messages, second.choices[0]?.message as never, ...messages] };
    expect((await completions.create({ ...later, tools: [] })).choices[0]?.finish_reason).toBe('stop');
  });
});

it('results that another message follows become history of a new run', async () => {
  const { client, prompts, get } = await serve(['Bergen']);
  const { responses, chat } = client();
  const first = await responses.create(asked);
  const [call] = callsOf(first);
  const why = { role: 'user', content: 'Why?' } as const;
  const results = [{ role: 'user', content: asked.input }, ...first.output, outputOf(call as never, 'Snow.'), why];
  const next = await responses.create({ ...asked, tools: [], input: results as ResponseInputItem[] });
  expect([next.output_text, prompts()]).toEqual(['It is so.', expect.stringContaining('Tool result: Snow.')]);
  const { call_id: id = '', name = '', arguments: args = '' } = call ?? {};
  const tool_calls = [{ id, type: 'function' as const, function: { name, arguments: args } }];
  const said = { role: 'assistant', content: null, tool_calls } as const;
  const result = { role: 'tool', tool_call_id: id, content: 'Hail.' } as const;
  await chat.completions.create({ model: 'postchain', messages: [...messages, said, result, why] });
  expect(prompts()).toMatch(/Tool result of get_weather\(.*?\): Hail\./u);
  expect(((await (await get('/runs')).json()) as { runs: unknown[] }).runs).toHaveLength(3);
  const open = responses.create({ ...asked, input: 'Why?', previous_response_id: first.id });
  await expect(open).rejects.toMatchObject({ status: 400, message: expect.stringContaining('send its tool results') });
});

it('the AI SDK runs tools of the client', async () => {
  for (const name of ['responses', 'chat', 'compatible'] as const) {
    const server = await serve(['Bergen', 'Oslo']);
    const options = { baseURL: `${server.url}/v1`, apiKey: ALICE };
    const openai = createOpenAI(options);
    const compatible = createOpenAICompatible({ ...options, name: 'postchain' });
    const model = name === 'compatible' ? compatible('postchain') : openai[name]('postchain');
    const inputSchema = z.object({ location: z.string() });
    const get_weather = tool({ description, inputSchema, execute: ({ location }) => `It rains in ${location}.` });
    const result = await generateText({ model, tools: { get_weather }, stopWhen: isStepCount(3), prompt: asked.input });
    expect([name, result.text, result.steps.length]).toEqual([name, 'It is so.', 2]);
    expect(server.prompts()).toContain('It rains in Oslo.');
  }
});
