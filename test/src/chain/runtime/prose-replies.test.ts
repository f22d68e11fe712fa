import { describe, expect, it } from 'vitest';
import { createPostChain } from '../../../../src/entries/index.ts';
import { openaiModel } from '../../../../src/models/openai/openai-model.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import {
  type ChatBody,
  chatServer,
  completion,
  DONE,
  event,
  respondWithJson,
  streaming,
  toolChunk,
} from '../../../support/chat-server.ts';
import { entriesOf, ONE_CALL_PER_PHASE } from '../../../support/run-chain.ts';
import { TestClock } from '../../../support/simulated-clock.ts';

const PROSE = 'The Yield phase decides whether the run is complete or continues.';
const isToolCall = ({ tools }: ChatBody): boolean => tools !== undefined;
const proseServer = (toolReply: (exchange: Parameters<Parameters<typeof chatServer>[0]>[0]) => void) =>
  chatServer((exchange) => {
    if (isToolCall(exchange.body)) toolReply(exchange);
    else streaming(exchange.response).end(completion(PROSE));
  });

/** Replies to a request for a tool call, by servers whose models cannot make one. */
const TOOL_REPLIES = {
  'answers in prose too': ({ response }) => void streaming(response).end(completion(PROSE)),
  'calls an unknown tool': ({ response }) =>
    void streaming(response).end(
      `${event(toolChunk({ index: 0, id: 'a', function: { name: 'search', arguments: '{}' } }))}${completion('')}${DONE}`,
    ),
  'rejects tools': ({ response }) => respondWithJson(response, 400, { error: { message: 'tools are not supported' } }),
  'rejects the request': ({ response }) => respondWithJson(response, 422, { error: { message: 'unprocessable' } }),
} as const satisfies Record<string, Parameters<typeof proseServer>[0]>;

const formOf = ({ tools, response_format }: ChatBody): string | undefined =>
  tools === undefined ? response_format?.type : 'tool call';

const modelAt = (baseURL: string) => openaiModel({ model: 'm', apiKey: 'k', baseURL, nativeTools: false });

describe('a model that answers in prose', () => {
  it.each(Object.entries(TOOL_REPLIES))('[A14] is used in at most 10 calls if it %s', async (_, toolReply) => {
    const server = await proseServer(toolReply);
    const run = createPostChain({ profile: ONE_CALL_PER_PHASE, model: modelAt(server.baseURL) }).run({
      request: 'What does Yield decide?',
    });
    const answer = await run.answer;
    expect(server.exchanges.length).toBeLessThanOrEqual(10);
    expect(server.exchanges.filter(({ body }) => isToolCall(body))).toHaveLength(1);
    expect(answer).toMatchObject({
      status: 'degraded',
      answerText: PROSE,
      metadata: { reason: 'prose_replies', failures: [], synthesis: { writtenBy: 'model' }, cycles: 1 },
    });
    expect(answer.confidence).toBeLessThan(0.5);
    expect(answer.notes).toContain('The model answered in prose instead of JSON (action, experience,');
    expect(answer.notes).toContain('; use another model, or add a fallback model (fallbackModels, or --fallback-model');
    const [first] = entriesOf(run, 'attempt-end');
    expect(first?.failure?.message).toContain(`It begins “${PROSE}”.`);
  });

  it('[A14] is asked for a schema, a JSON object and a tool call before its prose is used', async () => {
    const server = await proseServer(TOOL_REPLIES['answers in prose too']);
    await createPostChain({ profile: ONE_CALL_PER_PHASE, model: modelAt(server.baseURL) }).run({
      request: 'What does Yield decide?',
    }).answer;
    expect(server.exchanges.slice(0, 4).map(({ body }) => formOf(body))).toEqual([
      'json_schema',
      'json_object',
      'tool call',
      'json_object',
    ]);
    expect(server.exchanges).toHaveLength(9);
  });

  it('[A14] prefers a fallback model, and is not called again', async () => {
    const first = scriptedModel(() => ({ text: PROSE, replyForm: 'text' }), { id: 'first' });
    const second = scriptedModel({}, { id: 'second', otherwise: replies });
    const options = { model: first, fallbackModels: [second], clock: new TestClock() };
    const run = createPostChain({ profile: ONE_CALL_PER_PHASE, ...options }).run({ request: 'Is it so?' });
    expect(await run.answer).toMatchObject({ status: 'completed', answerText: replies.synthesis.answerText });
    expect(first.calls.map(({ replyForm }) => replyForm)).toEqual(['text', 'json-object', 'tool-call']);
    expect(second.calls).toHaveLength(7);
    expect(entriesOf(run, 'attempt-start').map(({ model }) => model)).toEqual([0, 0, 0, 1, 1, 1, 1, 1, 1, 1]);
  });

  it('[A14] is used in JSON again as soon as it replies in JSON', async () => {
    const model = scriptedModel((request) =>
      request.task === 'action' ? { text: PROSE, replyForm: 'text' } : replies[request.task as keyof typeof replies],
    );
    const run = createPostChain({ profile: ONE_CALL_PER_PHASE, model, clock: new TestClock() }).run({
      request: 'Is it so?',
    });
    expect(await run.answer).toMatchObject({
      status: 'degraded',
      answerText: replies.synthesis.answerText,
      metadata: { reason: 'prose_replies' },
    });
    expect((await run.answer).notes).toContain('in prose instead of JSON (action)');
    expect(model.calls).toHaveLength(9);
  });
});
