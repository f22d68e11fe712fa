import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createPostChain, createStructuredOutput } from '../../../src/entries/index.ts';
import { openaiModel } from '../../../src/models/openai/openai-model.ts';
import { replies } from '../../../src/testing/replies.ts';
import {
  type ChatBody,
  chatServer,
  completion,
  respondWithJson,
  streaming,
  taskOf,
} from '../../support/chat-server.ts';
import { failureFrom, modelRequest, partsOf } from '../../support/model-streams.ts';
import { ONE_CALL_PER_PHASE } from '../../support/run-chain.ts';

const usage = { prompt_tokens: 7, completion_tokens: 3 };
const message = (content: string | null, changes: object = {}, finishReason = 'stop') => ({
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content, ...changes }, finish_reason: finishReason }],
  usage,
});
const unstreamed = (baseURL: string, changes: object = {}) =>
  openaiModel({ model: 'm', apiKey: 'k', baseURL, stream: false, ...changes });
const Recipe = z.object({ title: z.string(), minutes: z.int() });
const RECIPE = { title: 'Pancakes', minutes: 25 };

/** Serves a text in the way that the request asks for. */
const serverFor = (textOf: (body: ChatBody, index: number) => string) =>
  chatServer(({ body, index, response }) => {
    const text = textOf(body, index);
    if (body.stream === false) respondWithJson(response, 200, message(text));
    else streaming(response).end(completion(text));
  });

describe('a model that does not stream', () => {
  it('[A6] sends one request without stream options, and gives the text, the reason and the usage', async () => {
    const server = await serverFor(() => '{"response":"dust"}');
    expect(await partsOf(unstreamed(server.baseURL))).toEqual([
      { type: 'text-delta', text: '{"response":"dust"}' },
      { type: 'finish', reason: 'stop', usage: { inputTokens: 7, outputTokens: 3, estimated: false } },
    ]);
    const [{ body } = { body: {} as ChatBody }] = server.exchanges;
    expect(body.stream).toBe(false);
    expect(body).not.toHaveProperty('stream_options');
    expect(body.response_format?.type).toBe('json_schema');
  });

  it('[A6] gives reasoning, tool calls and a length limit', async () => {
    const call = { id: 'a', type: 'function', function: { name: 'action_reply', arguments: '{"response":"dust"}' } };
    const server = await chatServer(({ response }) =>
      respondWithJson(response, 200, message(null, { reasoning_content: 'hm', tool_calls: [call] }, 'length')),
    );
    expect(await partsOf(unstreamed(server.baseURL), modelRequest({ replyForm: 'tool-call' }))).toEqual([
      { type: 'reasoning-delta', text: 'hm' },
      { type: 'tool-call-delta', index: 0, name: 'action_reply', arguments: '{"response":"dust"}' },
      { type: 'finish', reason: 'length', usage: { inputTokens: 7, outputTokens: 3, estimated: false } },
    ]);
  });

  it.each(['text', 'tool-call', 'json-object'] as const)(
    '[A6] gives the same value and the same corrections as a streaming one, in the form %s',
    async (replyForm) => {
      const outcomes = [];
      for (const stream of [true, false]) {
        const server = await chatServer(({ body, index, response }) => {
          const text = JSON.stringify(index === 0 ? { ...RECIPE, minutes: 'soon' } : RECIPE);
          const args = [{ index: 0, id: 'a', function: { name: 'output', arguments: text } }];
          const [content, calls] = body.tools === undefined ? [text, {}] : [null, { tool_calls: args }];
          if (body.stream === false) respondWithJson(response, 200, message(content, calls));
          else if (content !== null) streaming(response).end(completion(content));
          else
            streaming(response).end(
              `data: ${JSON.stringify({ choices: [{ index: 0, delta: calls, finish_reason: 'tool_calls' }], usage })}\n\ndata: [DONE]\n\n`,
            );
        });
        const model = openaiModel({ model: 'm', apiKey: 'k', baseURL: server.baseURL, stream });
        const output = createStructuredOutput({ model, schema: Recipe, prompt: 'A recipe', replyForm });
        const updates = [];
        for await (const { type, attempt } of output) updates.push(`${type} ${attempt}`);
        const { attempts } = output.execution;
        outcomes.push({
          value: await output.value,
          attempts: attempts.map(({ text, failure, usage: used }) => ({ text, failure, used })),
          updates: [...new Set(updates)],
        });
      }
      expect(outcomes[0]).toEqual(outcomes[1]);
      expect(outcomes[1]).toMatchObject({
        value: RECIPE,
        attempts: [{ failure: { stage: 'schema' } }, { failure: null }],
      });
      expect(outcomes[1]?.updates).toEqual(['partial 1', 'reset 1', 'partial 2', 'value 2']);
    },
  );

  it('[A13] waits as long as the server asks', async () => {
    const server = await chatServer(({ response }) =>
      respondWithJson(response, 429, { error: { message: 'slow down' } }, { 'retry-after': '3' }),
    );
    expect(await failureFrom(unstreamed(server.baseURL))).toMatchObject({ code: 'rate_limited', retryAfterMs: 3_000 });
  });

  it('fails on a response that is too large', async () => {
    const server = await serverFor(() => 'x'.repeat(10_000));
    const model = unstreamed(server.baseURL, { maxResponseBytes: 5_000 });
    expect(await failureFrom(model)).toMatchObject({ code: 'response_too_large' });
    await server.allClosed();
  });

  it('fails on a response that is cut off', async () => {
    const server = await chatServer(({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(JSON.stringify(message('whole')).slice(0, 60), () => response.destroy());
    });
    expect(await failureFrom(unstreamed(server.baseURL))).toMatchObject({ stage: 'transport', retryable: true });
  });

  it('closes the connection when it is aborted', async () => {
    const controller = new AbortController();
    const server = await chatServer(() => controller.abort());
    expect(await partsOf(unstreamed(server.baseURL), modelRequest(), controller.signal)).toEqual([]);
    await server.allClosed();
  });

  it('[A6] answers a whole run', async () => {
    const server = await serverFor((body) => JSON.stringify(replies[taskOf(body)]));
    const answer = await createPostChain({ profile: ONE_CALL_PER_PHASE, model: unstreamed(server.baseURL) }).run({
      request: 'Is it so?',
    }).answer;
    expect(answer).toMatchObject({ status: 'completed', answerText: replies.synthesis.answerText });
    expect(server.exchanges.every(({ body }) => body.stream === false)).toBe(true);
    expect(answer.metadata.usage).toMatchObject({ estimated: false, inputTokens: 7 * server.exchanges.length });
  });
});
