import type { Facts } from './spans.ts';

/** `gen_ai.provider.name`, as far as ids of models tell it: the well-known values of the conventions. */
const PROVIDERS: ReadonlySet<string> = new Set([
  'anthropic',
  'aws.bedrock',
  'azure.ai.inference',
  'azure.ai.openai',
  'cohere',
  'deepseek',
  'gcp.gemini',
  'gcp.gen_ai',
  'gcp.vertex_ai',
  'groq',
  'ibm.watsonx.ai',
  'mistral_ai',
  'openai',
  'perplexity',
  'x_ai',
]);

/** Who provides the run itself, its phases and capabilities, and models whose id names nobody else. */
export const POSTCHAIN: Facts = { 'gen_ai.provider.name': 'postchain' };

/** `openai:gpt-4.1-mini` is gpt-4.1-mini of openai; `llama3:8b` is a name as it stands. */
export function modelFacts(modelId: string, provider: string | null): Facts {
  const colon = modelId.indexOf(':');
  const prefix = modelId.slice(0, Math.max(0, colon));
  const named = PROVIDERS.has(prefix);
  return {
    ...POSTCHAIN,
    ...(named ? { 'gen_ai.provider.name': prefix } : provider !== null && { 'gen_ai.provider.name': provider }),
    'gen_ai.request.model': named ? modelId.slice(colon + 1) : modelId,
  };
}
