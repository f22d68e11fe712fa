export { type AiSdkModelOptions, aiSdkModel } from '../integrations/ai-sdk/ai-sdk-model.ts';
export {
  asLanguageModel,
  type ChainLanguageModel,
  type ChainLanguageModelOptions,
} from '../integrations/ai-sdk/as-language-model.ts';
export type { AiSdkLanguageModel } from '../integrations/ai-sdk/language-model.ts';
