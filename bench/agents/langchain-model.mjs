import { ChatOpenAI } from '@langchain/openai';
import { world } from './world.mjs';

/** The nodes retry. The client would ask six more times after an invalid reply, in each attempt of a node, with growing pauses. */
export const model = new ChatOpenAI({
  model: 'm',
  apiKey: 'none',
  maxRetries: 0,
  configuration: { baseURL: `http://127.0.0.1:${world.port}/v1` },
});
