import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openaiModel } from '../../../src/models/openai/openai-model.ts';
import { chatServer, chunk, completion, DONE, event, streaming } from '../../support/chat-server.ts';
import { modelRequest, partsOf } from '../../support/model-streams.ts';

const model = (baseURL: string) => openaiModel({ model: 'test-model', apiKey: 'sk-test-1234567890', baseURL });
const usage = { inputTokens: 7, outputTokens: 3, estimated: false };

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
  test('a delta is passed on while the reply is still being written', async () => {
    let goOn = (): void => {};
    const server = await chatServer(async ({ response }) => {
      streaming(response).write(event(chunk({ content: 'one' })));
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
      response.end(completion(' two'));
    });
    const iterator = model(server.baseURL)
      .stream(modelRequest(), { signal: new AbortController().signal })
      [Symbol.asyncIterator]();
    expect((await iterator.next()).value).toEqual({ type: 'text-delta', text: 'one' });
    goOn();
    expect((await iterator.next()).value).toEqual({ type: 'text-delta', text: ' two' });
    expect((await iterator.next()).value).toEqual({ type: 'finish', reason: 'stop', usage });
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
  });

  test.each([
    ['stop', 'stop'],
    ['length', 'length'],
    ['content_filter', 'content-filter'],
    ['model_length', 'length'],
    ['tool_calls', 'tool-calls'],
    ['function_call', 'tool-calls'],
    ['toString', 'other'],
    ['eos', 'other'],
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

  const wild = 'Grüße, 日本語 👩‍👩‍👧 \u2028 "quoted" \\n \0 end';
  const bytesOf = (newline: string) =>
    Buffer.from(
      `: keep-alive\n\n${completion(wild).replaceAll('data: {', ': ping\ndata: {')}`.replaceAll('\n', newline),
    );

  test('returns the same parts for any chunking, line endings, and keep-alive comments', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.infiniteStream(fc.integer({ min: 1, max: 40 })),
        async (newline, sizes) => {
          const bytes = bytesOf(newline);
          const body = new ReadableStream<Uint8Array>({
            start(controller) {
              for (let at = 0; at < bytes.length; ) {
                const size = sizes.next().value ?? 1;
                controller.enqueue(new Uint8Array(bytes.subarray(at, at + size)));
                at += size;
              }
              controller.close();
            },
          });
          const fetch = async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } });
          const parts = await partsOf(openaiModel({ model: 'm', apiKey: 'k', fetch }));
          expect(parts).toEqual([
            { type: 'text-delta', text: wild },
            { type: 'finish', reason: 'stop', usage },
          ]);
        },
      ),
      { numRuns: 150 },
    );
  });
});
