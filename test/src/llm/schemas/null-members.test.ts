import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { outputShape } from '../../../../src/llm/schemas/output-shape.ts';

const Person = z.object({
  name: z.string(),
  nick: z.string().optional(),
  role: z.string().default('guest'),
  note: z.string().nullish(),
  boss: z.string().nullable(),
  homes: z.array(z.object({ city: z.string().optional(), since: z.int().nullable() })).optional(),
  pet: z.object({ age: z.number().optional() }).nullable().optional(),
});
const shape = outputShape(Person, 'person');

describe('an optional member sent as null', () => {
  it('counts as omitted, and null is kept where it is allowed', async () => {
    const given = {
      name: 'Ada',
      nick: null,
      role: null,
      note: null,
      boss: null,
      homes: [{ city: null, since: null }],
      pet: { age: null },
    };
    const before = structuredClone(given);
    expect(await shape.validate(shape.unwrap(given))).toEqual({
      ok: true,
      value: { name: 'Ada', role: 'guest', note: null, boss: null, homes: [{ since: null }], pet: {} },
    });
    expect(given).toEqual(before);
  });

  it('is an error if the member is required', async () => {
    expect(await shape.validate(shape.unwrap({ name: null, boss: null }))).toMatchObject({
      ok: false,
      failure: { stage: 'schema', issues: [{ path: 'name' }] },
    });
  });

  const Tree = z.object({
    v: z.string(),
    get kids(): z.ZodOptional<z.ZodArray<typeof Tree>> {
      return z.optional(z.array(Tree));
    },
  });
  const Shape = z.discriminatedUnion('is', [
    z.object({ is: z.literal('circle'), r: z.number().optional(), label: z.string().optional() }),
    z.object({ is: z.literal('square'), r: z.number().nullable(), label: z.string() }),
  ]);
  const loose = z.looseObject({ a: z.string().optional() });

  it.each<[string, z.ZodType, unknown, unknown]>([
    [
      'a recursive schema',
      Tree,
      {
        v: 'a',
        kids: [
          { v: 'b', kids: null },
          { v: 'c', kids: [{ v: 'd', kids: null }] },
        ],
      },
      { v: 'a', kids: [{ v: 'b' }, { v: 'c', kids: [{ v: 'd' }] }] },
    ],
    ['a list of a recursive schema', z.array(Tree), [{ v: 'a', kids: null }], [{ v: 'a' }]],
    [
      'a union of an object and a text',
      z.object({ of: z.union([loose, z.string()]) }),
      { of: { a: null } },
      { of: {} },
    ],
    [
      'a discriminated union',
      z.object({ of: Shape }),
      { of: { is: 'circle', r: null, label: null } },
      { of: { is: 'circle' } },
    ],
    [
      'a discriminated union, where one of them accepts null',
      z.array(Shape),
      [
        { is: 'square', r: null, label: 'x' },
        { is: 'circle', r: 1, label: null },
      ],
      [
        { is: 'square', r: null, label: 'x' },
        { is: 'circle', r: 1 },
      ],
    ],
    [
      'a union told apart by types',
      z.object({
        of: z.union([
          z.object({ a: z.string(), b: z.int().optional() }),
          z.object({ a: z.boolean(), b: z.int().nullable() }),
        ]),
      }),
      { of: { a: true, b: null } },
      { of: { a: true, b: null } },
    ],
    [
      'a union told apart by members',
      z.union([
        z.object({ x: z.string().optional(), y: z.string().optional() }),
        z.object({ x: z.string().nullable() }),
      ]),
      { value: { x: null, y: null } },
      {},
    ],
    ['an optional union', z.object({ of: z.union([z.string(), z.int()]).optional() }), { of: null }, {}],
    ['a record', z.record(z.string(), z.object({ a: z.string().optional() })), { k: { a: null } }, { k: {} }],
    ['a loose object', loose, { a: null, other: null }, { other: null }],
    [
      'an unknown member',
      z.object({ any: z.unknown(), a: z.string().optional() }),
      { any: null, a: null },
      { any: null },
    ],
    [
      'the end of a tuple',
      z.object({ of: z.tuple([z.string(), z.number().optional(), z.string().optional()]) }),
      { of: ['x', null, null] },
      { of: ['x'] },
    ],
    [
      'a tuple in a union in a record',
      z.record(z.string(), z.union([z.tuple([z.string(), z.number().optional()]), z.int()])),
      { k: ['x', null] },
      { k: ['x'] },
    ],
    [
      'a tuple that ends in a null of its own',
      z.object({ of: z.tuple([z.string(), z.number().nullable().optional()]) }),
      { of: ['x', null] },
      { of: ['x', null] },
    ],
    ['a tuple', z.object({ of: z.tuple([loose, z.string()]) }), { of: [{ a: null }, 'x'] }, { of: [{}, 'x'] }],
    [
      'an intersection',
      z.object({ of: z.intersection(loose, z.object({ b: z.int().optional(), c: z.null() })) }),
      { of: { a: null, b: null, c: null } },
      { of: { c: null } },
    ],
    [
      'a named definition that accepts null',
      z.object({
        a: z.string().nullable().meta({ id: 'MaybeText' }).optional(),
        b: z.string().meta({ id: 'Text' }).optional(),
      }),
      { a: null, b: null },
      { a: null },
    ],
  ])('counts as omitted in %s', async (_, schema, given, expected) => {
    const shape = outputShape(schema, 'x');
    expect(await shape.validate(shape.unwrap(given))).toEqual({ ok: true, value: expected });
  });

  it('takes linear time if alternatives could take exponential time', () => {
    const $defs = {
      node: {
        type: 'object',
        properties: { a: { type: 'string' }, next: { anyOf: [1, 2, 3].map(() => ({ $ref: '#/$defs/node' })) } },
      },
    };
    const deep = Array.from({ length: 100 }).reduce((next) => ({ a: null, next }), {});
    const { unwrap } = outputShape(z.any(), 'x', { ...$defs.node, $defs });
    expect(unwrap(deep)).toEqual(deep);
    const $bomb = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [`d${at}`, { allOf: [1, 2].map(() => ({ $ref: `#/$defs/d${at + 1}` })) }]),
    );
    expect(
      outputShape(z.any(), 'x', {
        type: 'object',
        properties: { a: { type: 'string' } },
        $ref: '#/$defs/d0',
        $defs: { ...$bomb, d40: $defs.node },
      }).unwrap({ a: null }),
    ).toEqual({ a: null });
  });

  it('leaves every other member unchanged', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        const kept = outputShape(z.object({ a: z.unknown(), b: z.object({}).optional() }), 'x').unwrap(
          JSON.parse(text),
        );
        const { b, ...wanted } = Object(JSON.parse(text)) as { b?: unknown };
        if (typeof value !== 'object' || value === null || Array.isArray(value)) expect(kept).toEqual(JSON.parse(text));
        else expect(kept).toEqual(b === null || b === undefined ? wanted : { ...wanted, b });
      }),
    );
  });
});
