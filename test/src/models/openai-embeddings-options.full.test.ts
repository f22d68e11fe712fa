import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { embeddingsSettings, openaiEmbeddings } from '../../../src/models/openai/embeddings.ts';
import { openaiModel } from '../../../src/models/openai/openai-model.ts';
import { failureFrom } from '../../support/model-streams.ts';

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
  it('default to the environment [U1]', () => {
    vi.stubEnv('OPENAI_API_KEY', 'sk-test-1234567890');
    vi.stubEnv('OPENAI_BASE_URL', 'https://llm.example.org/v1');
    expect(embeddingsSettings({})).toMatchObject({
      apiKey: 'sk-test-1234567890',
      baseURL: 'https://llm.example.org/v1',
      model: 'text-embedding-3-small',
    });
  });

  it('are rejected if misspelled, with the known options [U1]', () => {
    expect(() => openaiEmbeddings({ baseUrl: 'http://localhost:1/v1' } as never)).toThrow(
      /^baseUrl: unknown option; expected one of model, apiKey, baseURL, organization, project, headers, maxResponseBytes, fetch, dangerouslyAllowBrowser, now, clock\.$/,
    );
    for (const given of ['text-embedding-3-small', null])
      expect(() => openaiEmbeddings(given as never)).toThrow(
        /^options of openaiEmbeddings: expected an object; received .+/,
      );
  });

  it('need a key unless the server is on this machine [U1]', () => {
    expect(() => openaiEmbeddings()).toThrow(/api\.openai\.com requires an API key/);
    expect(openaiEmbeddings({ baseURL: 'http://localhost:11434/v1', model: 'm' }).id).toBe('openai:m');
  });

  it('need the openai package only for the first call, which names the install command [U1]', async () => {
    const model = openaiEmbeddings({ apiKey: 'k' });
    await expect(model.embed(['a'], { signal: new AbortController().signal })).rejects.toMatchObject({
      message: expect.stringContaining('npm install openai'),
      cause: { code: 'client_missing' },
    });
  });
});

it('the openai model needs the package only for the first call, too', async () => {
  const model = openaiModel({ model: 'm', apiKey: 'k' });
  expect(await failureFrom(model)).toMatchObject({
    stage: 'unexpected',
    code: 'client_missing',
    retryable: false,
    message: expect.stringContaining('npm install openai'),
  });
  expect(await model.checkKey({ signal: new AbortController().signal })).toBeNull();
});
