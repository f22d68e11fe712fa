import { describe, expect, it } from 'vitest';
import { openaiModel } from '../../../src/models/openai/openai-model.ts';
import { type ChatBody, chatServer, completion, respondWithJson, streaming } from '../../support/chat-server.ts';
import { failureFrom, modelRequest, partsOf } from '../../support/model-streams.ts';

const usage = { prompt_tokens: 7, completion_tokens: 3 };
const message = (content: string | null, changes: object = {}, finishReason = 'stop') => ({
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content, ...changes }, finish_reason: finishReason }],
  usage,
});
const unstreamed = (baseURL: string, changes: object = {}) =>
  openaiModel({ model: 'm', apiKey: 'k', baseURL, stream: false, ...changes });

/** Serves a text in the way that the request asks for. */
const serverFor = (textOf: (body: ChatBody, index: number) => string) =>
  chatServer(({ body, index, response }) => {
    const text = textOf(body, index);
    if (body.stream === false) respondWithJson(response, 200, message(text));
    else streaming(response).end(completion(text));
  });

describe('a model that does not stream', () => {
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

  it('closes the connection when it is aborted', async () => {
    const controller = new AbortController();
    const server = await chatServer(() => controller.abort());
    expect(await partsOf(unstreamed(server.baseURL), modelRequest(), controller.signal)).toEqual([]);
    await server.allClosed();
  });
});
