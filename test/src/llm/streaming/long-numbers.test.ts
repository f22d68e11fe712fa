import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { ChatModel } from '../../../../machines/contracts/model.ts';
import { aiSdkModel } from '../../../../src/entries/ai-sdk.ts';
import { createPostChain, createStructuredOutput } from '../../../../src/entries/index.ts';
import { openaiModel } from '../../../../src/models/openai/openai-model.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { checkArguments } from '../../../../src/tools/check-arguments.ts';
import { resultText } from '../../../../src/tools/mcp/tools.ts';
import { createRegistry } from '../../../../src/tools/registry.ts';
import { chatServer, chunk, DONE, event, streaming, toolChunk } from '../../../support/chat-server.ts';
import { hasLongNumber } from '../../../support/json-text.ts';
import { callTool, connectUntilTestEnds, mcpHttpServer, oneToolServer, sendMessage } from '../../../support/mcp.ts';
import { modelRequest, partsOf, readArguments, readText, replyOf } from '../../../support/model-streams.ts';

const ID = '2512292042121000001';

const LONG = [
  ID,
  `-${ID}`,
  '9007199254740992',
  '9007199254740993.0',
  '9007199254740993e0',
  '12345678901234567.89',
  '2.512292042121000001E18',
  '1152921504606846976',
  `1${'0'.repeat(400)}`,
  '1e999',
  '1.2345678901234568e+21',
];
const SHORT = [
  '9007199254740991',
  '-9007199254740991',
  '1e22',
  '1.5E+300',
  '1.23456789012345e+25',
  '0.12345678901234567890',
  '12e-20',
  '0',
];

const PLACES: readonly (readonly [string, (number: string) => string])[] = [
  ['id', (number) => `{"id":${number}}`],
  ['id', (number) => `{ "a, \\"b": "${ID}, ${ID}" , "id" : ${number} , "c":1}`],
  ['list.1.id', (number) => `{"before":{"x":[1,{}]},"list":[{"id":1},{"id":${number}}]}`],
  ['rows.2', (number) => `{"rows":[[],"${ID}",${number}]}`],
  ['é"', (number) => `{"\\u00e9\\"":${number}}`],
];

describe('a number that would lose digits', () => {
  it.each(LONG)('(%s) in a reply is an invalid reply with its path, and never shown', async (number) => {
    for (const [path, jsonWith] of PLACES) {
      const json = jsonWith(number);
      for (const pieces of [[json], [...json], [json.slice(0, -6), json.slice(-6)]])
        for (const read of [await readText('So: ', ...pieces), await readArguments(...pieces)]) {
          expect(read.failure).toMatchObject({ stage: 'schema', code: 'invalid_reply', issues: [{ path }] });
          expect(read.failure?.issues[0]?.message).toMatch(/ write it as a string: "/u);
          expect(read.value).toBeNull();
          expect(read.partials.filter(hasLongNumber)).toEqual([]);
        }
    }
  });

  it.each(LONG)('(%s) in arguments is refused with its path and advice, or becomes its exact text', async (number) => {
    const any = z.any();
    for (const [path, jsonWith] of PLACES) {
      const json = jsonWith(number);
      const fitting = (leaf: z.ZodType): z.ZodType => {
        const shape = z.record(z.string(), leaf);
        return path.startsWith('list')
          ? z.looseObject({ list: z.array(shape) })
          : path.startsWith('rows')
            ? z.looseObject({ rows: z.tuple([any, any, leaf]) })
            : shape;
      };
      expect(await checkedBy(fitting(z.number().or(z.object({}))), json)).toMatchObject({
        ok: false,
        code: 'arguments_misfit',
        problem: expect.stringMatching(new RegExp(`^${path}: .* write it as a string: "`, 'u')),
      });
      for (const leaf of [any, any.or(z.number()), z.union([z.number(), z.string(), z.object({})])])
        expect(await checkedBy(fitting(leaf), json)).toMatchObject(
          String(Number(number)) === number
            ? { ok: false }
            : {
                ok: true,
                arguments: JSON.parse(
                  json.replace(new RegExp(`${number.replace(/[.+]/gu, '\\$&')}(?=[ }\\]])`, 'u'), `"${number}"`),
                ),
              },
        );
    }
  });

  it.each(SHORT)('is not %s', async (number) => {
    for (const [, jsonWith] of PLACES) {
      const json = jsonWith(number);
      for (const read of [await readText(...json), await readArguments(json)]) {
        expect(read.failure).toBeNull();
        expect(read.value).toEqual(JSON.parse(json));
        expect(read.partials.at(-1)).toEqual(JSON.parse(json));
      }
    }
  });

  it.each([
    ['a reference', { $ref: '#/$defs/id' }, false],
    ['a reference to itself', { $ref: '#/$defs/self' }, false],
    ['a nullable text', { anyOf: [{ type: 'null' }, { type: 'string' }] }, true],
    ['a nullable number', { type: ['null', 'number'] }, false],
    ['all of two', { allOf: [{ type: ['string', 'number'] }, { type: 'number' }] }, false],
    ['texts or numbers', { type: ['integer', 'string'] }, true],
    ['numbers to choose from', { enum: [1, 2] }, false],
    ['texts to choose from', { enum: [1, ID] }, true],
    ['nothing that the schema says', {}, true],
  ])('becomes text only if the JSON Schema allows it: %s (%#)', async (_, id, isText) => {
    const jsonSchema = {
      type: 'object',
      properties: { id },
      $defs: { id: { type: 'number' }, self: { $ref: '#/$defs/self' } },
    };
    expect(await checkedBy(z.any(), `{"id":${ID}}`, jsonSchema)).toMatchObject(
      isText ? { arguments: { id: ID } } : { ok: false },
    );
  });

  it('at the root, and in a list whose items are read one by one, is refused', async () => {
    expect((await readArguments(ID)).failure).toMatchObject({ code: 'invalid_reply', issues: [{ path: '' }] });
    const model = scriptedModel({
      rows: [{ text: `[{"id":1},{"id":${ID}},{"id":3}]` }, { text: `[{"id":1},{"id":"${ID}"}]` }],
    });
    const Row = z.object({ id: z.union([z.number(), z.string()]) });
    const rows = createStructuredOutput({ model, schema: z.array(Row), name: 'rows', prompt: 'x' });
    const seen: unknown[] = [];
    for await (const update of rows.elements) seen.push(update.type === 'element' ? update.value : update.type);
    expect(seen).toEqual([{ id: 1 }, 'reset', { id: 1 }, { id: ID }]);
    expect(JSON.stringify(model.calls[1]?.turns)).toContain(`write it as a string: \\"${ID}\\"`);
  });
});

/** Models that call the tool `look` with these arguments. */
const CALLERS: readonly (readonly [string, (args: string) => Promise<ChatModel>])[] = [
  ['openaiModel', async (args) => modelOn(await serverThatCalls(JSON.stringify(args)))],
  ['openaiModel, parsed by the server', async (args) => modelOn(await serverThatCalls(args))],
  ['aiSdkModel', async (args) => aiSdkModel(languageModelThatCalls(args))],
  ['aiSdkModel, parsed by the provider', async (args) => aiSdkModel(languageModelThatCalls(JSON.parse(args)))],
];

const modelOn = (baseURL: string): ChatModel => openaiModel({ model: 'm', apiKey: 'k', baseURL });

async function serverThatCalls(json: string): Promise<string> {
  const call = event(toolChunk({ index: 0, id: 'a', function: { name: 'look', arguments: 'ARGUMENTS' } }));
  const reply = call.replace('"ARGUMENTS"', json) + event(chunk({}, 'tool_calls')) + DONE;
  return (await chatServer(({ response }) => void streaming(response).end(reply))).baseURL;
}

function languageModelThatCalls(input: unknown) {
  const call = { type: 'tool-call', toolCallId: 'a', toolName: 'look', input };
  const finish = { type: 'finish', finishReason: { unified: 'tool-calls', raw: 'x' }, usage: {} };
  const doStream = async () => ({ stream: ReadableStream.from([call, finish]) as ReadableStream });
  return { specificationVersion: 'v4' as const, provider: 'p', modelId: 'm', doStream };
}

it.each(CALLERS)('a native call with a long number of %s never runs with another number', async (caller, create) => {
  const tools = [{ name: 'look', description: 'Looks.', parameters: { type: 'object' } }];
  const { calls } = replyOf(await partsOf(await create(`{"id":${ID}}`), modelRequest({ tools })));
  expect(calls).toHaveLength(1);
  const json = calls[0]?.arguments;
  for (const id of [z.number(), z.int(), z.coerce.number()])
    expect(await checkedBy(z.object({ id }), json)).toMatchObject({
      problem: expect.stringMatching(/^id: .* as a string/u),
    });
  for (const id of [z.any(), z.union([z.string(), z.number()]), z.coerce.string(), z.string()])
    expect(await checkedBy(z.object({ id }), json)).toMatchObject(
      // The digits that a server or provider rounded are lost.
      caller.includes('parsed') ? { ok: false } : { ok: true, arguments: { id: ID } },
    );
});

describe('a capability loop', () => {
  it('runs calls whose ids differ only in their last digits, each with its own', async () => {
    const ran: unknown[] = [];
    const execute = (args: unknown) => void ran.push(args);
    const look = { name: 'look', description: 'Looks.', arguments: z.object({ id: z.string() }), execute };
    const ids = ['1', '2', '3', '4'].map((digit) => `${ID.slice(0, -1)}${digit}`);
    const [first, ...others] = ids.map((id) => [{ capability: 'look', arguments: `{"id":${id}}` }]);
    const continuation = others.map((next) => ({ done: false, finalOutput: null, next }));
    const model = scriptedModel(
      {
        action: [{ ...replies.action, calls: first }],
        continuation: [...continuation, { done: true, finalOutput: 'x', next: [] }],
      },
      { otherwise: replies },
    );
    const limits = { maxSameCalls: 1 };
    await createPostChain({ model, capabilities: [look], continuation: 'model', limits }).run({ request: 'x' }).answer;
    expect(ran).toEqual(ids.map((id) => ({ id })));
  });
});

describe('an MCP tool', () => {
  it('receives exact text where its schema allows it, and a rounded number in structured content is marked', async () => {
    const schema = { type: 'object', properties: { id: { type: ['integer', 'string'] }, n: { type: 'integer' } } };
    const work = oneToolServer(({ id, params }, response) =>
      sendMessage(response, { id, result: { content: [{ type: 'text', text: JSON.stringify(params) }] } }),
    );
    const { url } = await mcpHttpServer((message, response, request) => {
      if (message.method !== 'tools/list') return work(message, response, request);
      sendMessage(response, { id: message.id, result: { tools: [{ name: 'work', inputSchema: schema }] } });
    });
    const connection = await connectUntilTestEnds({ name: 'h', url });
    const registry = createRegistry(connection.capabilities);
    const check = (json: string) => checkArguments(registry, { capability: 'h_work', arguments: json });
    expect(await check(`{"n":${ID}}`)).toMatchObject({ ok: false, problem: expect.stringMatching(/^n: /u) });
    expect(await check(`{"id":${ID}}`)).toEqual({ ok: true, arguments: { id: ID } });
    expect(await callTool(connection, 'work', { id: ID })).toContain(`"${ID}"`);
    const structured = resultText({ content: [], structuredContent: JSON.parse(`{"a":{"id":${ID}}}`) });
    expect(structured).toMatch(/\n\[.*such as a\.id, may be rounded\]$/u);
  });
});

function checkedBy(schema: z.ZodType, json: unknown, jsonSchema?: object) {
  const tool = {
    name: 't',
    description: 't',
    arguments: schema,
    ...(jsonSchema && { jsonSchema: { ...jsonSchema } }),
    execute: () => '',
  };
  return checkArguments(createRegistry([tool]), { capability: 't', arguments: json });
}
