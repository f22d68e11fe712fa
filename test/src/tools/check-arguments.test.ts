import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, it, test } from 'vitest';
import * as z from 'zod';
import type { Capability } from '../../../src/tools/capability.ts';
import { checkArguments } from '../../../src/tools/check-arguments.ts';
import { createRegistry } from '../../../src/tools/registry.ts';

const registryOf = (schema: Capability['arguments']) =>
  createRegistry([{ name: 'work', description: 'Works.', arguments: schema, execute: () => '' }]);

const check = (schema: Capability['arguments'], text: unknown, capability: unknown = 'work') =>
  checkArguments(registryOf(schema), { capability, arguments: text });

const place = z.object({ city: z.string(), at: z.object({ lat: z.number(), lon: z.number() }).optional() });

describe('resolving a call', () => {
  test.each<[unknown, string]>([
    [undefined, 'missing_name'],
    [null, 'missing_name'],
    [7, 'missing_name'],
    ['', 'empty_name'],
    [' \n', 'empty_name'],
    ['play', 'unknown_capability'],
    ['Work', 'unknown_capability'],
    ['__proto__', 'unknown_capability'],
    ['toString', 'unknown_capability'],
    ['\u001b[2J\u202e', 'unknown_capability'],
  ])('[R5] rejects the name %j: %s', async (name, code) => {
    const found = await checkArguments(registryOf(place), { capability: name, arguments: '{"city":"Bergen"}' });
    expect(found).toMatchObject({ ok: false, code, problem: expect.stringMatching(/^[^\p{C}]+$/u) });
  });

  test('[R5] lists the known capabilities, up to a limit', async () => {
    const many = Array.from({ length: 30 }, (_, at) => ({
      name: `tool${at}`,
      description: 'x',
      arguments: place,
      execute: () => '',
    }));
    const found = await checkArguments(createRegistry(many), { capability: 'tool', arguments: '{}' });
    expect(found).toMatchObject({
      problem: expect.stringMatching(/"tool"; expected one of: tool0, .*tool26, 10 more$/),
    });
    expect(await checkArguments(createRegistry([]), { capability: 'a' })).toMatchObject({
      problem: 'unknown capability "a"; expected one of: none',
    });
  });
});

describe('the arguments of a call', () => {
  test('[R2] are returned as parsed: defaults and transformations apply when the capability runs', async () => {
    const schema = z.object({ on: z.iso.date().transform((text) => new Date(text)), days: z.int().default(1) });
    expect(await check(schema, ' {"on":"2024-01-02"}\n')).toEqual({ ok: true, arguments: { on: '2024-01-02' } });
  });

  test('[Q2] have no -0: people who approve them see 0', async () => {
    const schema = z.object({ n: z.number(), id: z.string(), text: z.string() });
    const found = await check(schema, '{"n":-0,"id":12345678901234567890,"text":"-0"}');
    expect(found).toEqual({ ok: true, arguments: { n: 0, id: '12345678901234567890', text: '-0' } });
  });

  test('[R2] may be omitted if none are required', async () => {
    for (const text of ['', ' ', '{}']) expect(await check(z.object({}), text)).toEqual({ ok: true, arguments: {} });
    expect(await check(place, '')).toMatchObject({ ok: false, code: 'arguments_misfit' });
  });

  test.each<unknown>([
    'rm -rf',
    '{"city":',
    '[1]',
    '"{}"',
    'null',
    '3',
    'true',
    undefined,
    null,
    5,
    { city: 'Bergen' },
  ])('[R5] must be a JSON object: %j', async (text) => {
    expect(await check(place, text)).toMatchObject({
      ok: false,
      code: 'arguments_not_object',
      problem: expect.stringMatching(/^the arguments must be a JSON object: [^\p{C}]+$/u),
    });
  });

  test.each([
    ['in a string', '"{\\"city\\":\\"Bergen\\"}"', ['string']],
    ['in a fence', '```json\n{"city":"Bergen"}\n```', ['syntax']],
    ['nearly JSON', "{'city': 'Bergen',}", ['syntax']],
    ['in an array', '[{"city":"Bergen"}]', ['single-item']],
    ['in another object', '{"arguments":{"city":"Bergen"}}', ['wrapper']],
  ])('are found %s, and the check records how', async (_, text, repaired) => {
    expect(await check(place, text)).toEqual({ ok: true, arguments: { city: 'Bergen' }, repaired });
  });

  test.each(['null', 'None', '""'])('may be %s if the tool needs none', async (text) => {
    expect(await check(z.object({}), text)).toMatchObject({ ok: true, arguments: {} });
    expect(await check(place, text)).toMatchObject({ ok: false });
  });

  test('that may be cut, or say more than the schema, are not repaired', async () => {
    for (const text of [
      "{'city':'Bergen'",
      '{"city":"Bergen"',
      '[{"city":"Bergen","to":"Oslo"}]',
      '[{},{"city":"Bergen"}',
    ])
      expect(await check(place, text)).toMatchObject({ ok: false });
  });

  test.each<[string, string, RegExp]>([
    ['a wrong type', '{"city":7}', /^city: /],
    ['a missing required member', '{}', /^city: /],
    ['a nested wrong type', '{"city":"x","at":{"lat":"north","lon":1}}', /^at\.lat: /],
  ])('[R5] with %s are rejected with the path', async (_, text, problem) => {
    expect(await check(place, text)).toMatchObject({
      ok: false,
      code: 'arguments_misfit',
      problem: expect.stringMatching(problem),
    });
  });

  it('may be null if the member is optional, as many models write it', async () => {
    expect(await check(place, '{"city":"Bergen","at":null}')).toEqual({
      ok: true,
      arguments: { city: 'Bergen', at: null },
    });
  });

  it('[R5] are rejected if the schema throws, rejects, or returns no result', async () => {
    const odd = (validate: () => unknown): Capability['arguments'] =>
      ({
        '~standard': { version: 1, vendor: 'odd', validate, jsonSchema: { input: () => ({ type: 'object' }) } },
      }) as never;
    for (const validate of [
      () => {
        throw new Error('bad\u001b[2J rule');
      },
      () => Promise.reject(new Error('bad rule')),
      () => ({}),
      () => undefined,
      () => ({ issues: [] }),
      () => ({ issues: [{ message: 'bad\nrule', path: ['a\u0007'] }] }),
    ])
      expect(await check(odd(validate), '{}')).toMatchObject({
        code: 'arguments_misfit',
        problem: expect.stringMatching(/^[^\p{C}]+$/u),
      });
  });
});

/** A JSON Schema of a server; its own validator accepts everything. */
const ofServer = (jsonSchema: Record<string, unknown>): Capability['arguments'] =>
  ({
    '~standard': {
      version: 1,
      vendor: 'server',
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: () => ({ type: 'object', ...jsonSchema }) },
    },
  }) as never;

const text = z.string();
const allowed: [string, Capability['arguments'], unknown][] = [
  ['z.looseObject', z.looseObject({ a: text }), { a: '', b: 1 }],
  ['z.record', z.object({ by: z.record(text, z.int()) }), { by: { anything: 1 } }],
  ['catchall', z.object({ a: text }).catchall(z.int()), { a: '', b: 1 }],
  ['z.any', z.object({ a: z.any() }), { a: { b: { c: 1 } } }],
  ['z.json', z.object({ a: z.json() }), { a: { b: [{ c: 1 }] } }],
  [
    'the second of two alternatives',
    z.object({ a: z.union([z.object({ b: text }), z.object({ b: text, c: text })]) }),
    { a: { b: '', c: '' } },
  ],
  ['z.tuple', z.object({ a: z.tuple([z.looseObject({})]).rest(z.object({})) }), { a: [{ c: 1 }] }],
  [
    'both sides of an intersection',
    z.object({ a: z.object({ b: text }).and(z.object({ c: text })) }),
    { a: { b: '', c: '' } },
  ],
  ['arktype’s own', type({ a: 'string', '[string]': 'unknown' }), { a: '', b: 1 }],
  ['v.objectWithRest', toStandardJsonSchema(v.objectWithRest({ a: v.string() }, v.unknown())), { a: '', b: 1 }],
  [
    'v.intersect',
    toStandardJsonSchema(v.object({ i: v.intersect([v.object({ a: v.string() }), v.object({ b: v.string() })]) })),
    { i: { a: '', b: '' } },
  ],
];

const ofSchemas: typeof allowed = [
  ['a pattern', ofServer({ properties: {}, patternProperties: { '^(x+)+$': {} } }), { [`${'x'.repeat(60)}!`]: {} }],
  ['allOf', ofServer({ allOf: [{ properties: { a: {} } }, { properties: { b: {} } }] }), { b: 1 }],
  ['a condition', ofServer({ properties: { a: { properties: {}, if: {} } } }), { a: { b: 1 } }],
  ['a tuple of draft 2020', ofServer({ properties: { a: { prefixItems: [{}], items: false } } }), { a: [{ b: 1 }] }],
  ['an unknown reference', ofServer({ properties: { a: { $ref: 'https://example.com' } } }), { a: { b: 1 } }],
  ['a reference to itself', ofServer({ properties: { a: { $ref: '#/properties/a' } } }), { a: { b: 1 } }],
];

const extra: [string, Capability['arguments'], unknown, RegExp][] = [
  [
    'at the root',
    z.object({ city: text }),
    { city: '', citty: '' },
    /^the arguments: unknown key "citty"; expected one of: city$/,
  ],
  ['if none is known', z.object({}), { a: 1 }, /expected one of: none$/],
  ['in z.strictObject', z.strictObject({ a: text }), { a: '', b: 1 }, /"b"/],
  [
    'in a nested object',
    z.object({ a: z.object({ b: text }) }),
    { a: { b: '', c: 1 } },
    /^a: unknown key "c"; expected one of: b$/,
  ],
  [
    'in an array',
    z.object({ a: z.array(z.object({ b: text })) }),
    { a: [{ b: '' }, { b: '', c: 1 }] },
    /^a\.1: unknown key "c"/,
  ],
  ['in a record', z.object({ a: z.record(text, z.object({})) }), { a: { x: { c: 1 } } }, /^a\.x: unknown key "c"/],
  ['in an optional member', z.object({ a: z.object({}).nullish() }), { a: { c: 1 } }, /^a: unknown key "c"/],
  ['in a member with a default', z.object({ a: z.object({}).default({}) }), { a: { c: 1 } }, /^a: unknown key "c"/],
  ['next to a coerced member', z.object({ n: z.coerce.number() }), { n: '5', c: 1 }, /unknown key "c"/],
  ['next to a missing member', z.object({ city: text }), { citty: '' }, /"citty"; expected one of: city/],
  ['in a recursive schema', tree(), { left: { left: { value: 1, c: 1 } } }, /^left\.left: unknown key "c"/],
  ['with the name of an Object.prototype member', z.object({}), { toString: 1 }, /unknown key "toString"/],
  ['with control characters', z.object({}), { '\u001b[2J\n\u202ex': 1 }, /^the arguments: unknown key "\[2J x"/],
  [
    'in a definition of a server’s schema, or null',
    ofServer({
      properties: { a: { anyOf: [{ $ref: '#/$defs/b~1c' }, { type: 'null' }] } },
      $defs: { 'b/c': { properties: { d: {} } } },
    }),
    { a: { e: 1 } },
    /^a: unknown key "e"; expected one of: d$/,
  ],
  ['in arktype', type({ a: { b: 'string' } }), { a: { b: '', c: 1 } }, /^a: unknown key "c"/],
  [
    'in valibot',
    toStandardJsonSchema(v.object({ a: v.array(v.object({ b: v.string() })) })),
    { a: [{ b: '', c: 1 }] },
    /^a\.0: unknown key "c"/,
  ],
];

function tree(): z.ZodType {
  const node: z.ZodType = z.object({ value: z.int().optional(), left: z.lazy(() => node).optional() });
  return node;
}

describe('an unknown key', () => {
  test.each(extra)('[R5] is rejected: %s', async (_, schema, args, problem) => {
    expect(await check(schema, JSON.stringify(args))).toMatchObject({
      ok: false,
      code: 'arguments_misfit',
      problem: expect.stringMatching(problem),
    });
  });

  test.each([...allowed, ...ofSchemas])('[R2] is accepted if the schema allows it: %s', async (_, schema, args) => {
    expect(await check(schema, JSON.stringify(args))).toEqual({ ok: true, arguments: args });
  });

  it('[R5] is reported in one line of bounded length, for keys of any length and number', async () => {
    const names = Array.from({ length: 1_000 }, (_, at) => [`key${at}`, text] as const);
    const found = await check(z.object(Object.fromEntries(names)), JSON.stringify({ ['k'.repeat(100_000)]: 1 }));
    expect(found).toMatchObject({ ok: false, problem: expect.stringMatching(/^.{50,400}$/) });
    expect(found).toMatchObject({ problem: expect.stringContaining('key9, 990 more') });
  });
});

describe('a key that could pollute prototypes', () => {
  it.each(['__proto__', 'constructor', 'prototype'])('[R5] is rejected at any depth: %s', async (key) => {
    const open = z.looseObject({ a: z.any() });
    for (const [json, where] of [
      [`{"${key}":{"polluted":true}}`, 'the arguments'],
      [`{"a":[1,{"b":{"${key}":1}}]}`, 'a.1.b'],
    ] as const)
      expect(await check(open, json)).toEqual({
        ok: false,
        code: 'arguments_misfit',
        problem: `${where}: the key "${key}" is not allowed`,
      });
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('is accepted as a value or as part of another key', async () => {
    const args = { a: '__proto__', b: ['constructor'], constructors: 1 };
    expect(await check(z.looseObject({}), JSON.stringify(args))).toEqual({ ok: true, arguments: args });
  });
});
