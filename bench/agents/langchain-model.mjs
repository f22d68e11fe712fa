import { ChatOpenAI } from '@langchain/openai';
import { world } from './world.mjs';

export const model = new ChatOpenAI({
  model: 'm',
  apiKey: 'none',
  configuration: { baseURL: `http://127.0.0.1:${world.port}/v1` },
});
