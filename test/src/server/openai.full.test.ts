import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, streamText } from 'ai';
import OpenAI from 'openai';
import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import { describe, expect, it } from 'vitest';
import { entriesOf } from '../../../src/durable/journals/journal-store.ts';
import { createPassageIndex, extractiveModel } from '../../../src/entries/index.ts';
import { scriptedModel } from '../../../src/models/scripted.ts';
import { replies } from '../../../src/testing/replies.ts';
import { ALICE, BOB, refunds, startServer } from '../../support/chain-server.ts';

const ANSWER = 'It is so.';
const asked = { model: 'postchain', input: 'Is it so?' } as const;
const chatAsked = { model: 'postchain', messages: [{ role: 'user' as const, content: 'Is it so?' }] };
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

/** A model that writes its replies in small pieces. */
const writing = (script: Parameters<typeof scriptedModel>[0] = {}) =>
  scriptedModel(script, { otherwise: replies, chunkChars: 4, accepts: ['image/png'] });

type Served = Awaited<ReturnType<typeof startServer>>;

const clientOf = ({ url }: Served, apiKey = ALICE): OpenAI =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });

const reasoningIn = (events: readonly ResponseStreamEvent[]): string =>
  events.map((event) => (event.type === 'response.reasoning_summary_text.delta' ? event.delta : '')).join('');

async function approve({ get, post }: Served, runId: string): Promise<void> {
  const { questions } = (await (await get(`/runs/${runId}`)).json()) as { questions: Record<string, string>[] };
  const [{ questionId, digest } = {}] = questions;
  const event = { type: 'approval.given', questionId, digest, decision: 'approve' };
  expect((await post(`/runs/${runId}/events`, event)).status).toBe(204);
}

describe('the Responses API', () => {
  it("answers OpenAI's client, in one response or as a stream", async () => {
    const server = await startServer({ chain: { model: writing() } });
    const client = clientOf(server);
    const response = await client.responses.create({
      ...asked,
      metadata: { ticket: '7' },
      temperature: 0,
      store: false,
    });
    expect(response).toMatchObject({ status: 'completed', output_text: ANSWER, model: 'postchain' });
    expect(response.metadata).toMatchObject({ ticket: '7', postchain_confidence: '0.95' });
    expect(response.usage?.total_tokens).toBeGreaterThan(0);
    expect(await client.responses.retrieve(response.id)).toEqual(response);
    const stream = client.responses.stream(asked);
    const events = await entriesOf(stream);
    expect((await stream.finalResponse()).output_text).toBe(ANSWER);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at));
    expect(reasoningIn(events)).toContain(`Draft: ${ANSWER}`);
  });

  it('shows a withdrawn text in the reasoning only', async () => {
    const broken = { text: '{"answer":"It is not so, but the re' };
    const model = writing({ yield: [broken, replies.yield, replies.yield] });
    const server = await startServer({ chain: { model, profile: 'thorough' } });
    const stream = clientOf(server).responses.stream(asked);
    const events = await entriesOf(stream);
    expect((await stream.finalResponse()).output_text).toBe(replies.synthesis.answerText);
    expect(reasoningIn(events)).toContain('Draft: It is not so');
    expect(reasoningIn(events)).toContain('Draft withdrawn: the attempt failed');
    const texts = events.flatMap((event) => (event.type === 'response.output_text.delta' ? [event.delta] : []));
    expect(texts).toEqual([replies.synthesis.answerText]);
  });

  it('continues a conversation after an earlier response of the owner', async () => {
    const model = writing();
    const server = await startServer({ chain: { model } });
    const client = clientOf(server);
    const content = [
      { type: 'input_text' as const, text: 'Is it so?' },
      { type: 'input_image' as const, image_url: PIXEL, detail: 'auto' as const },
    ];
    const first = await client.responses.create({
      ...asked,
      input: [{ role: 'user', content }],
      instructions: 'Be kind.',
    });
    const second = await client.responses.create({ ...asked, input: 'Why?', previous_response_id: first.id });
    const third = await client.responses.create({
      ...asked,
      input: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: 'Really?' },
      ],
      previous_response_id: second.id,
    });
    expect(third.previous_response_id).toBe(second.id);
    const last = model.calls.at(-1);
    const sent = JSON.stringify(last);
    for (const text of ['Is it so?', ANSWER, 'Why?', 'Really?', 'Be brief.']) expect(sent).toContain(text);
    expect(sent).not.toContain('Be kind.');
    expect(sent).toContain(PIXEL.split(',')[1]);
    const stolen = clientOf(server, BOB).responses.create({ ...asked, previous_response_id: first.id });
    const missing = clientOf(server, BOB).responses.create({ ...asked, previous_response_id: 'resp_none' });
    const [one, other] = await Promise.all([stolen, missing].map((each) => each.catch((error: unknown) => error)));
    expect(one).toMatchObject({ status: 404 });
    expect(String(one)).toBe(String(other));
  });

  it('runs in the background, and is canceled', async () => {
    const server = await startServer({ chain: { model: writing(() => ({ hang: true })) } });
    const client = clientOf(server);
    const { id, status } = await client.responses.create({ ...asked, background: true });
    expect(status).toBe('in_progress');
    expect(await client.responses.retrieve(id)).toMatchObject({ status: 'in_progress', background: true });
    await expect(clientOf(server, BOB).responses.cancel(id)).rejects.toMatchObject({ status: 404 });
    const cancelled = await client.responses.cancel(id);
    expect(cancelled).toMatchObject({ status: 'cancelled', incomplete_details: { reason: 'cancelled' } });
    // Only some methods of the client add `output_text`.
    expect(await client.responses.retrieve(id)).toMatchObject(cancelled);
    expect(await client.responses.cancel(id)).toEqual(cancelled);
  });

  it('loses nothing for a client that disconnects', async () => {
    const server = await startServer({ chain: { model: writing() } });
    const client = clientOf(server);
    const received: ResponseStreamEvent[] = [];
    // Breaking out of the loop closes the connection.
    for await (const event of await client.responses.create({ ...asked, stream: true })) {
      received.push(event);
      if (event.type === 'response.reasoning_summary_text.delta') break;
    }
    const [created] = received;
    const id = created?.type === 'response.created' ? created.response.id : '';
    const starting_after = received.length - 1;
    const rest = await entriesOf(await client.responses.retrieve(id, { stream: true, starting_after }));
    const all = await entriesOf(await client.responses.retrieve(id, { stream: true }));
    expect([...received, ...rest]).toEqual(all);
    expect(all.at(-1)).toMatchObject({ type: 'response.completed', response: { output: [{}, {}] } });
    expect((await client.responses.retrieve(id)).output_text).toBe(ANSWER);
  });

  it('ends as incomplete while the run waits for its user, and continues after the answer', async () => {
    const server = await startServer({ chain: refunds('A7').chain });
    const client = clientOf(server);
    const response = await client.responses.create(asked);
    expect(response).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'user_input_required' } });
    const runId = response.metadata?.['postchain_run'] ?? '';
    expect(response.metadata?.['postchain_question']).toContain(
      `approval of refund.\n\nRun the tool refund with {"order":"A7"}?\n\nAnswer with POST /runs/${runId}/events`,
    );
    expect(await client.responses.retrieve(response.id)).toEqual(response);
    const before = await entriesOf(await client.responses.retrieve(response.id, { stream: true }));
    expect(before.at(-1)).toMatchObject({ type: 'response.incomplete', response: { status: 'incomplete' } });
    await approve(server, runId);
    const starting_after = before.at(-1)?.sequence_number ?? 0;
    const rest = await entriesOf(await client.responses.retrieve(response.id, { stream: true, starting_after }));
    const all = await entriesOf(await client.responses.retrieve(response.id, { stream: true }));
    expect([...before.slice(0, -1), ...rest]).toEqual(all);
    expect(await client.responses.retrieve(response.id)).toMatchObject({ status: 'completed', output_text: ANSWER });
  });

  it('states why an answer is degraded', async () => {
    const server = await startServer({ chain: { model: writing(() => ({ failure: { retryable: false } })) } });
    const response = await clientOf(server).responses.create(asked);
    expect(response).toMatchObject({ status: 'completed', metadata: { postchain_status: 'degraded' } });
    expect(response.metadata?.['postchain_reasons']).toContain('model_unavailable');
  });

  it('cites web pages and files', async () => {
    const page = { path: 'https://library.example/hours', text: 'The library opens at nine.' };
    const file = { path: 'library/books.md', text: 'A lost book costs ten euros.' };
    const chain = { model: extractiveModel(), documents: createPassageIndex([page, file]) };
    const server = await startServer({ chain });
    const client = clientOf(server);
    const { output_text, output } = await client.responses.create({ ...asked, input: 'When does the library open?' });
    const url = {
      type: 'url_citation',
      url: page.path,
      title: page.path,
      start_index: 0,
      end_index: output_text.length,
    };
    expect(output.at(-1)).toMatchObject({ content: [{ annotations: [url] }] });
    const content = 'When does the library open?';
    const chat = await client.chat.completions.create({ ...chatAsked, messages: [{ role: 'user', content }] });
    expect(chat.choices[0]?.message.annotations).toMatchObject([{ url_citation: { url: page.path } }]);
    const model = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: ALICE }).responses('postchain');
    const { sources } = streamText({ model, prompt: 'What does a lost book cost?' });
    const fileId = `${file.path}#L1-L1`;
    expect(await sources).toMatchObject([{ filename: file.path, providerMetadata: { openai: { fileId } } }]);
  });
});

describe('chat completions', () => {
  it("answer OpenAI's client, in one response or as a stream", async () => {
    const server = await startServer({ chain: { model: writing() } });
    const client = clientOf(server);
    const completion = await client.chat.completions.create({
      ...chatAsked,
      messages: [{ role: 'system', content: 'Be brief.' }, ...chatAsked.messages],
    });
    expect(completion).toMatchObject({
      object: 'chat.completion',
      choices: [{ message: { role: 'assistant', content: ANSWER }, finish_reason: 'stop' }],
      postchain: { status: 'completed', reasons: [], sources: [] },
    });
    const stream = client.chat.completions.stream({ ...chatAsked, stream_options: { include_usage: true } });
    const streamed = await stream.finalChatCompletion();
    expect(streamed.choices[0]?.message.content).toBe(ANSWER);
    expect(streamed.usage?.total_tokens).toBeGreaterThan(0);
  });

  it('end without an answer when the run waits for its user', async () => {
    const server = await startServer({ chain: refunds('A7').chain });
    const [choice] = (await clientOf(server).chat.completions.create(chatAsked)).choices;
    expect(choice).toMatchObject({ finish_reason: 'length' });
    expect(choice?.message.content).toMatch(/^This run is waiting for approval of refund\.\n\n.*\{"order":"A7"\}/u);
  });
});

describe('the AI SDK', () => {
  it('gets the answer from both APIs, and the rest as reasoning', async () => {
    const server = await startServer({ chain: { model: writing() } });
    const options = { baseURL: `${server.url}/v1`, apiKey: ALICE };
    const openai = createOpenAI(options);
    const compatible = createOpenAICompatible({ ...options, name: 'postchain', includeUsage: true });
    for (const model of [openai.responses('postchain'), openai.chat('postchain'), compatible('postchain')]) {
      const once = await generateText({ model, instructions: 'Be brief.', prompt: 'Is it so?' });
      expect([once.text, once.finishReason]).toEqual([ANSWER, 'stop']);
      const stream = streamText({ model, prompt: 'Is it so?' });
      expect(await stream.text).toBe(ANSWER);
      expect((await stream.totalUsage).totalTokens).toBeGreaterThan(0);
      // The provider of chat completions reads no reasoning.
      if (model.provider !== 'openai.chat') expect(await stream.reasoningText).toContain(`Draft: ${ANSWER}`);
    }
  });

  it('continues a conversation by referring to earlier items', async () => {
    const model = writing();
    const server = await startServer({ chain: { model } });
    const provider = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: ALICE }).responses('postchain');
    const first = await generateText({ model: provider, prompt: 'Is it so?' });
    const messages = [
      { role: 'user' as const, content: 'Is it so?' },
      ...first.response.messages,
      { role: 'user' as const, content: 'Why?' },
    ];
    expect((await generateText({ model: provider, messages })).text).toBe(ANSWER);
    expect(JSON.stringify(model.calls.at(-1))).toContain(ANSWER);
  });
});

describe("OpenAI's APIs", () => {
  it('end waiting requests when the server closes, so that no client starts a second run', async () => {
    const model = writing(() => ({ hang: true }));
    const { post, server } = await startServer({ chain: { model, profile: 'lean' } });
    const waiting = [post('/v1/responses', asked), post('/v1/chat/completions', chatAsked)];
    await expect.poll(() => model.calls.length).toBe(2);
    await server.close();
    const [response, chat] = await Promise.all(waiting);
    expect(await response?.json()).toMatchObject({ object: 'response', output: expect.any(Array) });
    expect([chat?.status, chat?.headers.get('x-should-retry')]).toEqual([503, 'false']);
  });

  it('list the chain as the only model', async () => {
    const client = clientOf(await startServer({ modelName: 'librarian' }));
    const models = await entriesOf(client.models.list());
    expect(models).toMatchObject([{ id: 'librarian', object: 'model' }]);
    expect(await client.models.retrieve('librarian')).toEqual(models[0]);
    const refused = client.responses.create({ model: 'gpt-4o', input: 'Is it so?' });
    await expect(refused).rejects.toMatchObject({ status: 404, code: 'model_not_found', param: 'model' });
  });

  const tool = { type: 'web_search' };
  const named = { type: 'function', name: 'f' };
  const image = (url: string) => [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }];
  it.each([
    ['responses', 'tools', { ...asked, tools: [tool] }],
    ['responses', 'tools', { ...asked, tools: [named, tool], stream: true }],
    ['responses', 'tools', { ...asked, tools: [{ ...named, name: '' }] }],
    ['responses', 'text.format', { ...asked, text: { format: { type: 'xml' } } }],
    ['responses', 'conversation', { ...asked, conversation: 'c' }],
    ['responses', 'input', { input: [{ role: 'assistant', content: 'Hi' }] }],
    ['responses', 'input', { input: [{ type: 'function_call_output', call_id: 'c', output: 'x' }] }],
    [
      'responses',
      'input.0.content.0.file_data',
      { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'f' }] }] },
    ],
    ['responses', null, { input: image('https://example.com/cat.png') }],
    [
      'responses',
      'metadata',
      { ...asked, metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [at, ''])) },
    ],
    ['chat/completions', 'tools', { ...chatAsked, tools: [{ type: 'custom', custom: { name: 'f' } }] }],
    ['chat/completions', 'functions', { ...chatAsked, functions: [{ name: 'f' }] }],
    ['chat/completions', 'n', { ...chatAsked, n: 2 }],
    ['chat/completions', 'audio', { ...chatAsked, audio: { voice: 'alloy', format: 'wav' } }],
    ['chat/completions', 'modalities', { ...chatAsked, modalities: ['text', 'audio'] }],
    ['chat/completions', 'messages', { messages: [{ role: 'tool', tool_call_id: 'c', content: 'x' }] }],
    ['chat/completions', 'messages', { messages: [] }],
  ])('/v1/%s refuses what would change the answer: %s', async (path, param, body) => {
    const { post, get } = await startServer();
    const refused = await post(`/v1/${path}`, body);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ error: { type: 'invalid_request_error', param } });
    expect(await (await get('/runs')).json()).toEqual({ runs: [] });
  });
});
