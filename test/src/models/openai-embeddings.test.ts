import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { openaiEmbeddings } from '../../../src/models/openai/embeddings.ts';
import { chatServer, type Exchange, respondWithJson } from '../../support/chat-server.ts';

const KEY = 'sk-test-1234567890';
const { signal } = new AbortController();

interface EmbeddingsBody {
  readonly model: string;
  readonly input: readonly string[];
  readonly encoding_format: string;
}

const bodyOf = ({ body }: Exchange): EmbeddingsBody => body as unknown as EmbeddingsBody;

/** The vector that the fake server returns for a text: its length and its first character. */
const vectorOf = (text: string): readonly number[] => [text.length, text.codePointAt(0) ?? 0, 0.5];

function reply({ response }: Exchange, data: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ object: 'list', data }));
}

/** Answers like OpenAI, but in another order, which the API does not guarantee. */
function answer(exchange: Exchange): void {
  const data = bodyOf(exchange).input.map((text, index) => ({ object: 'embedding', index, embedding: vectorOf(text) }));
  reply(exchange, data.reverse());
}

const embeddings = (baseURL: string) => openaiEmbeddings({ model: 'test-embedding', apiKey: KEY, baseURL });

/** Returns the error for this response; its cause is the failure. */
async function errorOn(answering: (exchange: Exchange) => void, given = signal) {
  const server = await chatServer(answering);
  const error = await embeddings(server.baseURL)
    .embed(['a text'], { signal: given })
    .then(
      () => null,
      (thrown: unknown) => thrown,
    );
  if (!(error instanceof PostChainError)) throw new Error(`expected a PostChainError, got ${String(error)}`);
  expect(error.message).toMatch(/^no embeddings: [^\n]+$/);
  return { error, failure: error.cause as Record<string, unknown>, calls: server.exchanges.length };
}

describe('the openai embeddings', () => {
  it('send the texts unchanged, request plain numbers, and return vectors in the order of the texts [U1]', async () => {
    const server = await chatServer(answer);
    const texts = ['short', 'a longer text', 'mid size'];
    expect(await embeddings(server.baseURL).embed(texts, { signal })).toEqual(texts.map(vectorOf));
    const [exchange] = server.exchanges;
    expect(exchange).toMatchObject({ method: 'POST', path: '/v1/embeddings' });
    expect(exchange?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(exchange?.body).toEqual({ model: 'test-embedding', input: texts, encoding_format: 'float' });
  });

  it('use the order of the list if the server sends no index [U1]', async () => {
    const server = await chatServer((exchange) => reply(exchange, [{ embedding: [1] }, { embedding: [2] }]));
    expect(await embeddings(server.baseURL).embed(['a', 'b'], { signal })).toEqual([[1], [2]]);
  });

  it('are requested in batches of at most 256 texts [U1]', async () => {
    const server = await chatServer(answer);
    const texts = Array.from({ length: 600 }, (_, at) => `${'x'.repeat(at % 7)} text ${at}`);
    expect(await embeddings(server.baseURL).embed(texts, { signal })).toEqual(texts.map(vectorOf));
    expect(server.exchanges.map((exchange) => bodyOf(exchange).input.length)).toEqual([256, 256, 88]);
  });

  it('are requested in batches of at most 200,000 characters, each text cut to 30,000 [U1]', async () => {
    const server = await chatServer(answer);
    const texts = Array.from({ length: 9 }, () => 'y'.repeat(40_000));
    const vectors = await embeddings(server.baseURL).embed(texts, { signal });
    expect(vectors).toEqual(texts.map(() => vectorOf('y'.repeat(30_000))));
    expect(server.exchanges.map((exchange) => bodyOf(exchange).input.length)).toEqual([6, 3]);
  });

  it('do not cut a text within a character [U1]', async () => {
    const server = await chatServer(answer);
    await embeddings(server.baseURL).embed([`y${'😀'.repeat(20_000)}`], { signal });
    expect(server.exchanges.map((exchange) => bodyOf(exchange).input)).toEqual([[`y${'😀'.repeat(14_999)}`]]);
  });

  it('are zeros for a blank text, which is not sent [U1]', async () => {
    const server = await chatServer(answer);
    const model = embeddings(server.baseURL);
    expect(await model.embed(['', 'a', ' \n'], { signal })).toEqual([[0, 0, 0], vectorOf('a'), [0, 0, 0]]);
    expect(server.exchanges.map((exchange) => bodyOf(exchange).input)).toEqual([['a']]);
    expect(await model.embed(['', ' '], { signal })).toEqual([[], []]);
    expect(await model.embed([], { signal })).toEqual([]);
    expect(server.exchanges).toHaveLength(1);
  });

  it.each([
    [400, { error: { message: "This model's maximum context length is 8192 tokens, however you requested 9000." } }],
    [400, { error: { message: "Invalid 'input[0]': maximum input length is 8192 tokens." } }],
    [413, { error: 'Input validation error: `inputs` must have less than 512 tokens. Given: 7502' }],
    [500, { error: { message: 'input is too large to process. increase the physical batch size' } }],
  ])(
    '[U1] are requested again with shorter texts if the model rejects the length, and that is remembered: %i %j',
    async (status, body) => {
      const server = await chatServer((exchange) => {
        const isShort = bodyOf(exchange).input.every(({ length }) => length <= 2_000);
        return isShort ? answer(exchange) : respondWithJson(exchange.response, status, body);
      });
      const model = embeddings(server.baseURL);
      const sent = () => server.exchanges.map((exchange) => bodyOf(exchange).input.map(({ length }) => length));
      expect(await model.embed(['z'.repeat(50_000), 'a'], { signal })).toEqual([
        vectorOf('z'.repeat(1_875)),
        vectorOf('a'),
      ]);
      expect(sent()).toEqual([
        [30_000, 1],
        [7_500, 1],
        [1_875, 1],
      ]);
      await model.embed(['z'.repeat(50_000)], { signal });
      expect(sent().slice(3)).toEqual([[1_875]]);
    },
  );

  it('fail after a few tries if the model does not accept even a short text [U1]', async () => {
    const { failure, calls } = await errorOn(({ response }) =>
      respondWithJson(response, 400, { error: { message: 'No.', code: 'context_length_exceeded' } }),
    );
    expect(failure).toMatchObject({ code: 'prompt_too_long' });
    expect(calls).toBe(4);
  });
});

describe('errors of the openai embeddings', () => {
  it.each([
    [401, 'unauthorized', false],
    [400, 'bad_request', false],
    [404, 'bad_request', false],
    [429, 'rate_limited', true],
    [500, 'server_error', true],
  ])(
    '[U1] HTTP %i is a PostChainError caused by %s, retryable: %s, after one request',
    async (status, code, retryable) => {
      const { error, failure, calls } = await errorOn(({ response }) =>
        respondWithJson(response, status, { error: { message: `No, not with ${KEY}.` } }, { 'retry-after': '2' }),
      );
      expect(error.code).toBe('embedding_failed');
      expect(failure).toMatchObject({ code, retryable, status, retryAfterMs: retryable ? 2_000 : null });
      expect(calls).toBe(1);
      expect(JSON.stringify([error.message, error.cause])).not.toContain(KEY);
      expect(error.message).toContain('[key]');
    },
  );

  const list = (...vectors: readonly (readonly [index: number, embedding: unknown])[]) => ({
    data: vectors.map(([index, embedding]) => ({ index, embedding })),
  });
  it.each([
    ['no list', {}],
    ['an empty list', { data: [] }],
    ['one vector too many', list([0, [1]], [1, [1]], [2, [1]])],
    ['a wrong index', list([0, [1]], [2, [1]])],
    ['a duplicate index', list([0, [1]], [0, [1]])],
    ['vectors of two lengths', list([0, [1]], [1, [1, 2]])],
    ['empty vectors', list([0, []], [1, []])],
    ['base64', list([0, 'AACAPw=='], [1, 'AACAPw=='])],
    ['non-numeric values', list([0, [null]], [1, [null]])],
    ['null', null],
  ])('[U1] a reply with %s is invalid', async (_, body) => {
    const server = await chatServer(({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    await expect(embeddings(server.baseURL).embed(['a', 'b'], { signal })).rejects.toMatchObject({
      message: expect.stringContaining('does not have one vector per text'),
      cause: { code: 'garbled_reply' },
    });
  });

  it.each([
    ['text/html', '<html>Welcome to nginx!</html>'],
    ['application/json', '{"data": ['],
    ['application/json', ''],
  ])('[U1] a non-JSON reply is also invalid (status: %s): %j', async (type, body) => {
    const { failure } = await errorOn(({ response }) => response.writeHead(200, { 'content-type': type }).end(body));
    expect(failure).toMatchObject({ code: 'garbled_reply' });
  });

  it('a refused connection is reported as such [U1]', async () => {
    const server = await chatServer(() => {});
    await server.stop();
    await expect(embeddings(server.baseURL).embed(['a'], { signal })).rejects.toMatchObject({
      message: expect.stringMatching(/cannot connect to .*ECONNREFUSED/),
      cause: { code: 'connection_failed' },
    });
  });

  it('an abort ends a call that hangs, closes its connection and leaves no listener [U1]', async () => {
    const controller = new AbortController();
    const server = await chatServer(() => controller.abort());
    const embedding = embeddings(server.baseURL).embed(['a'], { signal: controller.signal });
    await expect(embedding).rejects.toMatchObject({
      code: 'cancelled',
      message: 'no embeddings: the call was canceled',
    });
    await server.allClosed();
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  it('an abort stops sending batches, before the first one and between two [U1]', async () => {
    const controller = new AbortController();
    const server = await chatServer((exchange) => {
      answer(exchange);
      controller.abort();
    });
    const texts = Array.from({ length: 300 }, (_, at) => `text ${at}`);
    const model = embeddings(server.baseURL);
    await expect(model.embed(texts, { signal: controller.signal })).rejects.toMatchObject({ code: 'cancelled' });
    await expect(model.embed(texts, { signal: controller.signal })).rejects.toMatchObject({ code: 'cancelled' });
    expect(server.exchanges).toHaveLength(1);
  });
});
