/** Models and embeddings of OpenAI and of servers with the same API. Requires the package `openai`. */
export { type OpenAIEmbeddingsOptions, openaiEmbeddings } from '../models/openai/embeddings.ts';
export { type OpenAIModel, openaiModel } from '../models/openai/openai-model.ts';
export type { OpenAIModelOptions } from '../models/openai/options.ts';
