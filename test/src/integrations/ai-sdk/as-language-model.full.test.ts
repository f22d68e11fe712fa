import type { LanguageModelV4 } from '@ai-sdk/provider';
import {
  generateObject,
  generateText,
  type LanguageModel,
  readUIMessageStream,
  streamText,
  toUIMessageStream,
  type UIMessage,
} from 'ai';
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
import { openaiModel } from '../../../../src/entries/openai.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import {
  chatServer,
  chunk,
  completion,
  DONE,
  event,
  replyTo,
  streaming,
  taskOf,
} from '../../../support/chat-server.ts';
import { ONE_CALL_PER_PHASE, type Plan, plannedModel } from '../../../support/run-chain.ts';

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
    ['reasoning of ai 7', streamText, false],
    ['reasoning of ai 6', v6.streamText, false],
    ['text of ai 7 with live: true', streamText, true],
  ])('shows in the %s its answer before the reply has ended', async (_, stream, live) => {
    let goOn = (): void => {};
    const shown = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const order: string[] = [];
    const { baseURL } = await chatServer(async ({ body, response }) => {
      const json = JSON.stringify(replyTo(body));
      if (taskOf(body) !== 'synthesis') return void streaming(response).end(completion(json));
      const half = json.indexOf(ANSWER) + 4;
      streaming(response).write(event(chunk({ content: json.slice(0, half) })));
      // The rest of the reply is sent when the reader has its beginning.
      await shown;
      order.push('the reply ends');
      response.end(event(chunk({ content: json.slice(half) })) + event(chunk({}, 'stop')) + DONE);
    });
    const model = openaiModel({ model: 'gpt-x', baseURL, apiKey: 'k', contextWindowTokens: 128_000 });
    const languageModel = asLanguageModel(createPostChain({ model, profile: 'thorough' }), { live });
    const result = (stream as typeof streamText)({ model: languageModel, prompt: 'Is it so?' });
    let draft = '';
    for await (const part of result.fullStream) {
      if (part.type !== 'reasoning-delta' && part.type !== 'text-delta') continue;
      if (part.id === 'progress-1') order.push(part.text.trim());
      if (part.id === 'answer-1' && !live) order.push('the text');
      if (part.id === (live ? 'answer-2' : 'draft-2')) draft += part.text;
      if (draft !== '') goOn();
    }
    expect(order[0]).toBe('Reading the request');
    const end = ['Cycle 1: the answer is confident enough', 'Writing the final answer', 'the reply ends'];
    expect(order.slice(live ? -3 : -4)).toEqual(live ? end : [...end, 'the text']);
    expect([draft, await result.finishReason]).toEqual([ANSWER, 'stop']);
    expect(await result.text).toBe(live ? `${replies.yield.answer}${ANSWER}` : ANSWER);
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

  test.each([undefined, [], 'Is it so?', [{ role: 'assistant', content: [{ type: 'text', text: 'Hello.' }] }]])(
    'rejects the prompt %j, which has no user message with text',
    async (prompt) => {
      await expect(asLanguageModel(chainOf()).doGenerate({ prompt: prompt as never })).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringMatching(/^prompt: expected /u),
      });
    },
  );

  test('streams long white space once, and replaces unpaired surrogates', async () => {
    const space = Array.from({ length: 500 }, (_, at) => ' '.repeat(at % 13) + '\n'.repeat(at % 7)).join('');
    const answerText = `It is${space}so \ud83d and \ude00, \ud83d\ude00.`;
    const model = scriptedModel(
      {},
      { otherwise: { ...replies, synthesis: { ...replies.synthesis, answerText } }, chunkChars: 1 },
    );
    const chain = createPostChain({ model, profile: 'thorough' });
    const parts = await partsOf(asLanguageModel(chain, { live: true }));
    const last = parts.findLast(({ type }) => type === 'text-end')?.['id'];
    const deltas = parts.flatMap((part) => (part.type === 'text-delta' && part['id'] === last ? [part['delta']] : []));
    const whole = answerText.replace('so \ud83d and \ude00,', 'so \ufffd and \ufffd,');
    expect(deltas.join('')).toBe(whole);
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

  test('streams what it does and the object, but not the answer, if the caller requests JSON', async () => {
    const model = asLanguageModel(chainOf(), { model: scriptedModel(() => ({ capital: 'Paris' })), live: true });
    const schema = { type: 'object', properties: { capital: { type: 'string' } }, required: ['capital'] };
    const parts = await partsOf(model, { responseFormat: { type: 'json', schema } });
    expect(parts.flatMap(({ type, id, delta }) => (type === 'text-delta' ? [[id, delta]] : []))).toEqual([
      ['answer-1', '{"capital":"Paris"}'],
    ]);
    expect(new Set(parts.flatMap(({ type, id }) => (type === 'reasoning-delta' ? [id] : [])))).toEqual(
      new Set(['progress-1']),
    );
  });

  test('has the given model id, which must not be empty', () => {
    expect(asLanguageModel(chainOf()).modelId).toBe('chain');
    expect(asLanguageModel(chainOf(), { modelId: 'x' }).modelId).toBe('x');
    expect(() => asLanguageModel(chainOf(), { modelId: '' })).toThrow(
      expect.objectContaining({ code: 'invalid_option', message: expect.stringContaining('modelId') }),
    );
  });

  test('rejects a request for JSON without a model that converts the answer', async () => {
    const generated = generateObject({
      model: asLanguageModel(chainOf()),
      schema: z.object({ capital: z.string() }),
      prompt: 'What is the capital of France?',
    });
    await expect(generated).rejects.toThrow(/asLanguageModel\(chain, { model }\)/);
  });

  /** A chain whose first answer leads to another cycle, and whose second one is invalid at first. */
  const hesitant = () =>
    createPostChain({
      model: scriptedModel(
        {
          yield: [
            { ...replies.yield, answer: 'Perhaps.', confidence: 0.3, taskComplete: false },
            { ...replies.yield, answer: 'No.', confidence: 7 },
            { ...replies.yield, answer: ANSWER },
          ],
        },
        { otherwise: replies, chunkChars: 3 },
      ),
      profile: { ...ONE_CALL_PER_PHASE, writing: 'if-needed' },
      limits: { backoffBaseMs: 0 },
    });

  test('shows no text but the answer to a user of useChat, who can read the others as void reasoning', async () => {
    const { stream } = streamText({ model: asLanguageModel(hesitant()), prompt: 'Is it so?' });
    let message: UIMessage | null = null;
    for await (message of readUIMessageStream({ stream: toUIMessageStream({ stream }) })) {
      const texts = message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
      expect(['', ANSWER]).toContain(texts.join());
    }
    const shown = message?.parts.flatMap((part) =>
      part.type === 'text' || part.type === 'reasoning'
        ? [[part.type, part.text, part.providerMetadata?.['postchain']]]
        : [],
    );
    expect(shown).toEqual([
      [
        'reasoning',
        expect.stringMatching(/^Reading the request\n.*\nTrying again\nCycle 2: .* enough\n$/su),
        undefined,
      ],
      ['reasoning', 'Perhaps.', { provisional: true, void: 'next_cycle' }],
      ['reasoning', 'No.', { provisional: true, void: 'attempt_failed' }],
      ['reasoning', ANSWER, { provisional: true }],
      ['text', ANSWER, undefined],
    ]);
  });

  test('streams provisional text as text with live: true, and a new block after a void one', async () => {
    const parts = await partsOf(asLanguageModel(hesitant(), { live: true }));
    const text = (id: string) =>
      parts.flatMap((part) => (part.type === 'text-delta' && part['id'] === id ? [part['delta']] : []));
    expect(['answer-1', 'answer-2', 'answer-3'].map((id) => text(id).join(''))).toEqual(['Perhaps.', 'No.', ANSWER]);
    expect(parts.filter(({ type }) => type === 'text-end')).toEqual([
      { type: 'text-end', id: 'answer-1', providerMetadata: { postchain: { void: 'next_cycle' } } },
      { type: 'text-end', id: 'answer-2', providerMetadata: { postchain: { void: 'attempt_failed' } } },
      { type: 'text-end', id: 'answer-3' },
    ]);
  });

  test('does not warn about the reasoning of its earlier replies, which is not part of the history', async () => {
    const spy = plannedModel({});
    const { warnings } = await generateText({
      model: asLanguageModel(createPostChain({ model: spy, profile: 'thorough' })),
      messages: [
        { role: 'user', content: 'First question?' },
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: 'Reading the request' },
            { type: 'text', text: 'First answer.' },
          ],
        },
        { role: 'user', content: 'Second question?' },
      ],
    });
    expect(warnings).toEqual([]);
    expect(JSON.stringify(spy.calls[0]?.turns)).toContain('First answer.');
    expect(JSON.stringify(spy.calls[0]?.turns)).not.toContain('Reading the request');
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
