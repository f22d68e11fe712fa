import { DefaultChatTransport, readUIMessageStream, type UIMessage } from 'ai';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { assign, type PromiseActorLogic, setup } from 'xstate';
import * as z from 'zod';
import { failureOf } from '../../../machines/policies/failures.ts';
import { systemClock } from '../../../src/durable/clock.ts';
import { defineCapability, generate, runTools } from '../../../src/entries/agents.ts';
import { createDurableMachine, type Journals, memoryJournals } from '../../../src/entries/durable.ts';
import type { ChatModel, ModelPart } from '../../../src/entries/index.ts';
import type { ChatData, ChatMetadata, RunUpdate, RunView } from '../../../src/entries/server.ts';
import { withResolvers } from '../../../src/internal/async.ts';
import { ALICE, collectUpdates, oneAtATime, serveUntilEnd, updatesIn } from '../../support/chain-server.ts';

type Reply = readonly (ModelPart | Promise<void>)[];

const text = (piece: string): ModelPart => ({ type: 'text-delta', text: piece });
const STOP: ModelPart = { type: 'finish', reason: 'stop', usage: null };
const BROKEN: ModelPart = { type: 'failure', failure: failureOf('transport', 'stream_cut', 'The stream broke.') };
const call = (article: string): ModelPart => ({
  type: 'tool-call-delta',
  index: 0,
  id: 'c1',
  name: 'stock',
  arguments: JSON.stringify({ article }),
});
const prose = (...pieces: readonly string[]): Reply => [...pieces.map(text), STOP];

/** A model that sends these replies in turn, and waits at each promise in them. */
function modelWith(replies: readonly Reply[], nativeTools = true): ChatModel {
  const left = [...replies];
  return {
    id: 'pieces',
    contextWindowTokens: 10_000,
    nativeTools,
    async *stream() {
      for (const part of left.shift() ?? []) {
        if (part instanceof Promise) await part;
        else yield part;
      }
    },
  };
}

/** Each piece of a reply is recorded alone. */
function clockOfPieces() {
  let nowMs = 0;
  return {
    ...systemClock,
    now() {
      nowMs += 1_000;
      return nowMs;
    },
  };
}

/** An agent that thinks about a mail first, and then answers it. */
function deskWith(replies: readonly Reply[], writer: 'generate' | 'runTools' | 'runTools in JSON' = 'generate') {
  const isAgent = writer !== 'generate';
  const common = { policy: { backoffBaseMs: 0 }, clock: clockOfPieces(), prompt: (mail: string) => mail };
  const model = modelWith(replies, writer !== 'runTools in JSON');
  const stock = defineCapability({
    name: 'stock',
    description: 'Returns how many units are in stock.',
    arguments: z.object({ article: z.string() }),
    execute: () => 3,
  });
  const reply = isAgent
    ? runTools({ ...common, model, tools: [stock] })
    : generate({ ...common, model, name: 'reply' });
  return setup({
    types: {} as { input: string; context: { mail: string; reply: string }; output: string },
    actors: {
      think: generate({ ...common, model: modelWith([prose('It is about an offer.')]) }),
      reply: reply as unknown as PromiseActorLogic<unknown, string>,
    },
  }).createMachine({
    id: 'desk',
    context: ({ input }) => ({ mail: input, reply: '' }),
    output: ({ context }) => context.reply,
    initial: 'thinking',
    states: {
      thinking: { invoke: { src: 'think', input: ({ context }) => context.mail, onDone: 'writing' } },
      writing: {
        invoke: {
          src: 'reply',
          input: ({ context }) => context.mail,
          onDone: {
            target: 'answered',
            actions: assign({
              reply: ({ event }) => (isAgent ? (event.output as { answer: string }).answer : String(event.output)),
            }),
          },
          onError: 'left',
        },
      },
      answered: { type: 'final' },
      left: { type: 'final' },
    },
  });
}

async function serveDesk(
  machine: ReturnType<typeof deskWith>,
  options: { readonly answer?: string; readonly reply?: (output: string) => string } = { answer: 'reply' },
  journals: Journals = memoryJournals(),
) {
  const host = createDurableMachine(machine as never, { journals });
  const input = ({ request }: { request: string }) => request;
  return serveUntilEnd({ agents: { desk: { host, input, ...options } as never } });
}

/** The changes of the text in updates: a text to append, or the reason why the text so far is withdrawn. */
const changesIn = (updates: readonly RunUpdate[]): readonly unknown[] =>
  updates.flatMap<unknown>((update) =>
    update.type === 'text' ? [update.delta] : update.type === 'text-void' ? [{ void: update.reason }] : [],
  );

async function updatesOf(...given: Parameters<typeof serveDesk>) {
  const { post } = await serveDesk(...given);
  const headers = { accept: 'text/event-stream' };
  const received = await collectUpdates(await post('/runs', { request: 'Is it valid?' }, { headers }));
  return received.map(({ update }) => update);
}

describe('the answer of an agent, while a model writes it', () => {
  it.each<[string, readonly Reply[], Parameters<typeof deskWith>[1], readonly unknown[]]>([
    ['prose', [prose('Yes, ', 'until Friday.')], 'generate', ['Yes,', ' until Friday.']],
    [
      'the answer in JSON',
      [prose('{"answer":"Yes, ', 'until Friday.","calls":[]}')],
      'runTools in JSON',
      ['Yes,', ' until Friday.'],
    ],
    [
      'prose after very many blanks',
      [prose(`${' '.repeat(300_000)}Yes, `, 'until Friday.')],
      'generate',
      ['Yes,', ' until Friday.'],
    ],
    [
      'prose after its reasoning',
      [prose('<think>Hm.', '</think>Yes, ', 'until Friday.')],
      'generate',
      ['Yes,', ' until Friday.'],
    ],
    [
      'a reply that is repeated',
      [[text('No, '), text('not'), BROKEN], prose('Yes, ', 'until Friday.')],
      'generate',
      ['No,', ' not', { void: 'attempt_failed' }, 'Yes,', ' until Friday.'],
    ],
    [
      'the last of several rounds of tools',
      [
        [text('I look.'), call('lamp'), { type: 'finish', reason: 'tool-calls', usage: null }],
        prose('Yes, ', 'until Friday.'),
      ],
      'runTools',
      ['I look.', { void: 'next_cycle' }, 'Yes,', ' until Friday.'],
    ],
  ])('is streamed: %s', async (_, replies, writer, expected) => {
    const updates = await updatesOf(deskWith(replies, writer));
    expect(changesIn(updates)).toEqual(expected);
    expect(updates.at(-1)).toMatchObject({ type: 'answer', answer: { answerText: 'Yes, until Friday.' } });
  });

  it('is not taken from a reply of generate that is JSON', async () => {
    const reply = '{"answer":"Yes.","isSure":false}';
    const updates = await updatesOf(deskWith([prose(reply.slice(0, 14), reply.slice(14))]));
    expect(changesIn(updates)).toEqual([reply]);
  });

  it('is withdrawn as soon as the text so far turns out to be reasoning', async () => {
    const gate = withResolvers<void>();
    const replies = [[text('Hm. '), text('</think>'), gate.promise, text('Yes.'), STOP]];
    const { post } = await serveDesk(deskWith(replies));
    const updates: RunUpdate[] = [];
    const headers = { accept: 'text/event-stream' };
    for await (const { update } of updatesIn(await post('/runs', { request: 'Is it valid?' }, { headers }))) {
      updates.push(update);
      if (update.type === 'text-void') gate.resolve();
    }
    expect(changesIn(updates)).toEqual(['Hm.', { void: 'rewritten' }, 'Yes.']);
  });

  it('is withdrawn when the chart does not answer with it, but waits', async () => {
    const common = { clock: clockOfPieces(), prompt: (mail: string) => mail };
    const reply = generate({ ...common, model: modelWith([prose('I refund ', '9999 EUR.')]), name: 'reply' });
    const machine = setup({
      types: {} as { input: string; context: { mail: string } },
      actors: { reply },
    }).createMachine({
      id: 'desk',
      context: ({ input }) => ({ mail: input }),
      initial: 'writing',
      states: {
        writing: { invoke: { src: 'reply', input: ({ context }) => context.mail, onDone: 'rejected' } },
        rejected: { on: { ANSWERED: 'answered' } },
        answered: { type: 'final' },
      },
    });
    const { post } = await serveDesk(machine as never);
    const updates: RunUpdate[] = [];
    const headers = { accept: 'text/event-stream' };
    for await (const { update } of updatesIn(await post('/runs', { request: 'Refund it.' }, { headers }))) {
      updates.push(update);
      if (update.type === 'progress' && update.isWaiting) break;
    }
    expect(changesIn(updates)).toEqual(['I refund', ' 9999 EUR.', { void: 'next_cycle' }]);
  });

  it('is not streamed unless the agent names the actor that writes it', async () => {
    const updates = await updatesOf(deskWith([prose('Yes, ', 'until Friday.')]), {});
    expect(changesIn(updates)).toEqual(['Yes, until Friday.']);
  });

  it('is replaced if the output is a different text', async () => {
    const reply = (output: string): string => `Dear customer, ${output}`;
    const updates = await updatesOf(deskWith([prose('yes, ', 'it is.')]), { answer: 'reply', reply });
    expect(changesIn(updates)).toEqual(['yes,', ' it is.', { void: 'rewritten' }, 'Dear customer, yes, it is.']);
  });

  it('has the same updates for every reader, however its entries arrive', async () => {
    const inner = memoryJournals();
    const machine = deskWith([[text('No, '), text('not'), BROKEN], prose('Yes, ', 'until Friday.')]);
    const first = await serveDesk(machine, { answer: 'reply' }, oneAtATime(inner));
    const runId = await first.start();
    const live = await collectUpdates(await first.get(`/runs/${runId}/events`));
    const ids = live.map(({ id = '' }) => id.split('.').map(Number));
    const inOrder = ids.toSorted(([seq = 0, at = 0], [other = 0, otherAt = 0]) => seq - other || at - otherAt);
    expect(ids).toEqual(inOrder);
    const second = await serveDesk(machine, { answer: 'reply' }, inner);
    expect(await collectUpdates(await second.get(`/runs/${runId}/events`))).toEqual(live);
  });

  it('is withdrawn and written again if the process ends while it is written', async () => {
    const journals = memoryJournals();
    const never = new Promise<void>(() => {});
    const first = await serveDesk(deskWith([[text('No, '), text('not'), never]]), { answer: 'reply' }, journals);
    const runId = await first.start();
    const view = async () => (await (await first.get(`/runs/${runId}`)).json()) as RunView;
    await expect.poll(async () => (await view()).text).toBe('No, not');
    await first.close();
    const { get } = await serveDesk(deskWith([prose('Yes, ', 'until Friday.')]), { answer: 'reply' }, journals);
    const updates = await collectUpdates(await get(`/runs/${runId}/events`));
    const expected = ['No,', ' not', { void: 'attempt_failed' }, 'Yes,', ' until Friday.'];
    expect(changesIn(updates.map(({ update }) => update))).toEqual(expected);
  });

  it('reaches the OpenAI package as a draft before the model ends, and then as the content', async () => {
    const gate = withResolvers<void>();
    const { url } = await serveDesk(deskWith([[text('Yes, '), text('until '), gate.promise, text('Friday.'), STOP]]));
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: ALICE, maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: 'Is it valid?' }];
    const deltas: object[] = [];
    for await (const chunk of await client.chat.completions.create({ model: 'desk', messages, stream: true })) {
      const delta = { ...chunk.choices[0]?.delta };
      deltas.push(delta);
      if (JSON.stringify(delta).includes('Draft: Yes,')) gate.resolve();
    }
    expect(deltas).toContainEqual(expect.objectContaining({ content: 'Yes, until Friday.' }));
    expect(JSON.stringify(deltas)).not.toContain('about an offer');
  });

  it('reaches useChat as a draft before the model ends, and then as text', async () => {
    const gate = withResolvers<void>();
    const { url } = await serveDesk(deskWith([[text('Yes, '), text('until '), gate.promise, text('Friday.'), STOP]]));
    type Message = UIMessage<ChatMetadata, ChatData>;
    const transport = new DefaultChatTransport<Message>({
      api: `${url}/api/chat/desk`,
      headers: { authorization: `Bearer ${ALICE}` },
    });
    const messages = [{ id: 'm1', role: 'user' as const, parts: [{ type: 'text' as const, text: 'Is it valid?' }] }];
    const stream = await transport.sendMessages({
      ...{ trigger: 'submit-message', chatId: 'c1', messageId: undefined, messages },
      abortSignal: undefined,
    });
    let last: Message | null = null;
    for await (const message of readUIMessageStream<Message>({ stream, terminateOnError: true })) {
      const draft = message.parts.find((part) => part.type === 'reasoning' && part.providerMetadata?.['postchain']);
      if (draft?.type === 'reasoning' && draft.text.startsWith('Yes,')) gate.resolve();
      last = message;
    }
    expect(last?.parts.at(-1)).toMatchObject({ type: 'text', text: 'Yes, until Friday.' });
    expect(last?.metadata).not.toHaveProperty('confidence');
  });

  it('leaves nothing of a withdrawn draft in the messages of AG-UI', async () => {
    const { post } = await serveDesk(deskWith([[text('No, '), text('not'), BROKEN], prose('Yes, ', 'until Friday.')]));
    const messages = [{ id: 'a', role: 'user', content: 'Is it valid?' }];
    const body = await (await post('/ag-ui/desk', { threadId: 't', runId: 'one', messages })).text();
    const events = [...body.matchAll(/^data: (.*)$/gmu)].map(([, line = '']) => JSON.parse(line) as AgUiEvent);
    const snapshot = events.findIndex(({ type }) => type === 'MESSAGES_SNAPSHOT');
    expect(JSON.stringify(events[snapshot])).not.toContain('No,');
    const written = events.slice(snapshot).filter(({ type }) => type === 'TEXT_MESSAGE_CONTENT');
    expect(written.map(({ delta }) => delta).join('')).toBe('Yes, until Friday.');
  });
});

interface AgUiEvent {
  readonly type: string;
  readonly delta?: string;
}
