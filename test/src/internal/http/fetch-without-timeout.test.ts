import { describe, expect, test } from 'vitest';
import { fetchWithoutTimeout } from '../../../../src/internal/fetch-without-timeout.ts';
import { openaiModel } from '../../../../src/models/openai/openai-model.ts';
import { type ChatBody, chatServer, chunk, completion, event, streaming } from '../../../support/chat-server.ts';
import { modelRequest, partsOf, textOf } from '../../../support/model-streams.ts';

describe('the default fetch of the openai model', () => {
  test('sends the request and returns status, headers, and body like fetch', async () => {
    const server = await chatServer(({ response, body }) => {
      response.writeHead(201, 'Made', { 'x-one': 'Größe'.normalize('NFD').slice(0, 2), 'set-cookie': ['a=1', 'b=2'] });
      response.end(JSON.stringify(body));
    });
    const ask = (fetch: typeof globalThis.fetch) =>
      fetch(`${server.baseURL}/x?y=z`, { method: 'PUT', headers: { 'x-ours': '1' }, body: '{"model":"ö"}' });
    for (const fetch of [fetchWithoutTimeout, globalThis.fetch]) {
      const response = await ask(fetch);
      const { status, statusText, headers } = response;
      expect({ status, statusText, one: headers.get('x-one') }).toEqual({ status: 201, statusText: 'Made', one: 'Gr' });
      expect(headers.getSetCookie()).toEqual(['a=1', 'b=2']);
      expect(await response.json()).toEqual({ model: 'ö' });
    }
    const [ours, theirs] = server.exchanges.map(({ method, path, headers }) => [method, path, headers['x-ours']]);
    expect(ours).toEqual(theirs);
  });

  test('returns no body for a response without one', async () => {
    const server = await chatServer(({ response }) => void response.writeHead(204).end());
    expect((await fetchWithoutTimeout(server.baseURL)).body).toBeNull();
  });

  test('closes the connection of a canceled body', async () => {
    const server = await chatServer(({ response }) => void streaming(response).write('x'));
    const response = await fetchWithoutTimeout(server.baseURL);
    await response.body?.cancel();
    await server.allClosed();
    expect(await server.connections()).toBe(0);
  });

  test('does not follow a redirect by itself', async () => {
    const server = await chatServer(({ response }) => void response.writeHead(307, { location: '/other' }).end());
    expect(await fetchWithoutTimeout(server.baseURL)).toMatchObject({ status: 307, redirected: false });
    expect(server.exchanges).toHaveLength(1);
  });

  test('handles an abort during or after a reply without affecting later calls', async () => {
    const server = await chatServer(({ response }) => {
      streaming(response);
      for (const word of ['a', 'b', 'c']) response.write(event(chunk({ content: word })));
      response.end(completion('d'));
    });
    const model = openaiModel({ model: 'm', apiKey: 'k', baseURL: server.baseURL });
    for (let abortAt = 0; abortAt <= 5; abortAt += 1) {
      const controller = new AbortController();
      let seen = 0;
      for await (const _ of model.stream(modelRequest(), { signal: controller.signal })) {
        seen += 1;
        if (seen === abortAt) controller.abort();
      }
      controller.abort();
      expect(textOf(await partsOf(model))).toBe('abcd');
    }
  });

  test('can be replaced, for example by the global fetch', async () => {
    const server = await chatServer(({ response }) => void streaming(response).end(completion('ok')));
    const model = openaiModel({ model: 'm', apiKey: 'k', baseURL: server.baseURL, fetch: globalThis.fetch });
    expect(textOf(await partsOf(model))).toBe('ok');
  });

  test('calls OpenAI itself at its own URL with max_completion_tokens', async () => {
    const asked: { url: string; body: ChatBody }[] = [];
    const fetch: typeof globalThis.fetch = async (input, init) => {
      asked.push({ url: String(input), body: JSON.parse(String(init?.body)) });
      return new Response(completion('ok'), { headers: { 'content-type': 'text/event-stream' } });
    };
    await partsOf(
      openaiModel({ model: 'm', apiKey: 'k', maxOutputTokens: 9, baseURL: 'https://api.openai.com/v1', fetch }),
    );
    expect(asked).toMatchObject([
      { url: 'https://api.openai.com/v1/chat/completions', body: { max_completion_tokens: 9, store: false } },
    ]);
    expect(asked[0]?.body).not.toHaveProperty('max_tokens');
  });
});
