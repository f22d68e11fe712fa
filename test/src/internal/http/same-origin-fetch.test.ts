import { describe, expect, test } from 'vitest';
import { platformFetch } from '../../../../src/internal/fetch-without-timeout.ts';
import { sameOriginFetch } from '../../../../src/models/openai/client.ts';
import { openaiModel } from '../../../../src/models/openai/openai-model.ts';
import { chatServer, completion, streaming } from '../../../support/chat-server.ts';
import { anError } from '../../../support/errors.ts';
import { failureFrom, partsOf, textOf } from '../../../support/model-streams.ts';

const FETCHES = [
  ['the default', undefined],
  ['the global fetch', globalThis.fetch],
] as const;
const model = (baseURL: string, fetch?: typeof globalThis.fetch) =>
  openaiModel({ model: 'm', apiKey: 'sk-test-1234567890', baseURL, ...(fetch && { fetch }) });

/** A server that redirects every path but `/ok`, to what `locationOf` returns for the path. */
const redirecting = (status: number, locationOf: (path: string) => string | undefined) =>
  chatServer(({ path, response }) => {
    const location = locationOf(path);
    if (path === '/ok') streaming(response).end(completion('ok'));
    else response.writeHead(status, location === undefined ? {} : { location }).end();
  });

describe.each(FETCHES)('redirects with %s', (_, fetch) => {
  test.each([301, 302, 307, 308])(
    'within one origin are followed with the same method, body and key: %i',
    async (status) => {
      const server = await redirecting(status, (path) => (path === '/2' ? '/ok' : '../../2'));
      expect(textOf(await partsOf(model(server.baseURL, fetch)))).toBe('ok');
      const [first, , last] = server.exchanges;
      expect(server.exchanges.map(({ method, path }) => `${method} ${path}`)).toEqual([
        'POST /v1/chat/completions',
        'POST /2',
        'POST /ok',
      ]);
      expect(last?.body).toEqual(first?.body);
      expect(last?.headers.authorization).toBe('Bearer sk-test-1234567890');
    },
  );

  test.each([301, 307])(
    'to another origin fail in one line that names both, and the key goes nowhere: %i',
    async (status) => {
      const other = await chatServer(({ response }) => void streaming(response).end(completion('stolen')));
      const server = await redirecting(status, () => `${other.baseURL}/chat/completions`);
      const { origin } = new URL(server.baseURL);
      const failure = await failureFrom(model(server.baseURL, fetch));
      expect(failure).toMatchObject({ stage: 'transport', code: 'redirected', retryable: false });
      expect(failure.message).toBe(
        `${origin} redirected the request to ${new URL(other.baseURL).origin}; the key was not sent there; ` +
          'if that server is the right one, set the base URL to it',
      );
      expect(other.exchanges).toEqual([]);
    },
  );

  test('another port or scheme is another origin', async () => {
    for (const location of ['http://127.0.0.1:1/v1', 'https://127.0.0.1/v1', '//llm.test/v1']) {
      const server = await redirecting(308, () => location);
      expect(await failureFrom(model(server.baseURL, fetch))).toMatchObject({ code: 'redirected' });
    }
  });

  test('in a loop fail', async () => {
    const server = await redirecting(307, () => '/again');
    expect(await failureFrom(model(server.baseURL, fetch))).toMatchObject(
      anError('redirected', /^http.* redirected the request more than 5 times; check the base URL$/),
    );
    expect(server.exchanges).toHaveLength(6);
  });

  test.each([
    ['no target', undefined, 'responded with status 302 but without a Location header'],
    ['an invalid target', 'http://[', 'redirected the request to something that is not a URL'],
    ['a target of another scheme', 'mailto:a@b.test', 'redirected the request to a URL with the scheme "mailto:"'],
  ])('with %s fail', async (_, location, problem) => {
    const server = await redirecting(302, () => location);
    const { origin } = new URL(server.baseURL);
    expect(await failureFrom(model(server.baseURL, fetch))).toMatchObject({
      code: 'redirected',
      message: `${origin} ${problem}; check the base URL`,
    });
  });
});

describe('a fetch within one origin', () => {
  test('follows 303 with GET and without a body', async () => {
    const server = await redirecting(303, () => '/ok');
    const response = await sameOriginFetch(globalThis.fetch)(`${server.baseURL}/x`, { method: 'POST', body: '{}' });
    expect(response.status).toBe(200);
    expect(server.exchanges.map(({ method }) => method)).toEqual(['POST', 'GET']);
  });

  test('drops the user and the password of a redirect', async () => {
    const server = await redirecting(307, () => server.baseURL.replace('//', '//user:pw@').replace('/v1', '/ok'));
    const response = await sameOriginFetch(platformFetch)(`${server.baseURL}/x`);
    expect(response.status).toBe(200);
    expect(server.exchanges[1]?.headers).not.toHaveProperty('authorization');
  });

  test('fails for a redirect whose target the browser hides', async () => {
    const hidden = Object.assign(Response.error(), {});
    Object.defineProperty(hidden, 'type', { value: 'opaqueredirect' });
    const request = sameOriginFetch(async () => hidden)('https://llm.test/v1', {});
    await expect(request).rejects.toThrow(
      'https://llm.test redirected the request to an address that the browser hides',
    );
  });
});
