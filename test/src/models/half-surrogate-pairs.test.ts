import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible as createCompatibleV2 } from 'openai-compatible-v2';
import { createOpenAI as createOpenAIV3 } from 'openai-v3';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { ChatModel } from '../../../machines/contracts/model.ts';
import { aiSdkModel } from '../../../src/entries/ai-sdk.ts';
import { createPostChain, createStructuredOutput, memorySessions } from '../../../src/entries/index.ts';
import { openaiEmbeddings } from '../../../src/models/openai/embeddings.ts';
import { openaiModel } from '../../../src/models/openai/openai-model.ts';
import { scriptedModel } from '../../../src/models/scripted.ts';
import { replies } from '../../../src/testing/replies.ts';
import { chatServer, completion, replyTo, respondWithJson, streaming } from '../../support/chat-server.ts';
import { callTool, connectUntilTestEnds, mcpHttpServer, oneToolServer, sendMessage } from '../../support/mcp.ts';
import { modelRequest, partsOf } from '../../support/model-streams.ts';

const HALF = 'half \ud83d of a pair, \ude00 the other, and a whole \ud83d\ude00';
const WHOLE = 'half \ufffd of a pair, \ufffd the other, and a whole \ud83d\ude00';

/** A request with a half pair wherever a text may come from somebody else. */
const request = modelRequest({
  turns: [
    { role: 'system', content: HALF },
    {
      role: 'user',
      content: HALF,
      files: [{ digest: 'd', mediaType: 'application/pdf', name: HALF, bytes: 3, data: 'JVBE' }],
    },
    { role: 'assistant', content: HALF },
  ],
  tools: [
    {
      name: 'search',
      description: HALF,
      parameters: { type: 'object', properties: { [HALF]: { description: HALF } } },
    },
  ],
});

/** JSON text escapes exactly the surrogates that have no other half. */
const hasHalf = (body: unknown): boolean => /\\ud[89a-f]/iu.test(JSON.stringify(body));

const MODELS: readonly (readonly [string, (baseURL: string) => ChatModel])[] = [
  ['openaiModel', (baseURL) => openaiModel({ model: 'm', apiKey: 'k', baseURL, accepts: ['application/pdf'] })],
  [
    'openaiModel with the Responses API',
    (baseURL) => openaiModel({ model: 'm', apiKey: 'k', baseURL, api: 'responses' }),
  ],
  ['aiSdkModel, V2', (baseURL) => aiSdkModel(createCompatibleV2({ name: 'x', baseURL })('m'))],
  ['aiSdkModel, V3', (baseURL) => aiSdkModel(createOpenAIV3({ baseURL, apiKey: 'k' })('m'))],
  ['aiSdkModel, V4', (baseURL) => aiSdkModel(createAnthropic({ baseURL, apiKey: 'k' })('m'))],
];

describe('half of a surrogate pair', () => {
  it.each(MODELS)('is replaced in every text that %s sends', async (_, create) => {
    const server = await chatServer(({ response }) => respondWithJson(response, 500, {}));
    for (const replyForm of ['text', 'tool-call'] as const)
      await partsOf(create(server.baseURL), { ...request, replyForm });
    // V2 sends no files of this type, and rejects the request itself.
    const asText = { ...request, turns: request.turns.map(({ role, content }) => ({ role, content })) };
    await partsOf(create(server.baseURL), asText);
    const bodies = server.exchanges.map(({ body }) => body);
    expect(bodies.length).toBeGreaterThan(0);
    for (const body of bodies) {
      expect(hasHalf(body)).toBe(false);
      expect(JSON.stringify(body)).toContain(WHOLE);
    }
  });

  it('is replaced in texts for embeddings, and in the arguments of an MCP tool', async () => {
    const server = await chatServer(({ body, response }) =>
      respondWithJson(response, 200, { data: [{ index: 0, embedding: [hasHalf(body) ? 1 : 0] }] }),
    );
    const embeddings = openaiEmbeddings({ apiKey: 'k', baseURL: server.baseURL });
    expect(await embeddings.embed([HALF], { signal: new AbortController().signal })).toEqual([[0]]);
    const { url } = await mcpHttpServer(
      oneToolServer(({ id, params }, response) =>
        sendMessage(response, { id, result: { content: [{ type: 'text', text: JSON.stringify(params) }] } }),
      ),
    );
    const connection = await connectUntilTestEnds({ name: 'h', url });
    expect(JSON.parse(await callTool(connection, 'work', { q: HALF })).arguments).toEqual({ q: WHOLE });
  });

  it('is replaced in the prompt of any other model', async () => {
    const model = scriptedModel({ output: [{ text: HALF }, { a: HALF }] });
    const output = createStructuredOutput({ model, schema: z.object({ a: z.string() }), system: HALF, prompt: HALF });
    expect(await output.value).toEqual({ a: HALF });
    expect(hasHalf(model.calls.map(({ turns }) => turns))).toBe(false);
  });

  it.each(['the request', 'a reply', 'a tool result'])(
    'in %s does not end its run, nor later turns of the session',
    async (where) => {
      const server = await chatServer(({ body, response }) => {
        if (hasHalf(body))
          return respondWithJson(response, 400, { error: { message: 'unexpected end of hex escape' } });
        const reply = { ...replies.action, ...replyTo(body) };
        const calls = [{ capability: 'look', arguments: '{}' }];
        const content = JSON.stringify(where === 'a tool result' ? { ...reply, calls } : reply);
        const text = where === 'a reply' ? content.replaceAll('It is', String.raw`It \ud83d is`) : content;
        streaming(response).end(completion(text));
      });
      const sessions = memorySessions();
      const look = { name: 'look', description: 'Looks.', arguments: z.object({}), execute: () => HALF };
      const chain = createPostChain({
        model: openaiModel({ model: 'm', apiKey: 'k', baseURL: server.baseURL, nativeTools: false }),
        capabilities: [look],
        sessions,
        limits: { backoffBaseMs: 0 },
      });
      for (const turn of [1, 2, 3]) {
        const text = where === 'the request' ? `Is it so? ${HALF}` : 'Is it so?';
        const answer = await chain.run({ request: text, sessionId: 's' }).answer;
        expect(answer.status, `turn ${turn}`).toBe('completed');
      }
      const stored = await sessions.recall('s', { turns: 9, signal: new AbortController().signal });
      expect(stored).toHaveLength(3);
      expect(hasHalf(stored)).toBe(false);
      expect(hasHalf(server.exchanges.map(({ body }) => body))).toBe(false);
    },
  );
});
