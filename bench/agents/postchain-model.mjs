/** Takes the place of `postchain/testing` in the examples, so that their model is a real client of the benchmark's server. */
import { openaiModel } from 'postchain/openai';
import { world } from './world.mjs';

const OPENAI = 'https://api.openai.com';

/** Only with OpenAI's URL does PostChain use OpenAI's features: schemas that are enforced, and tool calls. */
export const scriptedModel = () =>
  openaiModel({
    model: 'm',
    apiKey: 'none',
    baseURL: `${OPENAI}/v1`,
    fetch: (url, init) => fetch(String(url).replace(OPENAI, `http://127.0.0.1:${world.port}`), init),
  });
