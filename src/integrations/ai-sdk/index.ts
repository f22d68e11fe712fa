export { type AiSdkModelOptions, aiSdkModel } from './ai-sdk-model.ts';
export {
  asLanguageModel,
  type ChainLanguageModel,
  type ChainLanguageModelOptions,
} from './as-language-model.ts';
export type { AiSdkLanguageModel } from './language-model.ts';
