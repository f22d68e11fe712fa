import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { ModelPart } from '../../../machines/contracts/model.ts';
import { openaiModel } from '../../../src/models/openai/openai-model.ts';
import { chatServer, chunk, completion, DONE, event, respondWithJson, streaming } from '../../support/chat-server.ts';
import { modelRequest, partsOf } from '../../support/model-streams.ts';

const model = (baseURL: string) => openaiModel({ model: 'test-model', apiKey: 'sk-test-1234567890', baseURL });

/** Serves these bytes as an event stream and returns the resulting parts. */
async function partsFrom(...writes: readonly (string | Uint8Array)[]) {
  const server = await chatServer(({ response }) => {
    streaming(response);
    for (const bytes of writes) response.write(bytes);
    response.end();
  });
  return partsOf(model(server.baseURL));
}

describe('the openai model, streaming', () => {
  test.each([
    ['stop', 'stop'],
    ['length', 'length'],
    ['content_filter', 'content-filter'],
    ['model_length', 'length'],
    ['tool_calls', 'tool-calls'],
    ['function_call', 'tool-calls'],
    ['toString', 'other'],
    ['eos', 'stop'],
    ['END_TURN', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['abort', 'other'],
  ])('the finish reason %s is %s', async (theirs, ours) => {
    const parts = await partsFrom(event(chunk({ content: 'a' })), event(chunk({}, theirs)), DONE);
    expect(parts.at(-1)).toEqual({ type: 'finish', reason: ours, usage: null });
  });

  test('a refusal is a refinement failure that is not retryable', async () => {
    const parts = await partsFrom(
      event(chunk({ refusal: 'I cannot\n' })),
      event(chunk({ refusal: 'help.' })),
      event(chunk({}, 'stop')),
      DONE,
    );
    expect(parts).toEqual([
      {
        type: 'failure',
        failure: {
          stage: 'refinement',
          code: 'refused',
          message: 'the model refused: I cannot help.',
          retryable: false,
          retryAfterMs: null,
          status: null,
          issues: [],
        },
      },
    ]);
  });
});

const listeners = (signal: AbortSignal) => getEventListeners(signal, 'abort').length;

/** A server that sends one word and then nothing. */
const stallingServer = () =>
  chatServer(({ response }) => void streaming(response).write(event(chunk({ content: 'one' }))));

describe('the openai model, aborted', () => {
  test('an abort ends a stalled stream without a last part, closes its socket and leaves no listener', async () => {
    const server = await stallingServer();
    const controller = new AbortController();
    const parts: ModelPart[] = [];
    for await (const part of model(server.baseURL).stream(modelRequest(), { signal: controller.signal })) {
      parts.push(part);
      expect(listeners(controller.signal)).toBe(1);
      queueMicrotask(() => controller.abort());
    }
    expect(parts).toEqual([{ type: 'text-delta', text: 'one' }]);
    await server.allClosed();
    expect(server.used()).toEqual({ ever: 1, open: 0 });
    expect(await server.connections()).toBe(0);
    expect(listeners(controller.signal)).toBe(0);
  });

  test('an abort during a body that is not streamed, or of an error, ends the call', async () => {
    for (const status of [200, 500]) {
      const controller = new AbortController();
      const server = await chatServer(({ response }) => {
        response.writeHead(status, { 'content-type': 'application/json' }).write('{"error":', () => controller.abort());
      });
      expect(await partsOf(model(server.baseURL), modelRequest(), controller.signal)).toEqual([]);
      await server.allClosed();
    }
  });

  test('an already aborted signal opens no connection', async () => {
    const server = await stallingServer();
    expect(await partsOf(model(server.baseURL), modelRequest(), AbortSignal.abort())).toEqual([]);
    expect(await server.connections()).toBe(0);
  });

  test('an abort between two parts ends the stream, even if more has arrived', async () => {
    const server = await chatServer(({ response }) => void streaming(response).end(completion('one').repeat(3)));
    const controller = new AbortController();
    const parts: ModelPart[] = [];
    for await (const part of model(server.baseURL).stream(modelRequest(), { signal: controller.signal })) {
      parts.push(part);
      controller.abort();
    }
    expect(parts).toHaveLength(1);
  });

  test('a stream that is never read opens no connection and leaves no listener', async () => {
    const server = await stallingServer();
    const { signal } = new AbortController();
    model(server.baseURL).stream(modelRequest(), { signal });
    expect(await server.connections()).toBe(0);
    expect(listeners(signal)).toBe(0);
  });

  test('a signal that outlives many calls keeps no listener of finished calls', async () => {
    const server = await chatServer(({ index, response }) => {
      if (index % 2 === 0) streaming(response).end(completion('ok'));
      else respondWithJson(response, 500, { error: { message: 'No.' } });
    });
    const { signal } = new AbortController();
    const subject = model(server.baseURL);
    for (let call = 0; call < 20; call += 1) await partsOf(subject, modelRequest(), signal);
    expect(listeners(signal)).toBe(0);
    expect(server.used().ever).toBeLessThan(20);
  });
});
