import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { createStructuredOutput } from '../../src/llm/attempts/structured-output.ts';
import { openaiModel } from '../../src/models/openai/openai-model.ts';
import type { OpenAIModelOptions } from '../../src/models/openai/options.ts';
import {
  type ChatBody,
  chatServer,
  completion,
  respondWithJson,
  responseOf,
  streaming,
} from '../support/chat-server.ts';

const said = (message: string) => ({ error: { message } });

/** Rejects a request as the provider's server does, or returns null. */
type Complaint = (body: ChatBody) => readonly [number, unknown] | null;

const noSchema: Complaint = ({ response_format: format }) =>
  format?.type === 'json_schema'
    ? [400, said('This model does not support response format `json_schema`. See supported models.')]
    : null;
const noUsage: Complaint = ({ stream_options }) =>
  stream_options
    ? [422, { detail: [{ loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted' }] }]
    : null;

interface Row {
  readonly name: string;
  /** Where a reply is requested. */
  readonly url: string;
  /** The variable of the key. */
  readonly key: string | null;
  readonly complaint?: Complaint;
}

const rows: readonly Row[] = [
  { name: 'openai', url: 'https://api.openai.com/v1/chat/completions', key: 'OPENAI_API_KEY' },
  { name: 'openaiResponses', url: 'https://api.openai.com/v1/responses', key: 'OPENAI_API_KEY' },
  { name: 'groq', url: 'https://api.groq.com/openai/v1/chat/completions', key: 'GROQ_API_KEY', complaint: noSchema },
  { name: 'mistral', url: 'https://api.mistral.ai/v1/chat/completions', key: 'MISTRAL_API_KEY', complaint: noUsage },
  { name: 'openRouter', url: 'https://openrouter.ai/api/v1/chat/completions', key: 'OPENROUTER_API_KEY' },
  {
    name: 'azure',
    url: 'https://your-resource.openai.azure.com/openai/v1/chat/completions',
    key: 'AZURE_OPENAI_API_KEY',
  },
  { name: 'ollama', url: 'http://localhost:11434/v1/chat/completions', key: null },
  { name: 'vllm', url: 'http://localhost:8000/v1/chat/completions', key: null },
  { name: 'lmStudio', url: 'http://localhost:1234/v1/chat/completions', key: null },
];

/** Returns the options in the example, evaluated with this variable only. */
async function providersWith(variable: string | null): Promise<Readonly<Record<string, OpenAIModelOptions>>> {
  vi.stubEnv('OPENAI_API_KEY', undefined);
  if (variable !== null) vi.stubEnv(variable, `key-of-${variable}`);
  vi.spyOn(console, 'log').mockImplementation(() => {});
  const example = `../../examples/providers.ts?${variable}`;
  return (await import(/* @vite-ignore */ example)).providers;
}

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

describe('the providers of the models page', () => {
  test('are those of the example, each with a row of the table', async () => {
    const names = rows.map(({ name }) => name);
    expect(Object.keys(await providersWith(null))).toEqual(names);
    const page = readFileSync('docs/models.md', 'utf8');
    for (const { name, url, key } of rows) {
      const row = page.split('\n').find((line) => line.startsWith('|') && line.includes(`\`${name}\``));
      expect(row, name).toContain(url.replace(/\/(chat\/completions|responses)$/, ''));
      expect(row, name).toContain(key ?? 'none');
    }
  });

  test.each(rows)('$name is called at $url with the key of $key', async ({ name, url, key, complaint }) => {
    const server = await chatServer(({ path, body, response }) => {
      const rejection = complaint?.(body) ?? null;
      if (rejection !== null) respondWithJson(response, ...rejection);
      else streaming(response).end((path.endsWith('/responses') ? responseOf : completion)('{"answer":42}'));
    });
    const called: string[] = [];
    const fetch: typeof globalThis.fetch = (input, init) => {
      called.push(String(input));
      return globalThis.fetch(`${new URL(server.baseURL).origin}${new URL(String(input)).pathname}`, init);
    };
    const options = (await providersWith(key))[name] as OpenAIModelOptions;
    const model = openaiModel({ ...options, fetch });
    const schema = z.object({ answer: z.number() });
    expect(await createStructuredOutput({ model, schema, prompt: 'How much?' }).value).toEqual({ answer: 42 });
    expect(new Set(called)).toEqual(new Set([url]));
    expect(called).toHaveLength(complaint === undefined ? 1 : 2);
    const { headers, body } = server.exchanges.at(-1) ?? { headers: {}, body: {} };
    expect(headers.authorization).toBe(`Bearer ${key === null ? 'not-needed' : `key-of-${key}`}`);
    expect(body.store).toBe(url.includes('api.openai.com') ? false : undefined);
  });
});
