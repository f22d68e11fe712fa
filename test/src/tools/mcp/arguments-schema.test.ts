import { expect, it } from 'vitest';
import { loadSdk } from '../../../../src/tools/mcp/sdk.ts';
import { argumentsSchema } from '../../../../src/tools/mcp/tools.ts';

const sdk = await loadSdk();
const number = { type: 'number' };

/** Returns the validation message of the schema for a value, or null if it is valid. */
async function problem(schema: Record<string, unknown>, value: unknown): Promise<string | null> {
  const result = await argumentsSchema(sdk, { type: 'object', ...schema })['~standard'].validate(value);
  if (result.issues === undefined) expect(result.value).toBe(value);
  return result.issues?.map(({ message }) => message).join() ?? null;
}

it.each<[string, Record<string, unknown>, unknown, string | null]>([
  ['valid arguments', { properties: { a: number } }, { a: 1, b: 2 }, null],
  [
    'a wrong type',
    { properties: { a: number } },
    { a: 'x' },
    'a: Instance type "string" is invalid. Expected "number".',
  ],
  ['a missing member', { required: ['a'] }, {}, 'Instance does not have required property "a".'],
  ['not an object', {}, [], 'Instance type "array" is invalid. Expected "object".'],
  [
    'a wrong type in a recursive schema',
    { properties: { next: { $ref: '#' }, a: number } },
    { next: { next: { a: 'x' } } },
    'next/next/a: Instance type "string" is invalid. Expected "number".',
  ],
  [
    'an additional member in draft 7',
    { $schema: 'http://json-schema.org/draft-07/schema#', properties: {}, additionalProperties: false },
    { __proto__: null, b: 1 },
    'b: False boolean schema.',
  ],
])('validates arguments against the schema of the server: %s', async (_, schema, value, expected) => {
  expect(await problem(schema, value)).toBe(expected);
});

const doubling = Object.fromEntries(
  Array.from({ length: 60 }, (_, at) => [
    `d${at}`,
    { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
  ]),
);

it.each<[string, Record<string, unknown>]>([
  ['a remote reference', { properties: { a: { $ref: 'https://nowhere.invalid/a.json' } } }],
  ['a dangling reference', { properties: { a: { $ref: '#/nowhere' } } }],
  ['an old draft', { $schema: 'http://json-schema.org/draft-04/schema#', required: ['b'] }],
  ['a circle', { allOf: [{ $ref: '#' }] }],
  ['a pattern, which could backtrack exponentially', { properties: { a: { type: 'string', pattern: '^(a+)+$' } } }],
  ['pattern properties', { patternProperties: { '^(a+)+$': number } }],
  ['exponentially expanding references', { $ref: '#/$defs/d0', $defs: { ...doubling, d60: {} } }],
])('leaves validation to the server if the schema has %s', async (_, schema) => {
  expect(await problem(schema, { a: `${'a'.repeat(60)}!` })).toBeNull();
});

it('allows a member named pattern', async () => {
  expect(await problem({ properties: { pattern: number } }, { pattern: 'x' })).not.toBeNull();
});
