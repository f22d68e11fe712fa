import * as ai7 from 'ai';
import * as ai6 from 'ai-v6';
import { describe, expect, it } from 'vitest';
import type { PostChainOptions } from '../../../src/chain/runtime/options.ts';
import { memoryJournals } from '../../../src/durable/journals/memory-journals.ts';
import { createPassageIndex, extractiveModel } from '../../../src/entries/index.ts';
import { scriptedModel } from '../../../src/models/scripted.ts';
import type { ChatData, ChatMetadata } from '../../../src/server/protocols/ai-sdk-chunks.ts';
import { replies } from '../../../src/testing/replies.ts';
import { ALICE, BOB, eventsIn, refunds, startServer } from '../../support/chain-server.ts';

/** Both versions have these functions, with types of their own. */
const VERSIONS = [
  { name: '6', ai: ai6 as unknown as typeof ai7 },
  { name: '7', ai: ai7 },
];

type ChatMessage = ai7.UIMessage<ChatMetadata, ChatData>;

const userMessage = (text: string, ...others: readonly object[]) =>
  ({ id: 'm1', role: 'user', parts: [{ type: 'text', text }, ...others] }) as ChatMessage;
const asked = (text: string, id = 'chat-1') => ({ id, messages: [userMessage(text)], trigger: 'submit-message' });

/** Its first reply fails in the middle, its second one leads to another cycle, and synthesis rewrites the third one. */
const hesitantModel = () =>
  scriptedModel(
    {
      yield: [
        { text: '{"answer":"It is not', cut: 20 },
        { ...replies.yield, confidence: 0.1, informationSufficiency: 0.1 },
        replies.yield,
      ],
    },
    { otherwise: replies, chunkChars: 4 },
  );

const citing = (path: string): PostChainOptions => ({
  model: extractiveModel(),
  documents: createPassageIndex([{ path, text: 'The tide comes twice a day.' }]),
});

/** The chunks of a stream as the client reads them, and whether it ended properly. */
async function chunksOf(response: Response) {
  const lines: string[] = [];
  for await (const { data } of eventsIn(response)) lines.push(data);
  return { chunks: lines.slice(0, -1).map((line) => JSON.parse(line)), last: lines.at(-1) };
}

/** Reads chunks as `useChat` does. */
async function messageOf(ai: typeof ai7, stream: ReadableStream): Promise<ChatMessage> {
  let last: unknown;
  for await (const message of ai.readUIMessageStream({ stream, terminateOnError: true })) last = message;
  return last as ChatMessage;
}

const textOf = ({ parts }: ChatMessage) => parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
const transportOf = (ai: typeof ai7, url: string, token = ALICE) =>
  new ai.DefaultChatTransport<ChatMessage>({ api: `${url}/api/chat`, headers: { authorization: `Bearer ${token}` } });
const sending = (text: string) => ({
  trigger: 'submit-message' as const,
  chatId: 'chat-1',
  messageId: undefined,
  messages: [userMessage(text)],
  abortSignal: undefined,
});

describe('a chat of the AI SDK', () => {
  it.each(VERSIONS)('sends version $name only the answer as text, and the rest as other parts', async ({ ai }) => {
    const { url, get } = await startServer({ chain: { model: hesitantModel() } });
    const message = await messageOf(ai, await transportOf(ai, url).sendMessages(sending('Is it so?')));
    const { answer } = (await (await get(`/runs/${message.id}`)).json()) as { answer: { answerText: string } };
    expect(textOf(message)).toBe(answer.answerText);
    expect(message.metadata).toMatchObject({ status: 'completed', reasons: [] });
    const drafts = message.parts.filter((part) => part.type === 'reasoning' && part.providerMetadata !== undefined);
    expect(drafts).toMatchObject([
      { text: 'It is not', state: 'done', providerMetadata: { postchain: { void: 'attempt_failed' } } },
      { text: 'It is so.', providerMetadata: { postchain: { void: 'next_cycle' } } },
      { text: answer.answerText, providerMetadata: { postchain: { draft: true } } },
    ]);
    const types = new Set(message.parts.map(({ type }) => type));
    expect(types).toEqual(new Set(['reasoning', 'data-phase', 'data-decision', 'text']));
  });

  it.each([
    { name: 'an answer after three drafts', chain: () => ({ model: hesitantModel() }), type: 'reasoning-end' },
    { name: 'a canceled approval', chain: () => refunds('A7').chain, type: 'data-question' },
    { name: 'a document', chain: () => citing('tides.md'), type: 'source-document' },
    { name: 'a page', chain: () => citing('https://tides.example/daily'), type: 'source-url' },
  ])('sends chunks that versions 6 and 7 accept: $name', async ({ chain, type }) => {
    const { post } = await startServer({ chain: chain() });
    const response = await post('/api/chat', asked('How often does the tide come?'));
    const runId = response.headers.get('x-workflow-run-id');
    if (type === 'data-question')
      await expect
        .poll(() => post(`/runs/${runId}/events`, { type: 'run.cancelled' }).then(({ status }) => status))
        .toBe(204);
    const { chunks, last } = await chunksOf(response);
    for (const { uiMessageChunkSchema } of [ai6, ai7])
      for (const chunk of chunks)
        expect(await uiMessageChunkSchema().validate?.(chunk)).toEqual({ success: true, value: chunk });
    expect(chunks.map((chunk) => chunk.type)).toContain(type);
    expect([chunks[0], chunks.at(-1).type, last]).toEqual([{ type: 'start', messageId: runId }, 'finish', '[DONE]']);
  });

  it('continues a stream at any chunk, counted from either end, in any process', async () => {
    const journals = memoryJournals();
    const { post } = await startServer({ chain: { journals, model: hesitantModel() } });
    const response = await post('/api/chat', asked('Is it so?'));
    const path = `/api/chat/${response.headers.get('x-workflow-run-id')}/stream`;
    const { chunks } = await chunksOf(response);
    const { get } = await startServer({ chain: { journals } });
    for (const from of [0, 1, 17, chunks.length - 1, chunks.length])
      expect(await chunksOf(await get(`${path}?startIndex=${from}`))).toEqual({
        chunks: chunks.slice(from),
        last: '[DONE]',
      });
    for (const from of [-1, -9, -chunks.length - 5]) {
      const tail = await get(`${path}?startIndex=${from}`);
      expect(tail.headers.get('x-workflow-stream-tail-index')).toBe(`${chunks.length - 1}`);
      expect((await chunksOf(tail)).chunks).toEqual(chunks.slice(from));
    }
    expect((await get(`${path}?startIndex=last`)).status).toBe(400);
  });

  it.each(VERSIONS)(
    'gives version $name the latest answer of the chat when it resumes, but only to its owner',
    async ({ ai }) => {
      const { url, post } = await startServer();
      const resume = (token: string) => transportOf(ai, url, token).reconnectToStream({ chatId: 'chat-1' });
      expect(await resume(ALICE)).toBeNull();
      await chunksOf(await post('/api/chat', asked('Was it so?')));
      await chunksOf(await post('/api/chat', asked('And elsewhere?', 'chat-2')));
      const response = await post('/api/chat', asked('Is it so?'));
      const runId = response.headers.get('x-workflow-run-id') ?? '';
      await chunksOf(response);
      const stream = await resume(ALICE);
      expect(stream && (await messageOf(ai, stream)).id).toBe(runId);
      expect(await resume(BOB)).toBeNull();
      expect(await transportOf(ai, url, BOB).reconnectToStream({ chatId: runId })).toBeNull();
    },
  );

  it('starts one run for a message that is sent twice, but another one for a changed or regenerated message', async () => {
    const { post } = await startServer();
    const send = async (body: object) => (await post('/api/chat', body)).headers.get('x-workflow-run-id');
    const body = asked('Is it so?');
    const [first, second] = await Promise.all([send(body), send(body)]);
    expect(second).toBe(first);
    const others = [asked('Is it?'), asked('Is it so?', 'chat-2'), { ...body, trigger: 'regenerate-message' }];
    const runIds = [first, await send(body), ...(await Promise.all(others.map(send)))];
    expect(new Set(runIds).size).toBe(4);
  });

  it('asks for an approval, and continues when it is given', async () => {
    const { url, post } = await startServer({ chain: refunds('A7').chain });
    const stream = await transportOf(ai7, url).sendMessages(sending('Refund A7.'));
    const seen: ChatMessage['parts'][] = [];
    for await (const { id, parts } of ai7.readUIMessageStream<ChatMessage>({ stream })) {
      seen.push(parts);
      const question = parts.find((part) => part.type === 'data-question')?.data;
      if (question?.kind !== 'approval' || question.closed) continue;
      const { questionId, digest } = question;
      await post(`/runs/${id}/events`, { type: 'approval.given', questionId, digest, decision: 'approve' });
    }
    const last = seen.at(-1) ?? [];
    expect(last.filter((part) => part.type === 'data-question')).toMatchObject([
      { data: { capability: 'refund', closed: true } },
    ]);
    expect(last.filter((part) => part.type === 'data-tool')).toMatchObject([
      { data: { name: 'refund', state: 'ended' } },
    ]);
  });

  it('takes texts and files from a message, but no tools or approvals', async () => {
    const model = { ...scriptedModel({}, { otherwise: replies }), accepts: ['text/plain'] };
    const { post, get } = await startServer({ chain: { model }, exposeJournal: true });
    const approved = {
      type: 'tool-refund',
      toolCallId: 't1',
      state: 'approval-responded',
      input: {},
      approval: { id: 'q', approved: true },
    };
    const messages = [
      userMessage('Refund A7.'),
      {
        id: 'r1',
        role: 'assistant',
        parts: [{ type: 'reasoning', text: 'Hm.' }, approved, { type: 'text', text: 'No.' }],
      },
      { id: 'r2', role: 'assistant', parts: [approved] },
      userMessage('Read this.', { type: 'file', mediaType: 'text/plain', url: 'data:text/plain;base64,SGk=' }),
    ];
    const response = await post('/api/chat', { messages });
    await chunksOf(response);
    const { entries } = (await (await get(`/runs/${response.headers.get('x-workflow-run-id')}/journal`)).json()) as {
      entries: { type: string }[];
    };
    expect(entries[0]).toMatchObject({
      input: {
        request: 'Read this.',
        messages: [{ content: 'Refund A7.' }, { content: 'No.' }],
        attachments: [{ mediaType: 'text/plain' }],
      },
    });
    expect(entries.filter(({ type }) => type === 'approval-resolved' || type === 'delivery')).toEqual([]);
  });

  it.each([
    { name: 'tools', body: { ...asked('Hi'), tools: {} }, message: /^tools: set by the server/ },
    { name: 'a system message', body: { messages: [{ role: 'system', parts: [] }] }, message: /^messages.0.role: / },
    {
      name: 'an answer as the last message',
      body: { messages: [{ role: 'assistant', parts: [] }] },
      message: /expected the last role to be "user".*; received "assistant"/,
    },
    { name: 'no text', body: { messages: [userMessage(' ')] }, message: /^request: / },
    {
      name: 'a URL',
      body: {
        messages: [
          userMessage('See.', { type: 'file', mediaType: 'image/png', url: 'https://elsewhere.example/a.png' }),
        ],
      },
      message: /download it first/,
    },
  ])('rejects $name', async ({ body, message }) => {
    const { get, post } = await startServer();
    const response = await post('/api/chat', body);
    expect([response.status, await response.json()]).toEqual([
      400,
      { code: 'invalid_request', message: expect.stringMatching(message) },
    ]);
    expect(await (await get('/runs')).json()).toEqual({ runs: [] });
  });

  it('reads JSON without a content type, but not from a page of another site', async () => {
    const { post } = await startServer();
    const plain = (headers: Record<string, string>) => post('/api/chat', asked('Is it so?'), { headers });
    expect((await plain({ 'content-type': 'text/plain;charset=UTF-8' })).status).toBe(200);
    expect((await plain({ 'content-type': 'text/plain', origin: 'https://elsewhere.example' })).status).toBe(403);
    expect((await plain({ 'content-type': 'multipart/form-data' })).status).toBe(415);
  });
});
