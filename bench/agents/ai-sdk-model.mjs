import { createOpenAICompatible } from 'openai-compatible-3';
import { world } from './world.mjs';

export const model = createOpenAICompatible({
  name: 'bench',
  apiKey: 'none',
  baseURL: `http://127.0.0.1:${world.port}/v1`,
  supportsStructuredOutputs: true,
})('m');
