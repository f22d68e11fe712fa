import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type JsonSchema, jsonSchemaOf } from '../../../src/internal/standard-schema.ts';
import { unknownKeyFinder } from '../../../src/tools/unknown-key.ts';
import { sampleSize } from '../../support/soak.ts';

/** The same schema twice: plain objects drop unknown keys, strict objects reject them. */
interface Pair {
  readonly plain: z.ZodType;
  readonly strict: z.ZodType;
}

const both = (make: (side: keyof Pair) => z.ZodType): Pair => ({ plain: make('plain'), strict: make('strict') });
const keys = fc.constantFrom('a', 'b', 'c');

const { pair: pairs } = fc.letrec<{ pair: Pair; object: Pair; leaf: Pair }>((tie) => ({
  leaf: fc.constantFrom(
    ...[z.string(), z.int(), z.boolean(), z.null(), z.literal('x'), z.literal(1), z.enum(['x', 'y']), z.any()].map(
      (schema) => both(() => schema),
    ),
  ),
  object: fc
    .tuple(fc.dictionary(keys, fc.tuple(tie('pair'), fc.boolean()), { maxKeys: 3 }), fc.boolean())
    .map(([members, isLoose]) =>
      both((side) => {
        const shape = Object.fromEntries(
          Object.entries(members).map(([key, [member, isOptional]]) => [
            key,
            isOptional ? member[side].optional() : member[side],
          ]),
        );
        if (isLoose) return z.looseObject(shape);
        return side === 'plain' ? z.object(shape) : z.strictObject(shape);
      }),
    ),
  pair: fc.oneof(
    { depthSize: 'small', maxDepth: 4 },
    tie('leaf'),
    tie('object'),
    tie('object').map((one) => both((side) => one[side].nullable())),
    tie('pair').map((one) => both((side) => z.array(one[side]))),
    tie('pair').map((one) => both((side) => z.record(z.string(), one[side]))),
    fc
      .array(tie('pair'), { minLength: 2, maxLength: 3 })
      .map((all) => both((side) => z.union(all.map((one) => one[side])))),
  ),
}));

const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 4 },
    fc.constantFrom('x', 'y', 1, 2, true, null),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), tie('value'), { maxKeys: 3 }),
    fc.array(tie('value'), { maxLength: 2 }),
  ),
}));

/** A schema of an object whose member `a` is an object with members of these types, all of them required. */
function inA(members: Readonly<Record<string, string>>): object {
  const properties = Object.fromEntries(Object.entries(members).map(([name, type]) => [name, { type }]));
  return { type: 'object', properties: { a: { type: 'object', properties, required: Object.keys(members) } } };
}

/** A value that usually matches the plain schema, with an additional key here and there. */
function fitting(schema: z.ZodType, pick: (below: number) => number): unknown {
  const { def } = schema as unknown as { def: Record<string, unknown> & { type: string } };
  switch (def.type) {
    case 'object': {
      const members = Object.entries((def['shape'] ?? {}) as Record<string, z.ZodType>)
        .filter(([, member]) => member.def.type !== 'optional' || pick(2) === 0)
        .map(([key, member]): [string, unknown] => [key, fitting(member, pick)]);
      if (pick(3) === 0) members.push([['a', 'b', 'c', 'd'][pick(4)] ?? 'd', 1]);
      return Object.fromEntries(members);
    }
    case 'array':
      return Array.from({ length: pick(3) }, () => fitting(def['element'] as z.ZodType, pick));
    case 'record':
      return Object.fromEntries(
        ['k', 'l'].slice(pick(3)).map((key) => [key, fitting(def['valueType'] as z.ZodType, pick)]),
      );
    case 'union': {
      const options = def['options'] as z.ZodType[];
      return fitting(options[pick(options.length)] as z.ZodType, pick);
    }
    case 'optional':
    case 'nullable':
      return def.type === 'nullable' && pick(3) === 0 ? null : fitting(def['innerType'] as z.ZodType, pick);
    case 'enum':
      return 'y';
    case 'literal':
      return (def['values'] as unknown[])[0];
    default:
      return { string: 'x', number: 2, boolean: true, null: null, any: { z: 1 } }[def.type];
  }
}

describe('the search for an unknown key', () => {
  const values = fc.oneof(
    value.map((given) => () => given),
    fc.infiniteStream(fc.nat(59)).map(picking),
  );

  it('[R5] finds one exactly if zod’s strict objects reject what its plain objects accept, with any nesting of unions', () => {
    const seen = { fits: 0, unknown: 0 };
    fc.assert(
      fc.property(pairs, values, ({ plain, strict }, make) => {
        const one = make(plain);
        fc.pre(plain.safeParse(one).success);
        const fits = strict.safeParse(one).success;
        seen[fits ? 'fits' : 'unknown'] += 1;
        expect(unknownKeyFinder(jsonSchemaOf(plain))(one) === null).toBe(fits);
      }),
      { numRuns: sampleSize('values with unknown keys', 600, 20_000) },
    );
    expect(Math.min(seen.fits, seen.unknown)).toBeGreaterThan(20);
  });

  it('[R5] finds none in a value that zod’s strict objects accept, with any nesting of unions', () => {
    fc.assert(
      fc.property(pairs, values, ({ plain, strict }, make) => {
        const one = make(plain);
        fc.pre(strict.safeParse(one).success);
        expect(unknownKeyFinder(jsonSchemaOf(plain))(one)).toBeNull();
      }),
      { numRuns: sampleSize('values without unknown keys', 300, 10_000) },
    );
  });

  it('[R5] reports a key that the value has and that is not a known key', () => {
    fc.assert(
      fc.property(pairs, value, ({ plain }, one) => {
        const found = unknownKeyFinder(jsonSchemaOf(plain))(one);
        if (found === null) return;
        const holder = found.path
          .slice(0, -1)
          .reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown>)[key], one);
        expect(Object.keys(holder as object)).toContain(found.path.at(-1));
        expect(found.known).not.toContain(found.path.at(-1));
      }),
      { numRuns: sampleSize('values of any kind', 300, 10_000) },
    );
  });

  it.each<[string, object, object, string | null]>([
    [
      'a nested type decides the alternative',
      { anyOf: [inA({ b: 'string' }), inA({ c: 'string' })] },
      { a: { b: '', c: '' } },
      'c',
    ],
    [
      'an alternative admits the key at depth',
      { oneOf: [inA({ b: 'string' }), inA({ b: 'string', c: 'string' })] },
      { a: { b: '', c: '' } },
      null,
    ],
    [
      'no part of allOf names the key',
      { allOf: [inA({ b: 'string' }), { properties: { d: {} } }] },
      { a: {}, e: 1 },
      'e',
    ],
    [
      'a part of allOf names the key',
      { allOf: [inA({ b: 'string' }), { properties: { d: {} } }] },
      { a: {}, d: 1 },
      null,
    ],
    [
      'a reference inside a choice',
      { anyOf: [{ $ref: '#/$defs/one' }, { type: 'null' }], $defs: { one: inA({}) } },
      { a: {}, b: 1 },
      'b',
    ],
    [
      'a choice inside allOf',
      { allOf: [{ anyOf: [inA({}), inA({ c: 'string' })] }, inA({ b: 'string' })] },
      { a: { b: '', d: '' } },
      'd',
    ],
    ['an alternative accepts anything', { anyOf: [inA({}), {}] }, { z: 1 }, null],
  ])('is as strict as the alternatives that match: %s', (_, schema, one, key) => {
    expect(unknownKeyFinder(schema as JsonSchema)(one)?.path.at(-1) ?? null).toBe(key);
  });

  it('supports references and the keywords of newer drafts', () => {
    const find = unknownKeyFinder({
      type: 'object',
      properties: {
        pair: { type: 'array', prefixItems: [{ $ref: '#/$defs/a~1b' }], items: { $ref: '#/$defs/c%20d' } },
        open: { properties: {}, unevaluatedProperties: {} },
        if: { properties: {}, if: {} },
        odd: { $ref: 'https://example.com/schema' },
        gone: { $ref: '#/$defs/gone' },
        loop: { $ref: '#/properties/loop' },
        never: false,
      },
      $defs: { 'a/b': { properties: {} }, 'c d': { properties: { a: {} } } },
    });
    for (const key of ['open', 'if', 'odd', 'gone', 'loop', 'never']) expect(find({ [key]: { any: 1 } })).toBeNull();
    expect(find({ pair: [{}, { a: 1 }] })).toBeNull();
    expect(find({ pair: [{ a: 1 }] })).toEqual({ path: ['pair', 0, 'a'], known: [] });
    expect(find({ pair: [{}, { b: 1 }] })).toEqual({ path: ['pair', 1, 'b'], known: ['a'] });
  });
});

function picking(stream: Iterable<number>): (schema: z.ZodType) => unknown {
  return (schema) => {
    const numbers = stream[Symbol.iterator]();
    return fitting(schema, (below) => (numbers.next().value as number) % below);
  };
}
