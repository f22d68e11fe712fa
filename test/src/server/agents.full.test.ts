import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from 'ai';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { type AnyStateMachine, assign, createMachine, fromPromise, setup } from 'xstate';
import * as z from 'zod';
import { machine as takeover } from '../../../examples/agents/human-takeover.ts';
import { entriesOf } from '../../../src/durable/journals/journal-store.ts';
import { generate, runTools } from '../../../src/entries/agents.ts';
import { createDurableMachine, type Journals, memoryJournals } from '../../../src/entries/durable.ts';
import { createPostChain, defineCapability } from '../../../src/entries/index.ts';
import {
  bearerTokens,
  type ChatData,
  type ChatMetadata,
  createServer,
  type ServerLogLine,
  type ServerOptions,
} from '../../../src/entries/server.ts';
import { scriptedModel } from '../../../src/models/scripted.ts';
import type { RunView } from '../../../src/server/run-view.ts';
import { replies } from '../../../src/testing/replies.ts';
import { ALICE, BOB, collectUpdates, oneAtATime, serveUntilEnd, startServer } from '../../support/chain-server.ts';
import { connectClient } from '../../support/mcp-client.ts';
import { refundAgent } from '../../support/refund-agent.ts';

const ASKING = 'A person approves exactly this refund, or denies it.';
const REFUNDED = 'The customer has the money back.';
const chat = (content: string, model = 'desk') => ({ model, messages: [{ role: 'user' as const, content }] });
const user = (text: string) => ({ id: 'm1', role: 'user' as const, parts: [{ type: 'text' as const, text }] });
const asStream = { headers: { accept: 'text/event-stream' } };

/** Serves an agent named `desk`. The chart of the refunds takes the request alone. */
async function serveAgent(
  machine: AnyStateMachine,
  { journals = memoryJournals(), ...given }: Partial<ServerOptions> & { journals?: Journals } = {},
  options: object = { input: ({ request }: { request: string }) => request },
) {
  const host = createDurableMachine(machine, { journals });
  const served = await serveUntilEnd({ agents: { desk: { host, ...options } }, ...given });
  const view = async (runId: string) => (await (await served.get(`/runs/${runId}`)).json()) as RunView;
  const approve = async (runId: string, more: object = {}) => {
    const [question] = (await view(runId)).questions;
    if (question?.kind !== 'approval') throw new Error('no question');
    const { questionId, digest } = question;
    const event = { type: 'approval.given', questionId, digest, decision: 'approve', ...more };
    return { event, status: (await served.post(`/runs/${runId}/events`, event)).status };
  };
  const waits = async (runId: string) => {
    await expect.poll(async () => (await view(runId)).status).toBe('waiting');
    return runId;
  };
  return { host, journals, view, approve, waits, ...served };
}

const errorOf = async (response: Response) => {
  const { code, error } = (await response.json()) as { code?: string; error?: { code: string; param: string } };
  return [response.status, code ?? `${error?.code} ${error?.param}`];
};

/** An agent with a tool that needs approval. */
function toolAgent() {
  const sent: string[] = [];
  const send = defineCapability({
    name: 'send',
    description: 'Sends a mail.',
    arguments: z.object({ to: z.string() }),
    approval: 'always',
    execute: ({ to }) => {
      sent.push(to);
      return 'Sent.';
    },
  });
  const call = { tool: 'send', arguments: '{"to":"ada"}' };
  const model = scriptedModel({
    mails: [
      { answer: null, calls: [call] },
      { answer: 'It is sent.', calls: [] },
    ],
  });
  const machine = setup({
    types: {} as { context: { asked: object; reply: string }; output: { text: string } },
    actors: {
      mails: runTools({ model, name: 'mails', tools: [send], prompt: (asked: object) => JSON.stringify(asked) }),
    },
  }).createMachine({
    id: 'mails',
    description: 'Sends mails.',
    context: ({ input }) => ({ asked: Object(input), reply: '' }),
    output: ({ context }) => ({ text: context.reply }),
    initial: 'working',
    states: {
      working: {
        invoke: {
          src: 'mails',
          input: ({ context }) => context.asked,
          onDone: { target: 'done', actions: assign({ reply: ({ event }) => event.output.answer }) },
        },
      },
      done: { type: 'final' },
    },
  });
  return { sent, model, machine };
}

describe('an agent chart', () => {
  it('is a model for the OpenAI package, which shows what it waits for', async () => {
    const { machine, refunded } = refundAgent();
    const { url, approve } = await serveAgent(machine);
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: ALICE, maxRetries: 0 });
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['desk']);
    const first = await client.responses.create({ model: 'desk', input: 'My lamp broke.' });
    expect(first).toMatchObject({ status: 'incomplete', model: 'desk', usage: { output_tokens: expect.any(Number) } });
    const question = `${ASKING}\n{"order":"A7","cents":12000,`;
    expect(first.metadata?.['postchain_question']).toContain(question);
    expect(first.output_text).toContain(question);
    const runId = first.metadata?.['postchain_run'] ?? '';
    expect((await approve(runId)).status).toBe(204);
    const stream = await client.responses.retrieve(first.id, { stream: true });
    for await (const event of stream)
      if (event.type === 'response.completed') expect(event.response.usage).toBeDefined();
    const done = await client.responses.retrieve(first.id);
    expect(done).toMatchObject({ status: 'completed', output_text: REFUNDED, model: 'desk' });
    expect(refunded).toEqual(['A7']);
    const items = await client.responses.inputItems.list(first.id);
    expect(items.data).toMatchObject([{ content: [{ text: 'My lamp broke.' }] }]);
    await expect(client.chat.completions.create(chat('Hi', 'shop'))).rejects.toMatchObject({ status: 404 });
    const { choices } = await client.chat.completions.create(chat('My lamp broke.'));
    expect(choices).toMatchObject([
      { finish_reason: 'length', message: { content: expect.stringContaining(question) } },
    ]);
    const other = { input: 'And my shade.', previous_response_id: first.id };
    expect(await client.responses.create({ model: 'desk', ...other })).toMatchObject({ status: 'incomplete' });
    await client.responses.delete(first.id);
  });

  it('answers useChat after an approval', async () => {
    const { machine, refunded } = refundAgent();
    const { url, get, approve } = await serveAgent(machine);
    const headers = { authorization: `Bearer ${ALICE}` };
    type Message = UIMessage<ChatMetadata, ChatData>;
    const transport = new DefaultChatTransport<Message>({ api: `${url}/api/chat/desk`, headers });
    const messages = [user('My lamp broke.')];
    const sent = { trigger: 'submit-message', chatId: 'c1', messageId: undefined, messages } as const;
    const stream = await transport.sendMessages({ ...sent, abortSignal: undefined });
    let last: Message | null = null;
    for await (const message of readUIMessageStream<Message>({ stream, terminateOnError: true })) {
      const question = message.parts.find((part) => part.type === 'data-question')?.data;
      if (question?.closed === false) await approve(message.id);
      last = message;
    }
    expect(last?.parts.at(-1)).toMatchObject({ type: 'text', text: REFUNDED });
    expect(last?.metadata).toMatchObject({ status: 'completed', reasons: [] });
    expect(last?.parts.find(({ type }) => type === 'data-question')).toMatchObject({
      data: { description: ASKING, arguments: { order: 'A7', cents: 12_000 }, closed: true },
    });
    expect(refunded).toEqual(['A7']);
    const again = await get('/api/chat/c1/stream');
    expect([again.headers.get('x-workflow-run-id'), await again.text()]).toEqual([
      last?.id,
      expect.stringContaining(REFUNDED),
    ]);
    expect((await get('/api/chat/c1/stream', { token: BOB })).status).toBe(204);
    expect((await get('/api/chat/c2/stream')).status).toBe(204);
  });

  it('is a tool of MCP clients, which ask their user', async () => {
    const { machine, refunded } = refundAgent();
    const { url } = await serveAgent(machine);
    const requestInit = { headers: { authorization: `Bearer ${ALICE}` } };
    const asked: string[] = [];
    const answer = (message: string) => {
      asked.push(message);
      return { action: 'accept' as const, content: { approved: true } };
    };
    const client = await connectClient(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }), {
      answer,
    });
    const { tools } = await client.listTools();
    expect(tools).toMatchObject([{ name: 'desk', description: 'Answers a request with the agent "desk".' }]);
    expect(Object.keys(tools[0]?.inputSchema.properties ?? {})).toEqual(['question']);
    const result = await client.callTool({ name: 'desk', arguments: { question: 'My lamp broke.' } });
    expect(result).toMatchObject({ structuredContent: { answer: REFUNDED, status: 'completed' } });
    expect(asked).toEqual([expect.stringContaining(ASKING)]);
    expect(asked[0]).toContain('"cents":12000');
    expect(refunded).toEqual(['A7']);
  });

  it('interrupts an AG-UI run for its approval, and gets the earlier messages', async () => {
    const { machine, sent, model } = toolAgent();
    const { post } = await serveAgent(machine, {}, { reply: ({ text }: { text: string }) => text });
    const messages = [
      { id: 'a', role: 'user', content: 'Hello' },
      { id: 'b', role: 'assistant', content: 'How can I help?' },
      { id: 'c', role: 'user', content: 'Write to Ada.' },
    ];
    const eventsOf = async (body: object) => {
      const text = await (await post('/ag-ui/desk', { threadId: 't', messages, ...body })).text();
      return [...text.matchAll(/^data: (.*)$/gmu)].map(([, line = '']) => JSON.parse(line));
    };
    const first = await eventsOf({ runId: 'one' });
    const { interrupts } = first.at(-1).outcome;
    expect(interrupts).toMatchObject([{ reason: 'confirmation', message: 'Run the tool send with {"to":"ada"}?' }]);
    expect(JSON.stringify(model.calls[0]?.turns)).toContain('How can I help?');
    const payload = { approved: true, editedArgs: { to: 'bob' } };
    const resume = [{ interruptId: interrupts[0].id, status: 'resolved', payload }];
    const second = await eventsOf({ runId: 'two', resume });
    expect(second.at(-1)).toMatchObject({ outcome: { type: 'success' }, result: { answerText: 'It is sent.' } });
    expect(second).toContainEqual({ type: 'CUSTOM', name: 'tool', value: { index: 0, name: 'send', state: 'ended' } });
    // The same answer again is the same run.
    expect((await eventsOf({ runId: 'two', resume })).at(-1)).toEqual(second.at(-1));
    expect(sent).toEqual(['bob']);
  });

  it('shows which other event it waits for, and receives it at its machine path', async () => {
    const unsure = { reply: 'Perhaps.', confidence: 0.1 };
    const answer = generate({
      model: scriptedModel({ answer: [unsure] }),
      name: 'answer',
      schema: z.object({ reply: z.string(), confidence: z.number() }),
      prompt: ({ mail }: { mail: string }) => mail,
    });
    const input = ({ request }: { request: string }) => ({ mail: request });
    const machine = takeover.provide({ actors: { answer } } as never);
    const { start, get, post, view } = await serveAgent(machine, {}, { input });
    const runId = await start({ request: 'Is it so?' });
    const waiting = 'Waiting for person.handedBack or person.replied';
    await expect.poll(async () => (await view(runId)).progress).toBe(waiting);
    expect(await (await get(`/machines/desk/${runId}`)).json()).toMatchObject({ value: 'withPerson' });
    expect((await get(`/machines/desk/${runId}`, { token: BOB })).status).toBe(404);
    await post(`/machines/desk/${runId}/events`, { type: 'person.replied', text: 'Yes.' });
    expect(await view(runId)).toMatchObject({ status: 'ended', text: 'Yes.', answer: { answerText: 'Yes.' } });
  });

  it('that waits for another event ends the request of a client that waits for the answer', async () => {
    const waiting = setup({}).createMachine({
      id: 'm',
      initial: 'polling',
      states: {
        polling: { after: { 1: 'open' }, on: { poll: {} } },
        open: { on: { close: 'closed' } },
        closed: { type: 'final' },
      },
      output: 'Closed.',
    });
    const { url, post, get } = await serveAgent(waiting);
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: ALICE, maxRetries: 0 });
    const { choices } = await client.chat.completions.create(chat('Hi'));
    expect(choices).toMatchObject([
      { finish_reason: 'length', message: { content: expect.stringContaining('Waiting for close. Read this run') } },
    ]);
    const events = [];
    for await (const event of await client.responses.create({ model: 'desk', input: 'Hi', stream: true }))
      events.push(event);
    const last = events.at(-1);
    if (last?.type !== 'response.incomplete') throw new Error(last?.type);
    const { id, metadata } = last.response;
    expect(metadata?.['postchain_question']).toContain('Waiting for close.');
    expect(await client.responses.retrieve(id)).toMatchObject({ status: 'incomplete' });
    await post(`/machines/desk/${metadata?.['postchain_run']}/events`, { type: 'close' });
    expect(await client.responses.retrieve(id)).toMatchObject({ status: 'completed', output_text: 'Closed.' });
    const stream = await (await get(`/v1/responses/${id}?stream=true`)).text();
    expect(stream).not.toContain('response.incomplete');
    const requestInit = { headers: { authorization: `Bearer ${ALICE}` } };
    const mcp = await connectClient(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
    expect(await mcp.callTool({ name: 'desk', arguments: { question: 'Hi' } })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('Waiting for close.') }],
    });
  });

  it.each([
    [{ a: {} }, 'Waiting for an event, but no state accepts one.'],
    [{ a: { after: { 3600000: 'b' } }, b: {} }, /Waiting for \d{4}-/u],
  ])('that can do nothing for over a minute ends the request too: %j', async (states, expected) => {
    const { post } = await serveAgent(createMachine({ initial: 'a', states } as never) as AnyStateMachine);
    expect(await (await post('/v1/chat/completions', chat('Hi'))).text()).toMatch(expected);
  });

  it('continues after a restart, and gives its client the rest', async () => {
    const journals = memoryJournals();
    const first = await serveAgent(refundAgent().machine, { journals });
    const runId = await first.waits(await first.start());
    const before = await first.view(runId);
    await first.close();
    const interrupted = await serveAgent(refundAgent(() => new Promise(() => {})).machine, { journals });
    expect(await interrupted.view(runId)).toEqual(before);
    await interrupted.approve(runId);
    await expect.poll(async () => (await interrupted.view(runId)).progress).toBe('The bank refunds the order, once.');
    // It is closed within the call.
    await interrupted.close();
    const { machine, refunded } = refundAgent();
    const { get } = await serveAgent(machine, { journals });
    const updates = await collectUpdates(await get(`/runs/${runId}/events`, { headers: { 'last-event-id': '0.1' } }));
    expect(updates.map(({ update }) => update.type)).toEqual([
      'progress',
      'question',
      'question-closed',
      'progress',
      'progress',
      'text',
      'answer',
    ]);
    expect(refunded).toEqual(['A7']);
  });

  it('has the same updates when the entries of a step arrive one at a time', async () => {
    const inner = memoryJournals();
    const { machine } = toolAgent();
    const { get, start, waits, approve } = await serveAgent(machine, { journals: oneAtATime(inner) }, {});
    const runId = await start();
    const live = collectUpdates(await get(`/runs/${runId}/events`));
    await approve(await waits(runId));
    const updates = await live;
    expect(updates.map(({ update }) => update.type)).toEqual([
      ...['run', 'progress', 'question', 'question-closed', 'tool', 'tool', 'progress', 'text', 'answer'],
    ]);
    expect(updates.at(-1)?.update).toMatchObject({ answer: { metadata: { usage: { modelCalls: 2 } } } });
    const later = await serveAgent(toolAgent().machine, { journals: inner }, {});
    expect(await collectUpdates(await later.get(`/runs/${runId}/events`))).toEqual(updates);
  });

  it('receives who approved, and the question as edited', async () => {
    const { start, waits, approve, journals } = await serveAgent(refundAgent().machine);
    const runId = await waits(await start());
    const edited = { order: 'A7', cents: 1 };
    await approve(runId, { arguments: edited });
    const event = expect.objectContaining({ by: 'alice', edited });
    expect(await entriesOf(journals.read(runId))).toContainEqual(expect.objectContaining({ event }));
  });

  it('is approved only with another token of its owner if `authorize` refuses the answers of customers', async () => {
    const tokens = bearerTokens({ [ALICE]: 'alice', [BOB]: 'alice' });
    const authorize = (request: Request) => {
      const isAsking = request.method === 'GET' || new URL(request.url).pathname.startsWith('/v1/');
      const isStaff = request.headers.get('authorization') === `Bearer ${BOB}`;
      return isAsking || isStaff ? tokens(request) : null;
    };
    const { machine, refunded } = refundAgent();
    const { post, approve } = await serveAgent(machine, { authorize });
    const { id } = (await (await post('/v1/chat/completions', chat('My lamp broke.'))).json()) as { id: string };
    const runId = id.replace('chatcmpl-', '');
    const { event, status } = await approve(runId);
    expect(status).toBe(401);
    expect((await post(`/runs/${runId}/events`, event, { token: BOB })).status).toBe(204);
    await expect.poll(() => refunded).toEqual(['A7']);
  });

  it('is forked to a run with an id of its own', async () => {
    const { host, start, waits, view } = await serveAgent(refundAgent().machine);
    const fork = await host.fork(await waits(await start()), { at: 0, id: 'fork-1' });
    await fork.close();
    expect((await view('fork-1')).runId).toBe('fork-1');
  });

  it('gives a degraded or canceled answer if it fails or is stopped', async () => {
    const failing = refundAgent(async () => {
      throw new Error('The bank is closed.');
    });
    const machine = setup({
      actors: { fail: fromPromise(async () => Promise.reject(new Error('No ink.'))) },
    }).createMachine({
      id: 'm',
      initial: 'writing',
      states: { writing: { invoke: { src: 'fail' } } },
    });
    const broken = await serveAgent(machine);
    const failed = await collectUpdates(await broken.post('/runs', { request: 'Hi', agent: 'desk' }, asStream));
    expect(failed.at(-1)?.update).toMatchObject({
      answer: { status: 'degraded', reasons: [{ code: 'agent_failed' }] },
    });
    const { start, waits, post, view, get } = await serveAgent(failing.machine);
    const runId = await waits(await start());
    expect((await post(`/runs/${runId}/events`, { type: 'run.cancelled' })).status).toBe(204);
    expect((await view(runId)).answer).toMatchObject({ status: 'cancelled', reasons: [{ code: 'cancelled' }] });
    expect(await (await get('/runs')).json()).toMatchObject({ runs: [{ request: 'Is it so?', status: 'cancelled' }] });
  });

  it('shows its clients no error, but logs it with the id of the run', async () => {
    const failing = setup({
      actors: { fail: fromPromise(async () => Promise.reject(new Error('connect db-7.internal'))) },
    }).createMachine({ id: 'm', initial: 'writing', states: { writing: { invoke: { src: 'fail' } } } });
    const ending = createMachine({ id: 'm', initial: 'done', states: { done: { type: 'final' } } });
    const reply = (): string => {
      throw new Error('connect db-7.internal');
    };
    for (const { machine, options } of [{ machine: failing }, { machine: ending, options: { reply } }]) {
      const lines: ServerLogLine[] = [];
      const onLog = (line: ServerLogLine) => void lines.push(line);
      const { post, get, start, view } = await serveAgent(machine, { onLog }, options);
      const runId = await start();
      await expect.poll(async () => (await view(runId)).status).toBe('ended');
      const { choices } = (await (await post('/v1/chat/completions', chat('Hi'))).json()) as OpenAI.ChatCompletion;
      expect(choices[0]?.message.content).toMatch(/^The agent could not answer\. .* run id \S+\.$/u);
      for (const path of [`/runs/${runId}`, `/machines/desk/${runId}`])
        expect(await (await get(path)).text()).not.toContain('db-7');
      await expect.poll(() => lines.filter(({ level }) => level === 'error').length).toBe(2);
      expect(lines).toContainEqual(
        expect.objectContaining({ path: `/runs/${runId}`, owner: 'alice', error: new Error('connect db-7.internal') }),
      );
    }
  });

  it.each([
    [{}, null],
    [{ view: () => 'seen' }, 'seen'],
  ])('shows its clients only what its `view` returns of its context: %j', async (options, context) => {
    const machine = setup({
      actors: { call: fromPromise(async () => Promise.reject(new Error('connect db-7.internal'))) },
      types: { context: {} as { error: unknown } },
    }).createMachine({
      id: 'm',
      context: { error: null },
      initial: 'writing',
      states: {
        writing: {
          invoke: {
            src: 'call',
            onError: { target: 'failed', actions: assign({ error: ({ event }) => event.error }) },
          },
        },
        failed: { type: 'final' },
      },
    });
    const { get, start, view } = await serveAgent(machine, {}, options);
    const runId = await start();
    await expect.poll(async () => (await view(runId)).status).toBe('ended');
    expect(await (await get(`/machines/desk/${runId}`)).json()).toMatchObject({ value: 'failed', context });
    for (const path of [`/machines/desk/${runId}/events`, `/runs/${runId}`])
      expect(await (await get(path)).text()).not.toContain('db-7');
  });

  it('logs the error of a run that it has continued after a restart', async () => {
    const journals = memoryJournals();
    const calling = (call: () => Promise<never>) =>
      setup({ actors: { call: fromPromise(call) } }).createMachine({ id: 'm', invoke: { src: 'call' } });
    const first = await serveAgent(
      calling(() => new Promise(() => {})),
      { journals },
    );
    const runId = await first.start();
    await first.close();
    const lines: ServerLogLine[] = [];
    await serveAgent(
      calling(() => Promise.reject(new Error('No ink.'))),
      { journals, onLog: (line) => void lines.push(line) },
    );
    await expect.poll(() => lines).toMatchObject([{ level: 'error', path: `/runs/${runId}`, owner: 'alice' }]);
  });

  it('gives a degraded answer if its `reply` throws', async () => {
    const machine = setup({}).createMachine({ id: 'm', initial: 'done', states: { done: { type: 'final' } } });
    const reply = (output: unknown) => (output as { text: string }).text;
    for (const given of [reply, async () => 'Done.', () => undefined]) {
      const { post } = await serveAgent(machine, {}, { reply: given });
      const updates = await collectUpdates(await post('/runs', { request: 'Hi' }, asStream));
      expect(updates.at(-1)?.update).toMatchObject({ answer: { reasons: [{ code: 'agent_failed' }] } });
    }
  });

  it('does not exist for other owners', async () => {
    const { start, waits, get, post, url } = await serveAgent(refundAgent().machine);
    const runId = await waits(await start());
    const bob = { token: BOB };
    for (const path of [
      `/runs/${runId}`,
      `/runs/${runId}/events`,
      `/machines/desk/${runId}`,
      `/v1/responses/resp_${runId}`,
    ])
      expect((await get(path, bob)).status, path).toBe(404);
    const resume = [{ interruptId: `${runId}:approval:x:6`, status: 'resolved', payload: { approved: true } }];
    const input = { threadId: 't', runId: 'r', messages: [], resume };
    expect((await post('/ag-ui/desk', input, bob)).status).toBe(404);
    expect((await post(`/runs/${runId}/events`, { type: 'run.cancelled' }, bob)).status).toBe(404);
    expect(await (await fetch(`${url}/runs`, { headers: { authorization: `Bearer ${BOB}` } })).json()).toEqual({
      runs: [],
    });
  });

  it('rejects what agents do not support', async () => {
    const { start, waits, post, approve, get } = await serveAgent(refundAgent().machine);
    const refusalOf = async (path: string, body: object) => errorOf(await post(path, body));
    const tool = { type: 'function', function: { name: 'place', parameters: { type: 'object', properties: {} } } };
    const format = { type: 'json_object' };
    const completions = '/v1/chat/completions';
    for (const [param, more] of [
      ['tools', { tools: [tool] }],
      ['response_format', { response_format: format }],
      ['tool_choice', { tools: [tool], tool_choice: 'required' }],
    ] as const)
      expect(await refusalOf(completions, { ...chat('Hi'), ...more })).toEqual([400, `unsupported_parameter ${param}`]);
    expect(await refusalOf('/runs', { request: 'Hi', mode: 'manual' })).toEqual([400, 'unsupported_parameter']);
    expect(await refusalOf('/runs', { request: 'Hi', session: 's' })).toEqual([400, 'unsupported_parameter']);
    expect(await refusalOf('/runs', { request: ' ' })).toEqual([400, 'invalid_request']);
    expect(await refusalOf('/runs', { request: 'Hi', agent: 'shop' })).toEqual([404, 'unknown_agent']);
    const image = [{ type: 'image', image: 'data:image/png;base64,AA==' }];
    expect(await refusalOf('/runs', { request: image })).toEqual([400, 'unsupported_file']);
    const runId = await waits(await start());
    const path = `/runs/${runId}/events`;
    for (const event of [
      { type: 'run.finished' },
      { type: 'approval.given', questionId: 'q', digest: 'd', decision: 'approve' },
      { type: 'approval.given', questionId: 'approval:x:6', digest: 'd', decision: 'approve' },
    ])
      expect(await refusalOf(path, event)).toEqual([409, 'answer_refused']);
    expect((await get(`/runs/${runId}`, { method: 'DELETE' })).status).toBe(404);
    expect((await get(`/v1/responses/resp_${runId}`, { method: 'DELETE' })).status).toBe(409);
    const { event } = await approve(runId, { decision: 'deny', reason: 'Too much.' });
    await expect.poll(async () => (await errorOf(await post(path, event)))[1]).toBe('run_ended');
  });

  it('keeps the limits of the server, and starts once for a repeated request', async () => {
    const { waits, post, approve } = await serveAgent(refundAgent(() => new Promise(() => {})).machine, {
      limits: { runsPerOwner: 1, eventsPerRun: 1 },
    });
    const headers = { 'idempotency-key': 'k' };
    const keyed = await (await post('/runs', { request: 'Hi' }, { headers })).json();
    expect(await (await post('/runs', { request: 'Hi' }, { headers })).json()).toEqual(keyed);
    expect(await errorOf(await post('/runs', { request: 'No' }, { headers }))).toEqual([422, 'idempotency_key_reused']);
    const runId = await waits((keyed as { runId: string }).runId);
    expect((await approve(runId)).status).toBe(204);
    await expect.poll(async () => errorOf(await post('/runs', { request: 'Hi' }))).toEqual([429, 'too_many_runs']);
    const event = { type: 'NOTE' };
    expect(await errorOf(await post(`/machines/desk/${runId}/events`, event))).toEqual([429, 'too_many_events']);
  });
});

describe('a server with a chain and agents', () => {
  it('answers with the chain unless a client chooses an agent', async () => {
    const { machine } = refundAgent();
    const journals = memoryJournals();
    const desk = {
      host: createDurableMachine(machine, { journals }),
      input: ({ request }: { request: string }) => request,
    };
    const { get, post, start } = await startServer({
      chain: { model: scriptedModel({}, { otherwise: replies }), journals },
      agents: { desk, other: desk },
    });
    const models = (await (await get('/v1/models')).json()) as { data: { id: string }[] };
    expect(models.data.map(({ id }) => id)).toEqual(['postchain', 'desk', 'other']);
    const answered = (await (
      await post('/v1/chat/completions', { ...chat('Is it so?'), model: undefined })
    ).json()) as object;
    expect(answered).toMatchObject({ model: 'postchain', choices: [{ message: { content: 'It is so.' } }] });
    const runId = await start({ request: 'A7', agent: 'desk' });
    await expect
      .poll(async () => (await (await get(`/runs/${runId}`)).json()) as object)
      .toMatchObject({ status: 'waiting' });
    const listed = async (query = '') => (await (await get(`/runs${query}`)).json()) as { runs: object[] };
    const newest = { runId, request: 'A7' };
    expect(await listed('?limit=1')).toMatchObject({ runs: [newest] });
    expect(await listed()).toMatchObject({ runs: [newest, { request: 'Is it so?', status: 'completed' }] });
    const { paths } = (await (await get('/openapi.json')).json()) as { paths: Record<string, { post?: object }> };
    for (const path of ['/api/chat/desk', '/ag-ui/desk'])
      expect(paths[path]?.post, path).toMatchObject({ summary: expect.any(String) });
    // It would let clients choose the input of the chart, which `input` makes from a request.
    expect(paths['/machines/desk']?.post).toBeUndefined();
  });

  it('checks the types of `input` and `reply` with those of the chart', () => {
    const types = {} as { input: { mail: string }; context: { mail: string }; output: { text: string } };
    const chart = setup({ types }).createMachine({ context: ({ input }) => input });
    const host = createDurableMachine(chart, { journals: memoryJournals() });
    const open = createDurableMachine(createMachine({}), { journals: memoryJournals() });
    const mail = { host, input: ({ request }: { request: string }) => ({ mail: request }) };
    const serve = <const Machines extends Record<string, AnyStateMachine>>(agents: ServerOptions<Machines>['agents']) =>
      agents;
    serve({ mail, open, named: { host: open }, reply: { ...mail, reply: ({ text }) => text.trim() } });
    // @ts-expect-error: the chart has an input of its own
    serve({ host });
    // @ts-expect-error: the chart has an input of its own
    serve({ desk: { host } });
    // @ts-expect-error: another member
    serve({ desk: { host, input: ({ request }) => ({ mial: request }) } });
    // @ts-expect-error: another output
    serve({ desk: { ...mail, reply: ({ txt }: { txt: string }) => txt } });
  });

  it('rejects invalid agents with `invalid_option`', async () => {
    const host = createDurableMachine(refundAgent().machine, { journals: memoryJournals() });
    const chain = createPostChain({ model: scriptedModel({}), journals: memoryJournals() });
    for (const [options, message] of [
      [
        { agents: { desk: {} } },
        'agents.desk: expected a durable machine, or { host, input, reply, answer, events, view }',
      ],
      [{ agents: { desk: { host, inputs: 1 } } }, 'agents.desk.inputs: unknown option'],
      [{ agents: { desk: host }, machines: { desk: host } }, 'agents.desk: expected a name other than'],
      [{ agents: { ask: host }, chain }, 'agents.ask: expected a name other than'],
      [{ agents: { desk: host }, limits: { costPerDay: 1 } }, 'limits.costPerDay: expected none with agents'],
      [
        { agents: { desk: { host, answer: 'draftt' } } },
        'agents.desk.answer: expected the name of an actor of "supportDesk" (desk, approval, refund); received "draftt".',
      ],
    ] as const)
      await expect(createServer({ authorize: () => 'alice', ...options } as never)).rejects.toMatchObject({
        code: 'invalid_option',
        message: expect.stringContaining(message),
      });
  });
});
