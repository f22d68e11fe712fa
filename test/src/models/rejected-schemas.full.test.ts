import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { createOpenAI as createOpenAIV3 } from 'openai-v3';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { ChatModel, ModelRequest } from '../../../machines/contracts/model.ts';
import { aiSdkModel } from '../../../src/entries/ai-sdk.ts';
import { createStructuredOutput } from '../../../src/entries/index.ts';
import { isJsonNode } from '../../../src/internal/json-schema.ts';
import { openaiModel } from '../../../src/models/openai/openai-model.ts';
import { type ChatBody, pickyServer } from '../../support/chat-server.ts';
import { modelRequest, partsOf, replyOf } from '../../support/model-streams.ts';

interface SentTool {
  readonly name: string;
  readonly parameters: unknown;
  readonly strict: boolean;
}

const toolsIn = ({ tools = [] }: ChatBody): readonly SentTool[] =>
  tools.map(({ function: { name, parameters, strict = false } }) => ({ name, parameters, strict }));

function formatIn({ response_format: format }: ChatBody) {
  const { schema, strict = false } = format?.json_schema ?? {};
  return { name: schema ? (strict ? 'strict' : 'schema') : (format?.type ?? 'none'), schema };
}

/** Returns what OpenAI's strict mode does not permit in a schema, as a sentence; null if it permits all. */
function brokenRule(schema: unknown, path = '()'): string | null {
  if (Array.isArray(schema)) return schema.reduce<string | null>((found, one) => found ?? brokenRule(one, path), null);
  if (!isJsonNode(schema)) return null;
  const { properties, required, additionalProperties, type } = schema;
  if (path === '()' && type !== 'object') return 'schema must be a JSON Schema of \'type: "object"\'';
  if ('propertyNames' in schema) return `In context=${path}, 'propertyNames' is not permitted.`;
  if (type === 'object') {
    if (additionalProperties !== false)
      return `In context=${path}, 'additionalProperties' is required to be supplied and to be false.`;
    const names = Object.keys(Object(properties));
    if (!names.every((name) => (required as string[] | undefined)?.includes(name)))
      return `In context=${path}, 'required' is required to be supplied and to be an array including every key in properties.`;
  }
  if (!['type', '$ref', 'anyOf', 'enum', 'const'].some((key) => key in schema))
    return `In context=${path}, schema must have a 'type' key.`;
  const inside = [
    schema['anyOf'],
    schema['items'],
    ...Object.values(Object(properties)),
    ...Object.values(Object(schema['$defs'] ?? schema['definitions'])),
  ];
  return inside.reduce<string | null>((found, one) => found ?? brokenRule(one, "('properties', 'x')"), null);
}

type Complaint = (body: ChatBody) => string | null;

/** Names the place of the schema, as OpenAI does. */
const openai: Complaint = (body) => {
  const { name, schema } = formatIn(body);
  const rule = name === 'strict' ? brokenRule(schema) : null;
  if (rule !== null) return `Invalid schema for response_format 'x': ${rule}`;
  const tool = toolsIn(body).find(({ strict, parameters }) => strict && brokenRule(parameters) !== null);
  return tool ? `Invalid schema for function '${tool.name}': ${brokenRule(tool.parameters)}` : null;
};

/** Applies the strict rules to every schema, and says only which rule was broken. */
const bare: Complaint = (body) =>
  [formatIn(body).schema, ...toolsIn(body).map(({ parameters }) => parameters)]
    .map((schema) => (schema ? brokenRule(schema) : null))
    .find((rule) => rule !== null) ?? null;

/** Rejects `propertyNames` anywhere. */
const noNames: Complaint = (body) =>
  JSON.stringify(body).match(/"propertyNames":/u) && "'propertyNames' is not permitted";

const serverThat = (complain: Complaint, answer?: string) =>
  pickyServer((body) => {
    const message = complain(body);
    const error = { message, code: null, param: null, type: 'invalid_request_error' };
    return message === null ? null : [400, { error }];
  }, answer);

const MODELS: readonly (readonly [string, (baseURL: string) => ChatModel])[] = [
  ['openaiModel', (baseURL) => openaiModel({ model: 'm', apiKey: 'k', baseURL })],
  ['@ai-sdk/openai, V3', (baseURL) => aiSdkModel(createOpenAIV3({ baseURL, apiKey: 'k' }).chat('m'))],
  ['@ai-sdk/openai, V4', (baseURL) => aiSdkModel(createOpenAI({ baseURL, apiKey: 'k' }).chat('m'))],
  [
    '@ai-sdk/openai-compatible',
    (baseURL) => aiSdkModel(createOpenAICompatible({ name: 'x', baseURL, supportsStructuredOutputs: true })('m')),
  ],
];

const Tree = z.object({
  v: z.string(),
  get kids(): z.ZodOptional<z.ZodArray<typeof Tree>> {
    return z.optional(z.array(Tree));
  },
});

const REPLIES: readonly (readonly [string, z.ZodType, unknown, unknown])[] = [
  ['recursive', Tree, { v: 'a', kids: [{ v: 'b', kids: null }] }, { v: 'a', kids: [{ v: 'b' }] }],
  [
    'union',
    z.object({ of: z.union([z.object({ a: z.string().optional() }), z.string()]) }),
    { of: { a: null } },
    { of: {} },
  ],
  [
    'union at the root',
    z.union([z.object({ a: z.string().optional() }), z.object({ b: z.int() })]),
    { value: { a: null } },
    {},
  ],
  ['record', z.object({ of: z.record(z.string(), z.int()) }), { of: { a: 1 } }, { of: { a: 1 } }],
  ['record with named keys', z.record(z.enum(['a', 'b']), z.int()), { a: 1, b: 2 }, { a: 1, b: 2 }],
  ['loose object', z.looseObject({ a: z.int().optional() }), { a: null, b: 2 }, { b: 2 }],
  ['unknown', z.object({ any: z.unknown() }), { any: null }, { any: null }],
  [
    'member named propertyNames',
    z.object({ propertyNames: z.string() }),
    { propertyNames: 'x' },
    { propertyNames: 'x' },
  ],
];

describe.each(MODELS)('%s', (library, create) => {
  it.each(REPLIES)('reads a %s, and pays for its rejection once', async (name, schema, reply, value) => {
    for (const complain of [openai, bare]) {
      const { baseURL, bodies } = await serverThat(complain, JSON.stringify(reply));
      const model = create(baseURL);
      for (let call = 0; call < 3; call += 1) {
        const output = createStructuredOutput({ model, schema, prompt: 'x' });
        expect(await output.value).toEqual(value);
        expect(output.execution.attempts).toHaveLength(1);
      }
      // This provider marks every schema as strict.
      const isStrict = /recursive|union|member/u.test(name);
      const isAccepted = isStrict || (complain === openai && !library.endsWith('compatible'));
      expect(bodies().length, name).toBe(isAccepted ? 3 : 4);
      const texts = bodies().map((body) => JSON.stringify(body));
      expect(new Set(texts).size, 'no request is repeated as it was').toBe(isAccepted ? 1 : 2);
    }
  });

  it('sends no propertyNames, which OpenAI rejects in any schema', async () => {
    const { baseURL, bodies } = await serverThat(noNames, '{"of":{}}');
    const model = create(baseURL);
    const schema = z.object({ of: z.record(z.string(), z.string()) });
    for (let call = 0; call < 2; call += 1) await createStructuredOutput({ model, schema, prompt: 'x' }).value;
    const tools = [
      { name: 'put', description: 'Puts.', parameters: z.toJSONSchema(schema) as ModelRequest['outputSchema'] },
    ];
    expect(replyOf(await partsOf(model, modelRequest({ tools }))).calls).toHaveLength(1);
    expect(bodies()).toHaveLength(3);
    expect(formatIn(bodies()[2] ?? {}).name).not.toBe('json_object');
  });

  it('does not mistake a property name for a tool name', async () => {
    const message =
      "Invalid schema for response_format 'x': In context=('properties', 'find'), schema must have a type.";
    const { baseURL, bodies } = await serverThat((body) => (formatIn(body).schema ? message : null));
    const parameters = { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] };
    const tools = [{ name: 'find', description: 'Finds.', parameters }];
    expect(replyOf(await partsOf(create(baseURL), modelRequest({ tools }))).calls).toHaveLength(1);
    expect(toolsIn(bodies().at(-1) ?? {})).toEqual(toolsIn(bodies()[0] ?? {}));
  });

  it.each(['text', 'tool-call'] as const)(
    'keeps all tools if the server rejects the schema of one (%s)',
    async (replyForm) => {
      const disliked = { type: 'object', properties: { q: { type: 'string', format: 'x-odd' } }, required: ['q'] };
      const liked = { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] };
      const tools = [
        ['odd', disliked],
        ['even', liked],
      ].map(([name, parameters]) => ({ name: String(name), description: 'd', parameters: Object(parameters) }));
      const isOdd = (tool: SentTool) => tool.name === 'odd' && JSON.stringify(tool.parameters).includes('"q"');
      for (const complain of [
        (body: ChatBody) => (toolsIn(body).some(isOdd) ? "Invalid schema for function 'odd': format?" : null),
        (body: ChatBody) =>
          toolsIn(body).some(isOdd)
            ? `tools.${toolsIn(body).findIndex(isOdd)}.custom.input_schema: JSON schema is invalid`
            : null,
      ]) {
        const { baseURL, bodies } = await serverThat(complain);
        const model = create(baseURL);
        const copies = () => modelRequest({ replyForm, tools: structuredClone(tools) });
        for (let call = 0; call < 2; call += 1)
          expect(replyOf(await partsOf(model, copies())).calls[0]?.name).toBe('even');
        const last = bodies().at(-1) ?? {};
        expect(bodies().length).toBeLessThanOrEqual(4);
        expect(toolsIn(last).map(({ name }) => name)).toEqual(expect.arrayContaining(['odd', 'even']));
        const even = (body: ChatBody | undefined) => toolsIn(body ?? {}).find(({ name }) => name === 'even');
        expect(even(last), 'the other tool is sent as ever').toEqual(even(bodies()[0]));
        expect(JSON.stringify(last.messages)).toContain('The arguments of odd must match this JSON Schema');
      }
    },
  );
});

it('a provider’s warning about a tool’s schema does not change how the reply’s schema is sent', async () => {
  const { baseURL, bodies } = await serverThat(() => null, '{"response":"x"}');
  const parameters = { type: 'object', properties: { q: { type: 'string', pattern: '^(?!x)' } }, required: ['q'] };
  const warnings: string[] = [];
  const model = aiSdkModel(createOpenAI({ baseURL, apiKey: 'k' }).chat('m'), {
    onWarning: (warning) => void warnings.push(warning),
  });
  await partsOf(model, modelRequest({ tools: [{ name: 'find', description: 'Finds.', parameters }] }));
  await partsOf(model);
  expect(warnings).toEqual([expect.stringContaining('regex lookaround')]);
  expect(bodies().map((body) => formatIn(body).name)).toEqual(['strict', 'strict']);
});
