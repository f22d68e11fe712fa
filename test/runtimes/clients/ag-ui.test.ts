import { describe, expect, it } from 'vitest';
import { createDurableMachine, memoryJournals } from '../../../src/entries/durable.ts';
import { scriptedModel } from '../../../src/models/scripted.ts';
import { replies } from '../../../src/testing/replies.ts';
import { ALICE, BOB, refunds, serveUntilEnd, startServer } from '../../support/chain-server.ts';
import { installClients } from '../../support/client-packages.ts';
import { refundAgent } from '../../support/refund-agent.ts';
import { ONE_CALL_PER_PHASE } from '../../support/run-chain.ts';

interface Message {
  readonly id: string;
  readonly role: string;
  readonly content?: unknown;
  readonly toolCallId?: string;
  readonly toolCalls?: readonly { readonly id: string; readonly function: { arguments: string } }[];
}
interface Interrupt {
  readonly id: string;
  readonly reason: string;
  readonly message: string;
  readonly responseSchema: object;
  readonly metadata: object;
}
interface Event {
  readonly type: string;
  readonly [name: string]: unknown;
}
interface RunParameters {
  readonly runId?: string;
  readonly tools?: readonly object[];
  readonly forwardedProps?: object;
  readonly abortController?: AbortController;
  readonly resume?: readonly object[];
}
/** The parts of the client that these tests use. It is not a development dependency. */
interface Agent {
  readonly messages: readonly Message[];
  readonly pendingInterrupts: readonly Interrupt[];
  readonly threadId: string;
  addMessage(message: Message): void;
  runAgent(
    parameters: RunParameters,
    subscriber: { readonly onEvent: (given: { readonly event: Event }) => void },
  ): Promise<{ readonly result?: { readonly answerText: string }; readonly newMessages: readonly Message[] }>;
}
interface Client {
  readonly HttpAgent: new (options: object) => Agent;
}

const load = installClients('ag-ui', ['@ag-ui/client@1.0.0']);
const { HttpAgent } = await load<Client>('@ag-ui/client');

const QUESTION = { id: 'asked', role: 'user', content: 'Is it so?' };

/** An agent of the real client, which verifies the order of all events. */
function agentAt(url: string, options: object = {}): Agent {
  const headers = { authorization: `Bearer ${ALICE}` };
  return new HttpAgent({ url: `${url}/ag-ui`, headers, initialMessages: [QUESTION], ...options });
}

/** Runs an agent, and returns its events with the result. */
async function runOf(agent: Agent, parameters: RunParameters = {}) {
  const events: Event[] = [];
  const { result, newMessages } = await agent.runAgent(parameters, { onEvent: ({ event }) => void events.push(event) });
  return { events, result, newMessages, types: events.map(({ type }) => type) };
}

const contentsOf = (messages: readonly Message[], role: string) =>
  messages.flatMap((message) => (message.role === role ? [message.content] : []));

describe('the AG-UI protocol', () => {
  it('answers, and shows its phases and its progress', async () => {
    const { url, get } = await startServer({
      chain: { model: scriptedModel({}, { otherwise: replies, chunkChars: 4 }) },
    });
    const agent = agentAt(url);
    const { events, result, types } = await runOf(agent, { runId: 'one' });
    expect(contentsOf(agent.messages, 'assistant')).toEqual([result?.answerText]);
    expect(contentsOf(agent.messages, 'reasoning')).toEqual([expect.stringMatching(/^Answering\n/u)]);
    expect(types).toEqual(expect.arrayContaining(['STEP_STARTED', 'STEP_FINISHED', 'TEXT_MESSAGE_END', 'CUSTOM']));
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
    // The same input is the same run.
    expect((await runOf(agentAt(url, { threadId: agent.threadId }), { runId: 'one' })).events).toEqual(events);
    expect(await (await get('/runs')).json()).toMatchObject({ runs: [{ request: 'Is it so?' }] });
  });

  it('remembers the earlier turns of a thread', async () => {
    const model = scriptedModel({}, { otherwise: replies });
    const { url } = await startServer({ chain: { model } });
    const agent = agentAt(url);
    await runOf(agent);
    agent.addMessage({ id: 'again', role: 'user', content: 'Why?' });
    await runOf(agent);
    const prompt = JSON.stringify(model.calls.at(-1)?.turns);
    expect(prompt).toContain('Why?');
    expect(prompt.split('Is it so?')).toHaveLength(2);
  });

  it('withdraws a discarded answer', async () => {
    const answers = [
      { ...replies.yield, answer: 'Perhaps.', confidence: 0.3, taskComplete: false },
      { ...replies.yield, answer: 'It is so, for sure.' },
    ];
    const model = scriptedModel({ yield: answers }, { otherwise: replies, chunkChars: 3 });
    const profile = { ...ONE_CALL_PER_PHASE, writing: 'if-needed' } as const;
    const { url } = await startServer({ chain: { model, profile } });
    const agent = agentAt(url);
    const { events } = await runOf(agent);
    const written = events.flatMap(({ type, delta }) => (type === 'TEXT_MESSAGE_CONTENT' ? [delta] : []));
    expect(written.join('')).toBe('Perhaps.It is so, for sure.');
    expect(contentsOf(agent.messages, 'assistant')).toEqual(['It is so, for sure.']);
    expect(contentsOf(agent.messages, 'reasoning')).toHaveLength(1);
    expect(contentsOf(agent.messages, 'user')).toEqual(['Is it so?']);
  });

  it('gives a client that returns the rest of the run', async () => {
    const { url, get } = await startServer({
      chain: { model: scriptedModel({}, { otherwise: replies, chunkChars: 2 }) },
    });
    const left = agentAt(url);
    const abortController = new AbortController();
    await new Promise<void>((resolve, reject) => {
      const onEvent = ({ event }: { readonly event: Event }): void => {
        if (event.type === 'TEXT_MESSAGE_CONTENT') resolve(abortController.abort());
      };
      // Of an aborted run, the client's promise may never settle.
      left.runAgent({ runId: 'one', abortController }, { onEvent }).catch(reject);
    });
    await expect.poll(() => contentsOf(left.messages, 'assistant').length).toBe(1);
    const agent = agentAt(url, { threadId: left.threadId, initialMessages: [...left.messages] });
    const { result } = await runOf(agent, { runId: 'one' });
    expect(contentsOf(agent.messages, 'assistant')).toEqual([result?.answerText]);
    expect(String(contentsOf(agent.messages, 'reasoning')).split('Answering')).toHaveLength(2);
    expect(await (await get('/runs')).json()).toMatchObject({ runs: [{}] });
  });

  it('asks for approval with an interrupt, and runs the approved call once', async () => {
    const { refunded, chain } = refunds('A', 'B');
    const { url } = await startServer({ chain });
    const agent = agentAt(url);
    const { events } = await runOf(agent, { runId: 'one' });
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'interrupt' } });
    expect(agent.pendingInterrupts).toMatchObject([
      { reason: 'confirmation', message: 'Run the tool refund with {"order":"A"}?' },
      { responseSchema: { required: ['approved'] }, metadata: { question: { capability: 'refund' } } },
    ]);
    expect(refunded).toEqual([]);
    const [a, b] = agent.pendingInterrupts.map(({ id }) => id);
    const resume = [
      { interruptId: a, status: 'resolved', payload: { approved: true, editedArgs: { order: 'C' } } },
      { interruptId: b, status: 'cancelled' },
    ];
    const resumed = await runOf(agent, { runId: 'two', resume });
    expect(resumed.types.slice(0, 2)).toEqual(['RUN_STARTED', 'STEP_STARTED']);
    expect(resumed.events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
    expect(contentsOf(agent.messages, 'assistant')).toEqual([resumed.result?.answerText]);
    expect(agent.pendingInterrupts).toEqual([]);
    // A repeated answer changes nothing.
    const again = agentAt(url, { threadId: agent.threadId });
    expect((await runOf(again, { runId: 'two', resume })).events).toEqual(resumed.events);
    expect(refunded).toEqual(['C']);
  });

  it('asks for the next phase in manual mode', async () => {
    const { url } = await startServer();
    const agent = agentAt(url);
    await runOf(agent, { forwardedProps: { mode: 'manual' } });
    expect(contentsOf(agent.messages, 'assistant')).toEqual(['It is so.']);
    const direct = (payload: object) =>
      runOf(agent, {
        resume: agent.pendingInterrupts.map(({ id }) => ({ interruptId: id, status: 'resolved', payload })),
      });
    await direct({ next: 'observation' });
    expect(agent.pendingInterrupts).toMatchObject([{ reason: 'input_required' }]);
    const { result } = await direct({ next: 'finish' });
    expect(contentsOf(agent.messages, 'assistant')).toEqual([result?.answerText]);
  });

  it('calls tools of the client, whose results continue the run, and never stand for an approval', async () => {
    const { refunded, chain } = refunds('A');
    const { url, get } = await startServer({
      chain: {
        ...chain,
        model: scriptedModel(
          {},
          {
            otherwise: {
              ...replies,
              action: {
                ...replies.action,
                calls: ['refund', 'place', 'place'].map((capability, at) => ({
                  capability,
                  arguments: capability === 'refund' ? '{"order":"A"}' : `{"of":"${at}"}`,
                })),
              },
            },
          },
        ),
      },
    });
    const agent = agentAt(url);
    const properties = { of: { type: 'string' } };
    const tools = [{ name: 'place', description: 'Where a user is.', parameters: { type: 'object', properties } }];
    const first = await runOf(agent, { runId: 'one', tools });
    expect(first.events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
    const calls = () =>
      agent.messages.filter(({ role }) => role === 'assistant').map(({ toolCalls = [] }) => toolCalls);
    const expected = ['{"of":"1"}', '{"of":"2"}'].map((given) => ({ function: { name: 'place', arguments: given } }));
    expect(calls()).toMatchObject([expected]);
    // The connection is lost within a call, and the client sends its request again.
    for (const call of calls()[0] ?? []) call.function.arguments = '';
    await runOf(agent, { runId: 'one', tools });
    expect(calls()).toMatchObject([expected]);
    for (const { id } of calls()[0] ?? [])
      agent.addMessage({ id: `result of ${id}`, role: 'tool', toolCallId: id, content: 'Bergen' });
    // A part of the answer, from a stream that was lost.
    agent.addMessage({ id: 'lost', role: 'assistant', content: 'It is' });
    const second = await runOf(agent, { tools });
    expect(second.events.at(-1)).toMatchObject({ outcome: { type: 'interrupt' } });
    expect(refunded).toEqual([]);
    const resume = agent.pendingInterrupts.map(({ id }) => ({
      interruptId: id,
      status: 'resolved',
      payload: { approved: true },
    }));
    const { result } = await runOf(agent, { runId: 'three', tools, resume });
    expect(contentsOf(agent.messages, 'assistant').at(-1)).toBe(result?.answerText);
    expect(refunded).toEqual(['A']);
    await runOf(agent, { runId: 'three', tools, resume });
    expect(calls()[0]).toMatchObject(expected);
    expect(await (await get('/runs')).json()).toMatchObject({ runs: [{ request: 'Is it so?' }] });
  });

  it('runs an agent chart of the server, and its approved call once', async () => {
    const { refunded, machine } = refundAgent();
    const host = createDurableMachine(machine, { journals: memoryJournals() });
    const desk = { host, input: ({ request }: { request: string }) => request };
    const { url } = await serveUntilEnd({ agents: { desk } });
    const agent = agentAt(url, { url: `${url}/ag-ui/desk` });
    await runOf(agent, { runId: 'one' });
    expect(agent.pendingInterrupts).toMatchObject([{ message: expect.stringContaining('"order":"A7"') }]);
    const resume = agent.pendingInterrupts.map(({ id: interruptId }) => ({
      interruptId,
      status: 'resolved',
      payload: { approved: true },
    }));
    const { result } = await runOf(agent, { runId: 'two', resume });
    expect(result?.answerText).toBe('The customer has the money back.');
    expect(contentsOf(agent.messages, 'assistant')).toEqual([result?.answerText]);
    expect(refunded).toEqual(['A7']);
  });

  it('rejects files by URL, and invalid or late answers, and those of other owners', async () => {
    const { refunded, chain } = refunds('A', 'B');
    const { url, post } = await startServer({ chain });
    const agent = agentAt(url);
    await runOf(agent);
    const [a = '', b = ''] = agent.pendingInterrupts.map(({ id }) => id);
    const input = { threadId: agent.threadId, runId: 'two', messages: [QUESTION] };
    const image = { type: 'image', source: { type: 'url', value: 'http://127.0.0.1/a.png' } };
    const refusalOf = async (more: object, token = ALICE) => {
      const response = await post('/ag-ui', { ...input, ...more }, { token });
      return [response.status, ((await response.json()) as { code: string }).code];
    };
    const answer = (interruptId: string, payload: object) => ({
      resume: [{ interruptId, status: 'resolved', payload }],
    });
    expect(await refusalOf({ tools: [{ name: 'refund', description: '' }] })).toEqual([400, 'invalid_option']);
    expect(await refusalOf({ messages: [] })).toEqual([400, 'invalid_request']);
    expect(await refusalOf({ messages: [{ ...QUESTION, content: [image] }] })).toEqual([400, 'invalid_request']);
    expect(await refusalOf(answer(a, { approve: true }))).toEqual([400, 'invalid_request']);
    expect(await refusalOf(answer(`${a}0`, { approved: true }))).toEqual([400, 'unknown_question']);
    expect(await refusalOf(answer(a, { approved: true }), BOB)).toEqual([404, 'unknown_run']);
    expect(refunded).toEqual([]);
    const denied = [a, b].map((interruptId) => ({ interruptId, status: 'resolved', payload: { approved: false } }));
    await (await post('/ag-ui', { ...input, resume: denied })).text();
    expect(await refusalOf(answer(a, { approved: true }))).toEqual([409, 'run_ended']);
    expect(refunded).toEqual([]);
  });
});
