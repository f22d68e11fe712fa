import { describe, expect, it } from 'vitest';
import { asStandardSchema } from '../../../src/internal/check-json-schema.ts';

/** The problems of a value, each with its path. */
function problemsOf(schema: object, value: unknown): readonly string[] {
  const result = asStandardSchema(schema as Record<string, unknown>)['~standard'].validate(value);
  if (result instanceof Promise || result.issues === undefined) return [];
  return result.issues.map(({ path = [], message }) => `${path.join('.')}: ${message}`);
}

const tree = {
  $ref: '#/$defs/t',
  $defs: { t: { properties: { next: { $ref: '#/$defs/t' }, n: { type: 'integer' } } } },
};
const kind = (name: string, type: string) => ({
  type: 'object',
  properties: { kind: { const: name }, x: { type } },
  required: ['kind', 'x'],
});

describe('a JSON Schema', () => {
  it.each([
    ['type', { type: ['integer', 'null'] }, [1, 2.0, null], [1.5, '1', true, [], {}]],
    ['const and enum', { enum: [{ a: 1, b: 2 }, 'x'] }, [{ b: 2, a: 1 }, 'x'], [{ a: 1 }, 'y']],
    ['ranges', { minimum: 0, exclusiveMaximum: 1, multipleOf: 0.1 }, [0, 0.3, 'text'], [-1, 1, 0.25]],
    [
      'lengths',
      { minLength: 2, maxLength: 2, minItems: 1, maxProperties: 1 },
      ['👍👍', [1], { a: 1 }],
      ['a', [], { a: 1, b: 2 }],
    ],
    ['pattern', { pattern: '^[A-Z]{3}$' }, ['ABC', 7], ['abc', 'ABCD']],
    [
      'uniqueItems',
      { uniqueItems: true },
      [[1, '1', { a: 1 }]],
      [
        [
          { a: 1, b: 2 },
          { b: 2, a: 1 },
        ],
      ],
    ],
    ['items', { prefixItems: [{ type: 'string' }], items: { type: 'number' } }, [['a', 1]], [[1], ['a', 'b']]],
    ['a tuple as in draft 7', { items: [{ type: 'string' }], additionalItems: false }, [['a']], [['a', 1]]],
    ['contains', { contains: { const: 1 } }, [[0, 1]], [[0]]],
    [
      'members',
      { properties: { a: { type: 'number' } }, required: ['a'], additionalProperties: false },
      [{ a: 1 }],
      [{}, { a: '' }, { a: 1, b: 1 }],
    ],
    [
      'patterns of members',
      { patternProperties: { '^x': { type: 'number' } }, additionalProperties: false },
      [{ x1: 1 }],
      [{ x1: '' }, { y: 1 }],
    ],
    ['names of members', { propertyNames: { maxLength: 1 } }, [{ a: 1 }], [{ ab: 1 }]],
    ['anyOf', { anyOf: [kind('a', 'string'), kind('b', 'number')] }, [{ kind: 'b', x: 1 }], [{ kind: 'b', x: '' }]],
    ['oneOf', { oneOf: [{ type: 'number' }, { minimum: 5 }] }, [1, 'x'], [7]],
    ['allOf and not', { allOf: [{ type: 'number' }], not: { const: 3 } }, [1], [3, 'x']],
    ['if', JSON.parse('{"if":{"minimum":5},"then":{"maximum":9},"else":{"minimum":1}}'), [7, 2], [10, 0]],
    ['a recursive reference', tree, [{ next: { next: { n: 1 } } }], [{ next: { next: { n: 1.5 } } }]],
    ['true and false', { properties: { a: true, b: false } }, [{ a: 1 }], [{ b: 1 }]],
  ])('checks %s', (_, schema, valid, invalid) => {
    for (const value of valid) expect(problemsOf(schema, value), JSON.stringify(value)).toEqual([]);
    for (const value of invalid) expect(problemsOf(schema, value), JSON.stringify(value)).not.toEqual([]);
  });

  it('reports where a value is invalid, also in an alternative', () => {
    const schema = { anyOf: [kind('a', 'string'), { type: 'null' }] };
    expect(problemsOf(schema, { kind: 'a', x: 1 })).toEqual(['x: expected string; received number']);
  });

  const doubling = Object.fromEntries(
    Array.from({ length: 60 }, (_, at) => [at, { anyOf: [1, 2].map(() => ({ $ref: `#/$defs/${at + 1}` })) }]),
  );
  it.each([
    ['alternatives that double', { $ref: '#/$defs/0', $defs: { ...doubling, 60: { type: 'string' } } }, 1],
    ['a reference in all of itself', { $defs: { a: { allOf: [{ $ref: '#/$defs/a' }] } }, $ref: '#/$defs/a' }, 1],
    [
      'a long list of choices for each item',
      { items: { enum: Array.from({ length: 50_000 }, (_, at) => at) } },
      Array(500).fill(-1),
    ],
  ])('of a stranger takes bounded time: %s', (_, schema, value) => {
    expect(problemsOf(schema, value)).toHaveLength(1);
    expect(asStandardSchema(schema, { acceptsUnchecked: true })['~standard'].validate(value)).toEqual({ value });
  });

  it.each([
    ['a remote reference', { properties: { a: { $ref: 'https://nowhere.invalid/a.json' } } }],
    ['a dangling reference', { properties: { a: { $ref: '#/nowhere' } } }],
    ['pattern properties that could take long', { patternProperties: { '^(a+)+$': false } }],
  ])('does not check %s', (_, schema) => {
    expect(problemsOf(schema, { a: `${'a'.repeat(60)}!` })).toEqual([]);
  });

  it.each(['(a+)+$', '(a|a)*$', '(.*)\\1$', 'a*a*a*a*b', '['])(
    'does not match the pattern %s, which could take long',
    (pattern) => {
      expect(problemsOf({ pattern }, 'a'.repeat(400))).toEqual([]);
    },
  );
});
