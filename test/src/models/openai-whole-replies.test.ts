import { brotliCompressSync, createGzip, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { openaiModel } from '../../../src/models/openai/openai-model.ts';
import { chatServer, chunk, completion, DONE, event, streaming, writeEndlessly } from '../../support/chat-server.ts';
import { modelRequest, partsOf, replyOf, textOf } from '../../support/model-streams.ts';
import { nextTurn, TestClock } from '../../support/simulated-clock.ts';

const usage = { prompt_tokens: 7, completion_tokens: 3 };
const read = { inputTokens: 7, outputTokens: 3, estimated: false };
const text = event(chunk({ content: 'whole' }));
const finish = event(chunk({}, 'stop'));
const model = (baseURL: string, clock?: TestClock) =>
  openaiModel({ model: 'm', apiKey: 'k', baseURL, ...(clock && { clock }) });

/** The parts of a reply of these bytes. */
const partsFrom = async (body: string) =>
  partsOf(model((await chatServer(({ response }) => void streaming(response).end(body))).baseURL));

/** Serves a body and leaves the connection open. */
const openServer = (body: string, after: (response: Parameters<typeof writeEndlessly>[0]) => void = () => {}) =>
  chatServer(({ response }) => void streaming(response).write(body, () => after(response)));

/** Advances the clock until a promise is settled. */
async function asTimePasses<Value>(clock: TestClock, promise: Promise<Value>): Promise<Value> {
  let isSettled = false;
  const settle = (): void => {
    isSettled = true;
  };
  promise.then(settle, settle);
  while (!isSettled) {
    await nextTurn();
    clock.increment(50);
  }
  return promise;
}

describe('a reply whose connection stays open', () => {
  test('ends at [DONE] when time passes; nothing after it is read', async () => {
    const clock = new TestClock();
    const server = await openServer(text + finish + event({ choices: [], usage }) + DONE);
    expect(await asTimePasses(clock, partsOf(model(server.baseURL, clock)))).toEqual([
      { type: 'text-delta', text: 'whole' },
      { type: 'finish', reason: 'stop', usage: read },
    ]);
    await server.allClosed();
  });

  test.each([
    ['events', text],
    ['an error', event({ error: { message: 'late' } })],
    ['letters', 'x'.repeat(1_000)],
  ])('ends at [DONE] if the server goes on: %s', async (_, more) => {
    const server = await openServer(text + finish + DONE, (response) => writeEndlessly(response, more));
    expect(replyOf(await partsOf(model(server.baseURL)))).toMatchObject({ text: 'whole', end: 'stop' });
    await server.allClosed();
  });

  test('ends a short time after the finish reason, with the usage if it came', async () => {
    for (const [late, expected] of [['', null] as const, [event({ choices: [], usage }), read] as const]) {
      const clock = new TestClock();
      const server = await openServer(text + finish + late);
      const parts = await asTimePasses(clock, partsOf(model(server.baseURL, clock)));
      expect(parts.at(-1)).toEqual({ type: 'finish', reason: 'stop', usage: expected });
      await server.allClosed();
    }
  });

  test('text after a finish reason still belongs to the reply, because some servers send one with every chunk', async () => {
    const bodies = ['a', 'b', 'c'].map((content) => event(chunk({ content }, 'stop'))).join('');
    expect(textOf(await partsFrom(bodies + DONE))).toBe('abc');
  });

  test('ends when the object of an answer that is not streamed closes', async () => {
    const server = await chatServer(({ response }) => {
      const body = { choices: [{ message: { content: 'who}le' }, finish_reason: 'stop' }], usage };
      response.writeHead(200, { 'content-type': 'application/json' }).write(JSON.stringify(body));
    });
    expect(await partsOf(model(server.baseURL))).toEqual([
      { type: 'text-delta', text: 'who}le' },
      { type: 'finish', reason: 'stop', usage: read },
    ]);
    await server.allClosed();
  });

  test('an error whose body does not end is reported when time passes', async () => {
    const clock = new TestClock();
    const server = await chatServer(({ response }) => void response.writeHead(429).write('Slow down'));
    const reading = asTimePasses(clock, partsOf(model(server.baseURL, clock)));
    const expected = { code: 'rate_limited', message: expect.stringContaining('Slow down') };
    expect(await reading).toEqual([{ type: 'failure', failure: expect.objectContaining(expected) }]);
    await server.allClosed();
  });
});

describe('a connection', () => {
  test('is used again after a reply that ends right after [DONE]', async () => {
    const server = await chatServer(({ response }) => {
      streaming(response).write(completion('whole'), () => setImmediate(() => response.end()));
    });
    const subject = model(server.baseURL);
    for (let call = 0; call < 5; call += 1) expect(textOf(await partsOf(subject))).toBe('whole');
    expect(server.used().ever).toBe(1);
  });
});

describe('a reply without one of its end marks', () => {
  test('[DONE] without a finish reason ends it', async () => {
    expect(await partsFrom(text + DONE)).toEqual([
      { type: 'text-delta', text: 'whole' },
      { type: 'finish', reason: 'other', usage: null },
    ]);
  });

  test('[DONE] without a finish reason ends a tool call', async () => {
    const call = { index: 0, id: '1', function: { name: 'action_reply', arguments: '{}' } };
    const server = await chatServer(
      ({ response }) => void streaming(response).end(event(chunk({ tool_calls: [call] })) + DONE),
    );
    const request = modelRequest({ replyForm: 'tool-call' });
    expect(replyOf(await partsOf(model(server.baseURL), request)).end).toBe('other');
  });

  test('usage that comes only with the last chunk ends it, but not usage in every chunk', async () => {
    const counted = (content: string) => event({ ...chunk({ content }), usage });
    for (const [body, end] of [
      [text + event({ choices: [], usage }), 'other'],
      [counted('who') + counted('le'), 'stream_cut'],
      [counted('whole'), 'stream_cut'],
    ] as const) {
      expect(replyOf(await partsFrom(body))).toMatchObject({ text: 'whole', end });
    }
  });

  test('without both it was cut, and so was a reply of [DONE] alone', async () => {
    for (const body of [text, event(chunk({ role: 'assistant' })) + DONE]) {
      expect(replyOf(await partsFrom(body)).end).toBe('stream_cut');
    }
  });

  test('an answer that is not streamed needs no finish reason', async () => {
    const server = await chatServer(
      ({ response }) => void response.end(JSON.stringify({ choices: [{ message: { content: 'whole' } }] })),
    );
    expect(replyOf(await partsOf(model(server.baseURL)))).toMatchObject({ text: 'whole', end: 'other' });
  });
});

describe('several choices', () => {
  const of = (index: number, content: string, finishReason: string | null = null) => ({
    index,
    delta: { content },
    finish_reason: finishReason,
  });

  test.each([
    [
      'in one chunk',
      [
        [of(0, 'who'), of(1, 'other')],
        [of(1, 'x'), of(0, 'le')],
        [of(1, '', 'length'), of(0, '', 'stop')],
      ],
    ],
    ['in reverse order', [[of(1, 'other', 'stop')], [of(2, 'other', 'stop')], [of(0, 'whole', 'stop')]]],
  ])('only the first is read: %s', async (_, chunks) => {
    const body = chunks.map((choices) => event({ choices })).join('');
    expect(replyOf(await partsFrom(body + DONE))).toMatchObject({ text: 'whole', end: 'stop' });
  });

  test('a whole message after its deltas is not read again', async () => {
    const last = { choices: [{ index: 0, delta: null, message: { content: 'whole' }, finish_reason: 'stop' }] };
    expect(textOf(await partsFrom(text + event(last) + DONE))).toBe('whole');
  });
});

describe('a body', () => {
  test('of events that are null skips them', async () => {
    const parts = await partsFrom(`data: null\n\n${text}data: null\n\n${finish}data: null\n\n${DONE}`);
    expect(replyOf(parts)).toMatchObject({ text: 'whole', end: 'stop' });
  });

  test.each(['application/json', 'text/html', 'application/octet-stream', ''])(
    'is read by its content whatever its type: %j',
    async (type) => {
      const json = JSON.stringify({ choices: [{ message: { content: 'whole' }, finish_reason: 'stop' }] });
      for (const body of [completion('whole'), `\ufeff${completion('whole')}`, json, `\n ${json}`]) {
        const server = await chatServer(
          ({ response }) => void response.writeHead(200, { 'content-type': type }).end(body),
        );
        expect(replyOf(await partsOf(model(server.baseURL)))).toMatchObject({ text: 'whole', end: 'stop' });
      }
    },
  );

  const long = 'Grüße, 日本語 '.repeat(5_000);
  test.each([
    ['gzip', gzipSync],
    ['X-GZIP', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['identity', (body: string) => Buffer.from(body)],
  ])('that is compressed is decoded: %s', async (encoding, compress) => {
    const json = JSON.stringify({ choices: [{ message: { content: long }, finish_reason: 'stop' }] });
    for (const body of [completion(long), json]) {
      const server = await chatServer(
        ({ response }) => void response.writeHead(200, { 'content-encoding': encoding }).end(compress(body)),
      );
      expect(textOf(await partsOf(model(server.baseURL)))).toBe(long);
    }
  });

  test('of an error that is compressed is decoded', async () => {
    const server = await chatServer(
      ({ response }) =>
        void response.writeHead(400, { 'content-encoding': 'br' }).end(brotliCompressSync('{"detail":"No coffee."}')),
    );
    const [part] = await partsOf(model(server.baseURL));
    expect(part).toMatchObject({ type: 'failure', failure: { message: expect.stringContaining('No coffee.') } });
  });

  test('that is compressed arrives while it is sent', async () => {
    const clock = new TestClock();
    const server = await chatServer(({ response }) => {
      const zip = createGzip();
      zip.pipe(response.writeHead(200, { 'content-encoding': 'gzip' }));
      zip.write(text + finish);
      zip.flush();
    });
    expect(replyOf(await asTimePasses(clock, partsOf(model(server.baseURL, clock))))).toMatchObject({
      text: 'whole',
      end: 'stop',
    });
    await server.allClosed();
  });

  test('that cannot be decompressed is a retryable failure', async () => {
    for (const encoding of ['gzip', 'deflate', 'br']) {
      const server = await chatServer(
        ({ response }) => void response.writeHead(200, { 'content-encoding': encoding }).end(completion('whole')),
      );
      const [part] = await partsOf(model(server.baseURL));
      expect(part).toMatchObject({
        type: 'failure',
        failure: {
          code: 'garbled_reply',
          retryable: true,
          message: expect.stringContaining(encoding === 'br' ? 'ERR_' : 'Z_DATA_ERROR'),
        },
      });
    }
  });
});
