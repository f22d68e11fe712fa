import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { createAnthropic as createAnthropicV2 } from 'anthropic-v2';
import { createAnthropic as createAnthropicV3 } from 'anthropic-v3';
import { createGoogleGenerativeAI as createGoogleV2 } from 'google-v2';
import { createGoogleGenerativeAI as createGoogleV3 } from 'google-v3';
import { createOpenAICompatible as createCompatibleV2 } from 'openai-compatible-v2';
import { createOpenAICompatible as createCompatibleV3 } from 'openai-compatible-v3';
import { createOpenAI as createOpenAIV2 } from 'openai-v2';
import { createOpenAI as createOpenAIV3 } from 'openai-v3';
import { anthropicModel } from '../../../../examples/provider-sdks/anthropic-model.ts';
import { googleModel } from '../../../../examples/provider-sdks/google-model.ts';
import type { ChatModel } from '../../../../machines/contracts/model.ts';
import { aiSdkModel } from '../../../../src/entries/ai-sdk.ts';
import type { AiSdkLanguageModel } from '../../../../src/integrations/ai-sdk/language-model.ts';
import { openaiModel } from '../../../../src/models/openai/openai-model.ts';
import {
  anthropicMessages,
  chatCompletions,
  googleGenerate,
  openaiResponses,
  type WireFormat,
} from './wire-formats.ts';

/** A model under test: how to create it for a server, and the format in which that server replies. */
export interface Subject {
  readonly name: string;
  readonly wire: WireFormat;
  readonly create: (baseURL: string, apiKey: string) => ChatModel;
  /** The API has no reasoning in its replies. */
  readonly hidesReasoning?: boolean;
  /** The provider sends images, but no other files. */
  readonly readsImagesOnly?: boolean;
  /** The provider requests JSON as a tool call, and drops text beside other calls. */
  readonly dropsTextBesideCalls?: boolean;
}

type Provider = (settings: { baseURL: string; apiKey: string }) => (modelId: string) => AiSdkLanguageModel;

const aiSdk = (name: string, wire: WireFormat, modelId: string, provider: Provider, more: Partial<Subject> = {}) => ({
  name: `AI SDK ${name}`,
  wire,
  create: (baseURL: string, apiKey: string) =>
    aiSdkModel(provider({ baseURL, apiKey })(modelId), { now: () => Date.parse('2026-03-01T12:00:00Z') }),
  ...more,
});

const compatible = (settings: { baseURL: string; apiKey: string }) => ({
  ...settings,
  name: 'recorded',
  includeUsage: true,
  supportsStructuredOutputs: true,
});

const hidden = { hidesReasoning: true };
const jsonTool = { dropsTextBesideCalls: true };

/** Every model that has to behave the same. */
export const SUBJECTS: readonly Subject[] = [
  {
    name: 'openai chat',
    wire: chatCompletions,
    create: (baseURL, apiKey) => openaiModel({ model: 'recorded', baseURL, apiKey }),
  },
  {
    name: 'openai responses',
    wire: openaiResponses,
    create: (baseURL, apiKey) => openaiModel({ model: 'recorded', api: 'responses', baseURL, apiKey }),
  },
  aiSdk('V2 openai', chatCompletions, 'gpt-4.1', (given) => createOpenAIV2(given).chat, hidden),
  aiSdk('V3 openai', chatCompletions, 'gpt-4.1', (given) => createOpenAIV3(given).chat, hidden),
  aiSdk('V4 openai', chatCompletions, 'gpt-4.1', (given) => createOpenAI(given).chat, hidden),
  aiSdk('V2 openai-compatible', chatCompletions, 'recorded', (given) => createCompatibleV2(compatible(given)), {
    readsImagesOnly: true,
  }),
  aiSdk('V3 openai-compatible', chatCompletions, 'recorded', (given) => createCompatibleV3(compatible(given))),
  aiSdk('V4 openai-compatible', chatCompletions, 'recorded', (given) => createOpenAICompatible(compatible(given))),
  aiSdk('V2 anthropic', anthropicMessages, 'claude-sonnet-4-5', createAnthropicV2, jsonTool),
  aiSdk('V3 anthropic', anthropicMessages, 'claude-sonnet-4-5', createAnthropicV3),
  aiSdk('V4 anthropic', anthropicMessages, 'claude-sonnet-4-5', createAnthropic),
  aiSdk('V2 google', googleGenerate, 'gemini-2.5-flash', createGoogleV2),
  aiSdk('V3 google', googleGenerate, 'gemini-2.5-flash', createGoogleV3),
  aiSdk('V4 google', googleGenerate, 'gemini-2.5-flash', createGoogleGenerativeAI, jsonTool),
  {
    name: 'example with the Anthropic SDK',
    wire: anthropicMessages,
    create: (url, apiKey) => anthropicModel({ model: 'claude-sonnet-4-5', apiKey, baseURL: url.replace('/v1', '') }),
  },
  {
    name: 'example with the Google SDK',
    wire: googleGenerate,
    create: (url, apiKey) => googleModel({ model: 'gemini-2.5-flash', apiKey, baseURL: url.replace('/v1', '') }),
  },
];
