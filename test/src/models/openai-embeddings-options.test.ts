import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openaiEmbeddings } from '../../../src/models/openai/embeddings.ts';
import { embeddingsSettings } from '../../../src/models/openai/embeddings-options.ts';

vi.mock('openai', () => {
  throw Object.assign(new Error("Cannot find package 'openai'"), { code: 'ERR_MODULE_NOT_FOUND' });
});

beforeEach(() => {
  vi.stubEnv('OPENAI_API_KEY', undefined);
  vi.stubEnv('OPENAI_BASE_URL', undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

describe('the options of the openai embeddings', () => {
  it('come from the environment where they are left out [U1]', () => {
    vi.stubEnv('OPENAI_API_KEY', 'sk-test-1234567890');
    vi.stubEnv('OPENAI_BASE_URL', 'https://llm.example.org/v1');
    expect(embeddingsSettings({})).toMatchObject({
      apiKey: 'sk-test-1234567890',
      baseURL: 'https://llm.example.org/v1',
      model: 'text-embedding-3-small',
    });
  });

  it('are refused when misspelt, with those that there are [U1]', () => {
    expect(() => openaiEmbeddings({ baseUrl: 'http://localhost:1/v1' } as never)).toThrow(
      /^baseUrl: there is no such option of openaiEmbeddings; give one of model, apiKey, baseURL, headers, fetch, now$/,
    );
    for (const given of ['text-embedding-3-small', null])
      expect(() => openaiEmbeddings(given as never)).toThrow(/openaiEmbeddings: got \w+; give options: model,/);
  });

  it('need a key for a server that is not this machine [U1]', () => {
    expect(() => openaiEmbeddings()).toThrow(/got no key; api\.openai\.com wants one/);
    expect(openaiEmbeddings({ baseURL: 'http://localhost:11434/v1', model: 'm' }).id).toBe('openai:m');
  });

  it('need no openai package until the first call, which says how to get it [U1]', async () => {
    const model = openaiEmbeddings({ apiKey: 'k' });
    await expect(model.embed(['a'], { signal: new AbortController().signal })).rejects.toMatchObject({
      message: expect.stringContaining('npm install openai'),
      cause: { code: 'client_missing' },
    });
  });
});
