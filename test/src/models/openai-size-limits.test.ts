import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { openaiEmbeddings } from '../../../src/models/openai/embeddings.ts';
import { openaiModel } from '../../../src/models/openai/openai-model.ts';
import { chatServer, chunk, completion, event, streaming, writeEndlessly } from '../../support/chat-server.ts';
import { failureFrom, partsOf, textOf } from '../../support/model-streams.ts';

const MAX = 200_000;
const small = (baseURL: string) => openaiModel({ model: 'm', apiKey: 'k', baseURL, maxResponseBytes: MAX });

/** Serves a head, and then the same bytes until the client closes the connection. */
const endlessServer = (head: string, bytes: string | Uint8Array, type = 'text/event-stream', status = 200) =>
  chatServer(({ response }) => {
    response.writeHead(status, { 'content-type': type }).write(head || '\n');
    writeEndlessly(response, bytes);
  });

const letters = 'x'.repeat(1_000);
const delta = event(chunk({ content: letters }));

describe('a response without an end', () => {
  test.each([
    ['whole replies of small events', '', event({ choices: [] })],
    ['keep-alive comments', '', ': ping\n\n'],
    ['one line', 'data: {"choices":[{"delta":{"content":"', letters],
    ['one event of many lines', '', `data: ${letters}\n`],
    ['a refusal', '', event(chunk({ refusal: letters }))],
    ['a tool call without a name', '', event(chunk({ tool_calls: [{ index: 0, function: { arguments: letters } }] }))],
    ['reasoning', '', event(chunk({ reasoning: letters }))],
    ['line feeds', '', '\n'.repeat(1_000)],
    ['a JSON answer', '{"choices":[{"message":{"content":"', letters],
  ])('is cut off at maxResponseBytes and the connection is closed: %s', async (_, head, bytes) => {
    const server = await endlessServer(head, bytes);
    expect(await failureFrom(small(server.baseURL))).toMatchObject({
      stage: 'transport',
      code: 'response_too_large',
      retryable: false,
      message: expect.stringMatching(/more than (200,000 bytes|100,000 characters).*maxResponseBytes/),
    });
    await server.allClosed();
    expect(server.exchanges).toHaveLength(1);
  });

  test('is cut off by its decompressed size', async () => {
    const body = gzipSync(delta.repeat(1_000));
    const server = await chatServer(
      ({ response }) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(body),
    );
    expect(body.length).toBeLessThan(MAX / 10);
    expect((await failureFrom(small(server.baseURL))).code).toBe('response_too_large');
  });

  test('is cut off in an error, which keeps its status and the start of its text', async () => {
    const server = await endlessServer('Out of coffee. ', letters, 'text/plain', 503);
    expect(await failureFrom(small(server.baseURL))).toMatchObject({
      code: 'server_error',
      status: 503,
      retryable: true,
      message: expect.stringContaining('Out of coffee.'),
    });
    await server.allClosed();
  });

  test('is cut off in an error of the right form, which keeps its message', async () => {
    const server = await endlessServer(
      '{"error":{"message":"Out of coffee."}',
      ' '.repeat(1_000),
      'application/json',
      429,
    );
    const failure = await failureFrom(small(server.baseURL));
    expect(failure).toMatchObject({ code: 'rate_limited', message: expect.stringContaining('Out of coffee.') });
  });

  test('ends a call for embeddings', async () => {
    for (const status of [200, 500]) {
      const server = await endlessServer('{"data":[{"embedding":[', '0.5,'.repeat(250), 'application/json', status);
      const embeddings = openaiEmbeddings({ apiKey: 'k', baseURL: server.baseURL, maxResponseBytes: MAX });
      const code = status === 200 ? 'response_too_large' : 'server_error';
      await expect(embeddings.embed(['a'], { signal: new AbortController().signal })).rejects.toMatchObject({
        code: 'embedding_failed',
        cause: { code },
      });
      await server.allClosed();
    }
  });
});

describe('a large response', () => {
  test('within the limit is read whole, also in one event', async () => {
    const text = letters.repeat(50);
    const server = await chatServer(({ response }) => void streaming(response).end(completion(text)));
    expect(textOf(await partsOf(small(server.baseURL)))).toBe(text);
  });

  test('that would take many times its size in memory is not parsed', async () => {
    const nested = `{"choices":${'['.repeat(1_500_000)}${']'.repeat(1_500_000)}}`;
    for (const body of [nested, `data: ${nested}\n\n`]) {
      const server = await chatServer(({ response }) => void response.end(body));
      const failure = await failureFrom(openaiModel({ model: 'm', apiKey: 'k', baseURL: server.baseURL }));
      expect(failure).toMatchObject({ code: 'response_too_large', retryable: false });
    }
  });

  test('of a million choices and calls takes one choice and no more calls than a model makes', async () => {
    const call = '{"index":0,"id":"1","function":{"name":"t","arguments":"{}"}}';
    const choices = `{"index":0,"delta":{"content":"ok","tool_calls":[${call}${',0'.repeat(1_000_000)}]},"finish_reason":"stop"}`;
    const body = `data: {"choices":[${choices}${',0'.repeat(1_000_000)}]}\n\n`;
    const server = await chatServer(({ response }) => void response.end(body));
    const parts = await partsOf(openaiModel({ model: 'm', apiKey: 'k', baseURL: server.baseURL }));
    expect(parts.map(({ type }) => type)).toEqual(['text-delta', 'tool-call-delta', 'finish']);
  });
});

test.each([0, 1.5, -1, '1', Number.NaN])('maxResponseBytes must be a positive integer: %s', (maxResponseBytes) => {
  const options = { apiKey: 'k', maxResponseBytes: maxResponseBytes as number };
  expect(() => openaiModel({ model: 'm', ...options })).toThrow(/maxResponseBytes/);
  expect(() => openaiEmbeddings(options)).toThrow(/maxResponseBytes/);
});
