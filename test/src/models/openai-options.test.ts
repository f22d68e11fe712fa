import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openaiModel } from '../../../src/models/openai/openai-model.ts';
import { isOpenAI, type OpenAIModelOptions, openaiSettings } from '../../../src/models/openai/options.ts';
import { chatServer, completion, respondWithJson, streaming } from '../../support/chat-server.ts';
import { errorOf } from '../../support/errors.ts';
import { partsOf } from '../../support/model-streams.ts';

const KEY = 'sk-test-1234567890';
const LOCAL = 'http://localhost:11434/v1';

beforeEach(() => {
  vi.stubEnv('OPENAI_API_KEY', undefined);
  vi.stubEnv('OPENAI_BASE_URL', undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const optionsError = (options: Partial<OpenAIModelOptions>) => errorOf(() => openaiModel({ model: 'm', ...options }));

describe('the options of the openai model', () => {
  test('a misspelled option is rejected, so that nothing is sent to the wrong server', () => {
    const { code, message } = optionsError({ baseUrl: LOCAL, apiKey: KEY } as never);
    expect(code).toBe('invalid_option');
    expect(message).toMatch(/^baseUrl: unknown option; expected one of .*baseURL/);
    for (const given of ['gpt-4', undefined, null])
      expect(() => openaiModel(given as never)).toThrow(/^options of openaiModel: expected an object.*; received .+/);
  });

  test('the key and the base URL come from the environment, read when the model is created', () => {
    vi.stubEnv('OPENAI_API_KEY', ` ${KEY}\n`);
    vi.stubEnv('OPENAI_BASE_URL', 'https://llm.example.org/v1');
    expect(openaiSettings({ model: 'm' })).toMatchObject({ apiKey: KEY, baseURL: 'https://llm.example.org/v1' });
    expect(openaiSettings({ model: 'm', apiKey: 'other', baseURL: LOCAL })).toMatchObject({
      apiKey: 'other',
      baseURL: LOCAL,
    });
  });

  test.each([
    ['https://api.openai.com/v1', true],
    ['https://eu.api.openai.com/v1', true],
    ['https://api.openai.com.example.org/v1', false],
    ['https://evil-api.openai.com/v1', false],
    [LOCAL, false],
  ])('%s is OpenAI: %s, in all regions and nowhere else', (baseURL, expected) => {
    expect(isOpenAI(baseURL)).toBe(expected);
  });

  test('defaults to OpenAI and a window of 128,000 tokens', () => {
    expect(openaiSettings({ model: 'm', apiKey: KEY }).baseURL).toBe('https://api.openai.com/v1');
    const { id, contextWindowTokens } = openaiModel({ model: 'm', apiKey: KEY });
    expect({ id, contextWindowTokens }).toEqual({ id: 'openai:m', contextWindowTokens: 128_000 });
  });

  test.each([undefined, '', '  \n'])('a missing or blank key is rejected with instructions: %j', (apiKey) => {
    const { code, message } = optionsError(apiKey === undefined ? {} : { apiKey });
    expect(code).toBe('invalid_key');
    expect(message).toMatch(/^api\.openai\.com requires an API key; set OPENAI_API_KEY or pass "apiKey" \(any text/);
  });

  test('OPENAI_API_KEY does not stand in for another company’s key that is not set', () => {
    vi.stubEnv('OPENAI_API_KEY', KEY);
    const { code, message } = optionsError({ baseURL: 'https://api.groq.com/openai/v1', apiKey: undefined });
    expect({ code, message }).toEqual({
      code: 'invalid_key',
      message: expect.stringMatching(/^api\.groq\.com requires an API key; "apiKey" is undefined; set the environment/),
    });
    expect(openaiSettings({ model: 'm', apiKey: undefined }).apiKey).toBe(KEY);
    expect(openaiSettings({ model: 'm', apiKey: undefined, baseURL: LOCAL }).apiKey).toBe('not-needed');
  });

  test.each([
    ['sk-test 1234567890', 'white space'],
    ['sk-test\n1234567890', 'white space'],
    ['sk-test\u00001234567890', 'control characters'],
    ['sk-tést-1234567890', 'non-ASCII characters'],
    ['sk-test\u200b-1234567890', 'non-ASCII characters'],
  ])('the key %j is rejected without quoting it', (apiKey, wrong) => {
    const { code, message } = optionsError({ apiKey });
    expect(code).toBe('invalid_key');
    expect(message).toContain(wrong);
    expect(message).not.toMatch(/sk-|1234567890|\n/);
  });

  test.each([
    'http://localhost:11434/v1',
    'http://127.0.0.1:8080/v1',
    'http://[::1]:8080/v1',
    'http://ai.localhost/v1',
  ])('a server on loopback needs no key: %s', (baseURL) => {
    expect(openaiSettings({ model: 'm', baseURL })).toMatchObject({ apiKey: 'not-needed', secrets: [] });
    expect(openaiSettings({ model: 'm', baseURL, apiKey: '' })).toMatchObject({ apiKey: 'not-needed' });
    expect(openaiSettings({ model: 'm', baseURL, apiKey: KEY })).toMatchObject({ apiKey: KEY, secrets: [KEY] });
  });

  test('any other server needs a key, whatever its name looks like', () => {
    expect(optionsError({ baseURL: 'http://localhost.example.org/v1' }).code).toBe('invalid_key');
    expect(optionsError({ baseURL: 'http://192.168.1.7:11434/v1' }).code).toBe('invalid_key');
  });

  test.each([
    ['localhost:11434/v1', 'received a URL with the scheme "localhost:"'],
    ['ftp://localhost/v1', 'received a URL with the scheme "ftp:"'],
    ['/v1', 'received something that is not a URL'],
    ['', 'received something that is not a URL'],
    ['http://', 'received something that is not a URL'],
    ['http://user:secret@localhost/v1', 'no user, query or fragment; received one with host localhost'],
    ['http://localhost/v1?api-version=1', 'no user, query or fragment; received one with host localhost'],
  ])('the base URL %j is rejected', (baseURL, reason) => {
    const { code, message } = optionsError({ baseURL, apiKey: KEY });
    expect(code).toBe('invalid_option');
    expect(message).toMatch(/^baseURL must /);
    expect(message).toContain(reason);
    expect(message).not.toContain('secret');
  });

  test.each([
    [{ model: '' }],
    [{ model: ' \n' }],
    [{ contextWindowTokens: 0 }],
    [{ contextWindowTokens: 1.5 }],
    [{ maxOutputTokens: Number.NaN }],
    [{ temperature: 2.1 }],
    [{ temperature: Number.NaN }],
    [{ headers: { 'bad name': 'x' } }],
    [{ api: 'completions' }],
    [{ reasoningEffort: ' ' }],
    [{ reasoningSummary: 'long', api: 'responses' }],
    [{ reasoningSummary: 'auto' }],
    [{ reasoningSummary: 'auto', api: 'chat' }],
    [{ organization: 'org 1' }],
    [{ headers: { 'x-ok': 'line\nbreak' } }],
  ])('%j is rejected', (options) => {
    const { code, message } = optionsError({ apiKey: KEY, ...(options as object) });
    expect(code).toBe('invalid_option');
    expect(message).toContain(Object.keys(options)[0]);
    expect(message).not.toMatch(/\n/);
  });
});

describe('checking the key', () => {
  const check = (baseURL: string, signal = new AbortController().signal) =>
    openaiModel({ model: 'a/b c', apiKey: KEY, baseURL }).checkKey({ signal });

  const RESTRICTED = 'You have insufficient permissions for this operation. Missing scopes: api.model.read.';
  test.each<[number, string, object | null]>([
    [401, `Bad ${KEY}`, { code: 'unauthorized', retryable: false, status: 401 }],
    [403, `Bad ${KEY}`, { code: 'unauthorized', retryable: false, status: 403 }],
    [403, RESTRICTED, null],
    [200, 'x', null],
    [404, 'x', null],
    [500, 'x', null],
  ])('only a rejected key is a failure: %i %s', async (status, message, expected) => {
    const server = await chatServer(({ response }) => respondWithJson(response, status, { error: { message } }));
    const failure = await check(server.baseURL);
    if (expected === null) expect(failure).toBeNull();
    else expect(failure).toMatchObject(expected);
    expect(JSON.stringify(failure)).not.toContain(KEY);
    expect(server.exchanges).toMatchObject([{ method: 'GET', path: '/v1/models/a%2Fb%20c' }]);
  });

  test('resolves to null without a server and after an abort', async () => {
    const controller = new AbortController();
    const server = await chatServer(() => controller.abort());
    expect(await check(server.baseURL, controller.signal)).toBeNull();
    await server.allClosed();
    await server.stop();
    expect(await check(server.baseURL)).toBeNull();
    expect(await check(server.baseURL, AbortSignal.abort())).toBeNull();
  });
});

describe('the openai client', () => {
  test('receives the key and the headers, and only documented environment variables', async () => {
    vi.stubEnv('OPENAI_ADMIN_KEY', 'sk-admin-1234567890');
    vi.stubEnv('OPENAI_LOG', 'debug');
    const printed = vi.spyOn(console, 'debug').mockImplementation(() => {});
    const server = await chatServer(({ response }) => void streaming(response).end(completion('ok')));
    const subject = openaiModel({
      model: 'm',
      apiKey: KEY,
      baseURL: server.baseURL,
      headers: { 'x-title': 'PostChain' },
    });
    await partsOf(subject);
    expect(server.exchanges[0]?.headers).toMatchObject({ authorization: `Bearer ${KEY}`, 'x-title': 'PostChain' });
    expect(printed).not.toHaveBeenCalled();
    printed.mockRestore();
  });

  test('sends the organization, the project, and the options of reasoning, tier and cache', async () => {
    const server = await chatServer(({ response }) => void streaming(response).end(completion('ok')));
    const account = { organization: 'org-1', project: 'proj-1' };
    const options = { reasoningEffort: 'minimal', serviceTier: 'flex', promptCacheKey: 'chain' };
    await partsOf(openaiModel({ model: 'm', baseURL: server.baseURL, ...account, ...options }));
    const [{ headers, body } = { headers: {}, body: {} }] = server.exchanges;
    expect(headers).toMatchObject({ 'openai-organization': 'org-1', 'openai-project': 'proj-1' });
    expect(body).toMatchObject({ reasoning_effort: 'minimal', service_tier: 'flex', prompt_cache_key: 'chain' });
  });

  test('sends the account of the environment to OpenAI only', async () => {
    vi.stubEnv('OPENAI_ORG_ID', 'org-1');
    vi.stubEnv('OPENAI_PROJECT_ID', ' proj-1\n');
    const server = await chatServer(({ response }) => void streaming(response).end(completion('ok')));
    await partsOf(openaiModel({ model: 'm', baseURL: server.baseURL }));
    expect(Object.keys(server.exchanges[0]?.headers ?? {}).filter((name) => name.startsWith('openai-'))).toEqual([]);
    const account = openaiSettings({ model: 'm', apiKey: KEY });
    expect(account).toMatchObject({ organization: 'org-1', project: 'proj-1' });
  });

  test('does not log a reply that it cannot parse', async () => {
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {});
    const server = await chatServer(({ response }) => void streaming(response).end('data: secret {\n\n'));
    await partsOf(openaiModel({ model: 'm', apiKey: KEY, baseURL: server.baseURL }));
    expect(printed).not.toHaveBeenCalled();
    printed.mockRestore();
  });
});
