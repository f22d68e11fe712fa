import type { LanguageModelV4 } from '@ai-sdk/provider';
import { generateObject, generateText, type LanguageModel, streamText } from 'ai';
import * as v6 from 'ai-v6';
import type { LanguageModelV3 } from 'provider-v3';
import { beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import * as z from 'zod';
import { asLanguageModel, type ChainLanguageModel } from '../../../../src/entries/ai-sdk.ts';
import {
  type ChatModel,
  createPassageIndex,
  createPostChain,
  extractiveModel,
  type PostChainOptions,
  type RunOptions,
} from '../../../../src/entries/index.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { type Plan, plannedModel } from '../../../support/run-chain.ts';

const ANSWER = replies.synthesis.answerText;

beforeAll(() => {
  (globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;
});

function chainOf(plan: Plan = {}, options: Omit<PostChainOptions, 'model'> = {}) {
  return createPostChain({ model: plannedModel(plan), profile: 'thorough', limits: { backoffBaseMs: 0 }, ...options });
}

/** Counts 10 tokens in, of which 4 are cached, and 5 out for every call. */
function counting(model: ChatModel): ChatModel {
  return {
    ...model,
    async *stream(request, options) {
      for await (const part of model.stream(request, options)) {
        const usage = { inputTokens: 10, cachedInputTokens: 4, outputTokens: 5, estimated: false };
        yield part.type === 'finish' ? { ...part, usage } : part;
      }
    },
  };
}

async function allOf<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** The parts of a stream, as the interface has them. */
async function partsOf(model: ChainLanguageModel, call: object = {}) {
  const prompt = [{ role: 'user' as const, content: [{ type: 'text', text: 'Is it so?' }] }];
  const { stream } = await model.doStream({ prompt, ...call });
  return allOf(stream as AsyncIterable<{ type: string; [name: string]: unknown }>);
}

describe('a chain as a language model', () => {
  test('implements LanguageModelV3 and LanguageModelV4', () => {
    expectTypeOf<ChainLanguageModel<'v3'>>().toExtend<LanguageModelV3>();
    expectTypeOf<ChainLanguageModel<'v4'>>().toExtend<LanguageModelV4>();
    expectTypeOf<ChainLanguageModel<'v3'>>().toExtend<LanguageModel>();
    expectTypeOf<ChainLanguageModel<'v3'>>().toExtend<v6.LanguageModel>();
    expectTypeOf<v6.UserContent>().toExtend<RunOptions['request']>();
  });

  test.each([
    ['generateText of ai 7, V3', () => generateText({ model: asLanguageModel(chainOf()), prompt: 'Is it so?' })],
    [
      'generateText of ai 7, V4',
      () => generateText({ model: asLanguageModel(chainOf(), { specificationVersion: 'v4' }), prompt: 'Is it so?' }),
    ],
    ['generateText of ai 6', () => v6.generateText({ model: asLanguageModel(chainOf()), prompt: 'Is it so?' })],
  ])('answers in %s', async (_, generate) => {
    const { text, finishReason, providerMetadata } = await generate();
    expect([text, finishReason]).toEqual([ANSWER, 'stop']);
    expect(providerMetadata?.['postchain']).toMatchObject({
      runId: expect.any(String),
      status: 'completed',
      confidence: expect.any(Number),
      cycles: 1,
    });
  });

  test.each([
    ['ai 7', streamText],
    ['ai 6', v6.streamText],
  ])('streams its answer in streamText of %s', async (_, stream) => {
    let goOn = (): void => {};
    const shown = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const inner = plannedModel({});
    const model: ChatModel = {
      ...inner,
      async *stream(request, options) {
        if (request.task !== 'synthesis') return yield* inner.stream(request, options);
        const json = JSON.stringify(replies.synthesis);
        const half = json.indexOf(ANSWER) + 5;
        yield { type: 'text-delta', text: json.slice(0, half) };
        // The rest of the reply comes when the reader has its beginning.
        await shown;
        yield { type: 'text-delta', text: json.slice(half) };
        yield { type: 'finish', reason: 'stop', usage: null };
      },
    };
    const languageModel = asLanguageModel(createPostChain({ model, profile: 'thorough' }));
    const { textStream, finishReason } = (stream as typeof streamText)({ model: languageModel, prompt: 'Is it so?' });
    let text = '';
    for await (const piece of textStream) {
      text += piece;
      goOn();
    }
    expect(text).toBe(ANSWER);
    expect(await finishReason).toBe('stop');
  });

  test('sums the usage of all calls', async () => {
    const chain = createPostChain({ model: counting(plannedModel({})), profile: 'thorough' });
    const { usage } = await generateText({ model: asLanguageModel(chain), prompt: 'Is it so?' });
    expect(usage).toMatchObject({ inputTokens: 70, outputTokens: 35, inputTokenDetails: { cacheReadTokens: 28 } });
  });

  test('reports its sources', async () => {
    const text = 'The Yield phase decides whether the run is complete.';
    const documents = [
      {
        path: 'docs/yield.md',
        blocks: [{ text, heading: ['Yield'], startLine: 3, endLine: 3, kind: 'prose' as const, lines: [3] }],
      },
    ];
    const chain = createPostChain({ model: extractiveModel(), documents: createPassageIndex(documents) });
    const { sources } = await generateText({
      model: asLanguageModel(chain),
      prompt: 'What does the Yield phase decide?',
    });
    expect(sources).toMatchObject([
      {
        sourceType: 'document',
        filename: 'docs/yield.md',
        title: 'docs/yield.md:3',
        mediaType: 'text/markdown',
        providerMetadata: {
          postchain: { path: 'docs/yield.md', startLine: 3, endLine: 3, quote: expect.stringContaining(text) },
        },
      },
    ]);
  });

  test('passes the last message as the request, system messages as instructions and the others as history, and warns about what does not apply', async () => {
    const requests: string[] = [];
    const model = plannedModel({});
    const spy: ChatModel = {
      ...model,
      stream(request, options) {
        requests.push(JSON.stringify(request.turns));
        return model.stream(request, options);
      },
    };
    const { warnings } = await generateText({
      model: asLanguageModel(createPostChain({ model: spy, profile: 'thorough' })),
      system: 'Answer in German.',
      messages: [
        { role: 'user', content: 'First question?' },
        { role: 'assistant', content: 'First answer.' },
        { role: 'user', content: 'Second question?' },
      ],
      temperature: 0.1,
    });
    for (const text of ['Answer in German.', 'First question?', 'First answer.', 'Second question?']) {
      expect(requests[0]).toContain(text);
    }
    expect(requests[0]).toMatch(/<instructions>.{0,20}Answer in German\./u);
    expect(warnings).toMatchObject([{ type: 'unsupported', feature: 'temperature' }]);
  });

  test('rejects a prompt without a user message that has text', async () => {
    const call = { prompt: [{ role: 'assistant' as const, content: [{ type: 'text', text: 'Hello.' }] }] };
    await expect(asLanguageModel(chainOf()).doGenerate(call)).rejects.toThrow(/prompt: expected a user message/);
  });

  test.each([undefined, [], 'Is it so?'])('rejects the prompt %j with a message', async (prompt) => {
    await expect(asLanguageModel(chainOf()).doGenerate({ prompt: prompt as never })).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });

  test('streams long white space once, and replaces unpaired surrogates', async () => {
    const answerText = `It is${' \n'.repeat(2_000)}so \ud83d and \ude00, \ud83d\ude00.`;
    const model = scriptedModel(
      {},
      { otherwise: { ...replies, synthesis: { ...replies.synthesis, answerText } }, chunkChars: 1 },
    );
    const chain = createPostChain({ model, profile: 'thorough' });
    const parts = await partsOf(asLanguageModel(chain));
    const deltas = parts.flatMap((part) => (part.type === 'text-delta' ? [String(part['delta'])] : []));
    const whole = answerText.replace('so \ud83d and \ude00,', 'so \ufffd and \ufffd,');
    expect(deltas.join('')).toBe(whole);
    expect(deltas.length).toBeGreaterThan(10);
    const { content } = await asLanguageModel(chain).doGenerate({ prompt: [{ role: 'user', content: 'Is it so?' }] });
    expect(content[0]).toEqual({ type: 'text', text: whole });
  });

  test.each(['v3', 'v4'] as const)(
    'passes the files of user messages to the chain (%s)',
    async (specificationVersion) => {
      const spy = scriptedModel({}, { otherwise: replies, accepts: ['image/*', 'application/pdf'] });
      const model = asLanguageModel(createPostChain({ model: spy, profile: 'thorough' }), { specificationVersion });
      const { warnings } = await generateText({
        model: model as LanguageModel,
        messages: [
          { role: 'user', content: [{ type: 'file', data: btoa('%PDF-1.7'), mediaType: 'application/pdf' }] },
          { role: 'assistant', content: 'A form.' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Does the photo match?' },
              { type: 'file', data: new Uint8Array([0xff, 0xd8, 0xff]), mediaType: 'image', filename: 'a.jpg' },
            ],
          },
        ],
      });
      expect(warnings ?? []).toEqual([]);
      expect(spy.calls[0]?.turns[1]).toMatchObject({
        content: expect.stringContaining('Request: Does the photo match?'),
        files: [
          { mediaType: 'application/pdf', name: null, data: btoa('%PDF-1.7') },
          { mediaType: 'image/jpeg', name: 'a.jpg', data: '/9j/' },
        ],
      });
    },
  );

  test('accepts a last user message that is only an image, and rejects one that no model of the chain reads', async () => {
    const messages = [
      { role: 'user' as const, content: [{ type: 'file' as const, data: 'iVBORw0KGgo=', mediaType: 'image/png' }] },
    ];
    const spy = scriptedModel({}, { otherwise: replies, accepts: ['image/png'] });
    const { text } = await generateText({
      model: asLanguageModel(createPostChain({ model: spy, profile: 'thorough' })),
      messages,
    });
    expect(text).toBe(ANSWER);
    await expect(generateText({ model: asLanguageModel(chainOf()), messages })).rejects.toMatchObject({
      code: 'unsupported_file',
      message: expect.stringMatching(/accepts text only; received image\/png, 8 B\./u),
    });
  });

  test('writes an object that matches the schema with one more structured call', async () => {
    const model = counting(scriptedModel(() => ({ capital: 'Paris' })));
    const { object, usage } = await generateObject({
      model: asLanguageModel(createPostChain({ model: counting(plannedModel({})), profile: 'thorough' }), { model }),
      schema: z.object({ capital: z.string() }),
      prompt: 'What is the capital of France?',
    });
    expect(object).toEqual({ capital: 'Paris' });
    expect(usage.inputTokens).toBe(80);
  });

  test('rejects a request for JSON without a model that converts the answer', async () => {
    const generated = generateObject({
      model: asLanguageModel(chainOf()),
      schema: z.object({ capital: z.string() }),
      prompt: 'What is the capital of France?',
    });
    await expect(generated).rejects.toThrow(/asLanguageModel\(chain, { model }\)/);
  });

  test('streams the valid text as a new block if streamed text turns out to be void', async () => {
    let calls = 0;
    const model = plannedModel({
      synthesis: () => ({
        ...replies.synthesis,
        ...(calls++ === 0 && { answerText: 'A wrong start.', confidence: 7 }),
      }),
    });
    const parts = await partsOf(
      asLanguageModel(createPostChain({ model, profile: 'thorough', limits: { backoffBaseMs: 0 } })),
    );
    const text = (id: string) =>
      parts.map((part) => (part.type === 'text-delta' && part['id'] === id ? part['delta'] : '')).join('');
    expect([text('1'), text('2')]).toEqual(['A wrong start.', ANSWER]);
    expect(parts.filter(({ type }) => type === 'text-end')).toEqual([
      { type: 'text-end', id: '1', providerMetadata: { postchain: { void: true } } },
      { type: 'text-end', id: '2' },
    ]);
  });

  test('streams only valid text with live: false', async () => {
    const parts = await partsOf(asLanguageModel(chainOf(), { live: false }));
    expect(parts.map(({ type }) => type)).toEqual([
      'stream-start',
      'response-metadata',
      'text-start',
      'text-delta',
      'text-end',
      'finish',
    ]);
  });

  test('interrupts the run when the call is aborted', async () => {
    const controller = new AbortController();
    let isAborted = false;
    const hanging: ChatModel = {
      id: 'hanging',
      contextWindowTokens: 8_000,
      async *stream(_, { signal }) {
        yield { type: 'text-delta', text: '{' };
        const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve));
        controller.abort();
        await aborted;
        isAborted = true;
      },
    };
    const model = asLanguageModel(createPostChain({ model: hanging }));
    const generated = generateText({ model, prompt: 'Is it so?', abortSignal: controller.signal });
    await expect(generated).rejects.toMatchObject({ name: 'AbortError' });
    await expect.poll(() => isAborted).toBe(true);
  });

  test('[S1] finishes with the reason of a degraded answer', async () => {
    const { finishReason, rawFinishReason, text, providerMetadata } = await generateText({
      model: asLanguageModel(chainOf({}, { limits: { maxModelCalls: 3 } })),
      prompt: 'Is it so?',
    });
    expect([finishReason, rawFinishReason]).toEqual(['other', 'budget_exhausted']);
    expect(providerMetadata?.['postchain']).toMatchObject({
      reasons: [{ code: 'budget_exhausted' }, {}],
      grounding: null,
    });
    expect(text).not.toBe('');
  });
});
