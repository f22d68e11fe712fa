import { createOpenAI } from '@ai-sdk/openai';
import { describe, expect, it } from 'vitest';
import type { ChatModel, ChatTurn } from '../../../../machines/contracts/model.ts';
import { type AiSdkLanguageModel, aiSdkModel, asLanguageModel } from '../../../../src/entries/ai-sdk.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { ALL_FEATURES, callOptions } from '../../../../src/integrations/ai-sdk/call-options.ts';
import { openaiModel } from '../../../../src/models/openai/openai-model.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { chatServer, chunk, DONE, event, responseOf, streaming } from '../../../support/chat-server.ts';
import { partsOf } from '../../../support/model-streams.ts';

const optionsFor = (provider: string, turns: readonly ChatTurn[]) =>
  callOptions(
    { task: 'action', turns, schemaName: 'reply', outputSchema: { type: 'object' }, replyForm: 'text', input: {} },
    ALL_FEATURES,
    { provider, specificationVersion: 'v3' },
  ).prompt;

const turns: readonly ChatTurn[] = [
  { role: 'system', content: 'Rules.' },
  { role: 'user', content: 'The context.\n\nThe task.', cachedChars: 12 },
];

describe('the part of a prompt that later calls repeat', () => {
  it.each(['anthropic.messages', 'amazon-bedrock', 'openrouter.chat'])('is marked for %s', (provider) => {
    const [system, user] = optionsFor(provider, turns);
    const marked = expect.objectContaining({ anthropic: { cacheControl: { type: 'ephemeral' } } });
    expect(system).toMatchObject({ role: 'system', providerOptions: marked });
    expect(user?.content).toEqual([
      { type: 'text', text: 'The context.', providerOptions: marked },
      { type: 'text', text: '\n\nThe task.' },
    ]);
  });

  it('is not marked for a provider that caches by itself', () => {
    expect(optionsFor('openai.chat', turns)).toEqual([
      { role: 'system', content: 'Rules.' },
      { role: 'user', content: [{ type: 'text', text: 'The context.\n\nThe task.' }] },
    ]);
  });

  it('is not marked in a prompt that no later call repeats', () => {
    const single = turns.map(({ role, content }) => ({ role, content }));
    expect(JSON.stringify(optionsFor('anthropic.messages', single))).not.toContain('cacheControl');
  });
});

const chat = (usage: object) =>
  event(chunk({ content: '{}' })) + event(chunk({}, 'stop')) + event({ choices: [], usage }) + DONE;
/** 2,000 ordinary input tokens, 10,000 read from the cache and 88,000 written to it; 500 output tokens. */
const counts = { prompt_tokens: 100_000, completion_tokens: 500, total_tokens: 100_500 };
const details = { cached_tokens: 10_000, cache_write_tokens: 88_000 };
const inResponses = { input_tokens: 100_000, output_tokens: 500, total_tokens: 100_500, input_tokens_details: details };

const at = (baseURL: string) => ({ baseURL, apiKey: 'k' });
const own = (baseURL: string, api: 'chat' | 'responses' = 'chat') => openaiModel({ ...at(baseURL), model: 'm', api });

function bedrock(): AiSdkLanguageModel {
  const parts = [
    { type: 'text-delta', id: '0', delta: '{}' },
    {
      type: 'finish',
      finishReason: 'stop',
      usage: { inputTokens: 2_000, outputTokens: 500, totalTokens: 2_500, cachedInputTokens: 10_000 },
      providerMetadata: { bedrock: { usage: { cacheWriteInputTokens: 88_000 } } },
    },
  ];
  const doStream = async () => ({ stream: ReadableStream.from(parts) as ReadableStream });
  return { specificationVersion: 'v2', provider: 'amazon-bedrock', modelId: 'm', doStream };
}

describe('tokens written to the cache of a provider', () => {
  it.each<[string, string, (baseURL: string) => ChatModel]>([
    [
      'OpenAI, V4, chat',
      chat({ ...counts, prompt_tokens_details: details }),
      (url) => aiSdkModel(createOpenAI(at(url)).chat('m')),
    ],
    ['Bedrock, V2', '', () => aiSdkModel(bedrock())],
    ['openaiModel', chat({ ...counts, prompt_tokens_details: details }), own],
    [
      'openaiModel, LiteLLM',
      chat({ ...counts, cache_creation_input_tokens: 88_000, prompt_tokens_details: { cached_tokens: 10_000 } }),
      own,
    ],
    ['openaiModel, Responses API', responseOf('{}', { usage: inResponses }), (url) => own(url, 'responses')],
  ])('are a part of the input: %s', async (_, reply, create) => {
    const { baseURL } = await chatServer(({ response }) => void streaming(response).end(reply));
    const last = (await partsOf(create(baseURL))).at(-1);
    expect(last).toMatchObject({
      type: 'finish',
      usage: {
        inputTokens: 100_000,
        cachedInputTokens: 10_000,
        cacheWriteTokens: 88_000,
        outputTokens: 500,
        estimated: false,
      },
    });
  });

  it('are at most the rest of the input', async () => {
    const odd = chat({ ...counts, prompt_tokens_details: { cached_tokens: 99_000, cache_write_tokens: 88_000 } });
    const { baseURL } = await chatServer(({ response }) => void streaming(response).end(odd));
    expect((await partsOf(own(baseURL))).at(-1)).toMatchObject({ usage: { cacheWriteTokens: 1_000 } });
  });

  it('are reported by a chain as a language model', async () => {
    const usage = { inputTokens: 100, cachedInputTokens: 10, cacheWriteTokens: 80, outputTokens: 5, estimated: false };
    const model = scriptedModel({}, { otherwise: replies, usage });
    const prompt = [{ role: 'user' as const, content: 'Is it so?' }];
    const result = await asLanguageModel(createPostChain({ model })).doGenerate({ prompt });
    const calls = model.calls.length;
    expect(result.usage.inputTokens).toEqual({
      total: 100 * calls,
      noCache: 10 * calls,
      cacheRead: 10 * calls,
      cacheWrite: 80 * calls,
    });
  });
});
