import { expect, it } from 'vitest';
import type { JsonSchema } from '../../../src/internal/standard-schema.ts';
import { checkArguments } from '../../../src/tools/check-arguments.ts';
import { createRegistry } from '../../../src/tools/registry.ts';

/** Checks arguments against a JSON Schema of a server; its validator accepts everything. */
function checked(jsonSchema: JsonSchema, args: object) {
  const passing = { '~standard': { version: 1, vendor: 'server', validate: (value: unknown) => ({ value }) } } as const;
  const registry = createRegistry([
    { name: 'tool', description: 'A tool.', arguments: passing, jsonSchema, execute: () => '' },
  ]);
  return checkArguments(registry, { capability: 'tool', arguments: JSON.stringify(args) });
}

const nested = (levels: number): object => (levels === 0 ? {} : { a: nested(levels - 1) });

it('[R10] references that all refer to each other are checked cheaply', async () => {
  const names = Array.from({ length: 40 }, (_, at) => `d${at}`);
  const anyOf = names.map((name) => ({ $ref: `#/definitions/${name}` }));
  const definitions = Object.fromEntries(names.map((name) => [name, { anyOf }]));
  const schema = { type: 'object', properties: { a: { $ref: '#/definitions/d0' } }, definitions };
  expect(await checked(schema, { a: { b: 1 } })).toMatchObject({ ok: true });
});

it('[R10] references that double on every level are checked cheaply', async () => {
  const doubled = (at: number) => ({ allOf: [1, 2].map(() => ({ $ref: `#/$defs/d${at + 1}` })) });
  const $defs = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`d${at}`, doubled(at)]));
  const schema = { type: 'object', $ref: '#/$defs/d0', $defs: { ...$defs, d40: { type: 'object' } } };
  expect(await checked(schema, { a: { b: 1 } })).toMatchObject({ ok: true });
});

it('[R10] a schema that refers to itself twice is checked cheaply with a deep value', async () => {
  const self = { $ref: '#/definitions/d' };
  const definitions = { d: { type: 'object', properties: { a: { allOf: [self, self] } } } };
  const schema = { type: 'object', properties: { a: self }, definitions };
  expect(await checked(schema, nested(60))).toMatchObject({ ok: true });
});

it('[R10] an object with patternProperties may have any key, because patterns of a server are not executed', async () => {
  const schema = { type: 'object', properties: {}, patternProperties: { '^(x+)+$': { type: 'object' } } };
  expect(await checked(schema, { [`${'x'.repeat(60)}!`]: {} })).toMatchObject({ ok: true });
});
