import { type OpenAIModelOptions, openaiModel } from 'postchain/openai';

const { env } = process;

export const providers = {
  openai: { model: 'gpt-4.1-mini', apiKey: env['OPENAI_API_KEY'] },

  openaiResponses: {
    api: 'responses',
    model: 'gpt-5-mini',
    apiKey: env['OPENAI_API_KEY'],
    contextWindowTokens: 400_000,
    reasoningEffort: 'low',
  },

  groq: {
    model: 'llama-3.3-70b-versatile',
    baseURL: 'https://api.groq.com/openai/v1',
    apiKey: env['GROQ_API_KEY'],
  },

  mistral: {
    model: 'mistral-small-latest',
    baseURL: 'https://api.mistral.ai/v1',
    apiKey: env['MISTRAL_API_KEY'],
  },

  openRouter: {
    model: 'meta-llama/llama-3.3-70b-instruct',
    baseURL: 'https://openrouter.ai/api/v1',
    apiKey: env['OPENROUTER_API_KEY'],
    headers: { 'HTTP-Referer': 'https://your-app.example', 'X-Title': 'Your app' },
  },

  azure: {
    model: 'your-deployment',
    baseURL: 'https://your-resource.openai.azure.com/openai/v1',
    apiKey: env['AZURE_OPENAI_API_KEY'],
  },

  ollama: { model: 'llama3.2', baseURL: 'http://localhost:11434/v1', contextWindowTokens: 8_192 },

  vllm: { model: 'Qwen/Qwen3-8B', baseURL: 'http://localhost:8000/v1', contextWindowTokens: 32_768 },

  lmStudio: { model: 'openai/gpt-oss-20b', baseURL: 'http://localhost:1234/v1', contextWindowTokens: 8_192 },
} satisfies Record<string, OpenAIModelOptions>;

const model = openaiModel(providers.ollama);
console.log(model.id);
