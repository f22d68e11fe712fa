export { type AiSdkModelOptions, aiSdkModel } from './ai-sdk-model.ts';
export type { AiSdkLanguageModel } from './language-model.ts';
