import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { createStructuredOutput } from 'postchain';
import { aiSdkModel } from 'postchain/ai-sdk';
import * as z from 'zod';

// Stand-in for the provider's server. Without `fetch`, the provider uses the global one.
const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const reply = [
  chunk({ content: '{"capital":' }),
  chunk({ content: '"Paris"}' }),
  chunk({}, 'stop'),
  'data: [DONE]\n\n',
];
const fetch = async () => new Response(reply.join(''), { headers: { 'content-type': 'text/event-stream' } });

// Any provider of the AI SDK: anthropic('claude-sonnet-4-5'), google('gemini-2.5-flash'), openai('gpt-4.1-mini') …
const provider = createOpenAICompatible({ name: 'local', baseURL: 'http://localhost:11434/v1', fetch });
const model = aiSdkModel(provider('llama3.2'), { contextWindowTokens: 8_192 });

const schema = z.object({ capital: z.string() });
console.log(await createStructuredOutput({ model, schema, prompt: 'What is the capital of France?' }).value);
