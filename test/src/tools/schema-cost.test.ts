import { expect, it } from 'vitest';
import type { JsonSchema } from '../../../src/internal/standard-schema.ts';
import { checkArguments } from '../../../src/tools/check-arguments.ts';
import { createRegistry } from '../../../src/tools/registry.ts';

/** What the arguments of a call come to, by a schema that a server gave: its validator passes all. */
function checked(jsonSchema: JsonSchema, args: object) {
  const passing = { '~standard': { version: 1, vendor: 'server', validate: (value: unknown) => ({ value }) } } as const;
  const registry = createRegistry([
    { name: 'tool', description: 'A tool.', arguments: passing, jsonSchema, execute: () => '' },
  ]);
  return checkArguments(registry, { capability: 'tool', arguments: JSON.stringify(args) });
}

const nested = (levels: number): object => (levels === 0 ? {} : { a: nested(levels - 1) });

it('references that all refer to each other cost no more than they are worth [R10]', async () => {
  const names = Array.from({ length: 40 }, (_, at) => `d${at}`);
  const anyOf = names.map((name) => ({ $ref: `#/definitions/${name}` }));
  const definitions = Object.fromEntries(names.map((name) => [name, { anyOf }]));
  const schema = { type: 'object', properties: { a: { $ref: '#/definitions/d0' } }, definitions };
  expect(await checked(schema, { a: { b: 1 } })).toMatchObject({ ok: true });
});

it('references that double on every level cost no more than they are worth [R10]', async () => {
  const doubled = (at: number) => ({ allOf: [1, 2].map(() => ({ $ref: `#/$defs/d${at + 1}` })) });
  const $defs = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`d${at}`, doubled(at)]));
  const schema = { type: 'object', $ref: '#/$defs/d0', $defs: { ...$defs, d40: { type: 'object' } } };
  expect(await checked(schema, { a: { b: 1 } })).toMatchObject({ ok: true });
});

it('a schema that refers to itself twice costs no more in a deep value [R10]', async () => {
  const self = { $ref: '#/definitions/d' };
  const definitions = { d: { type: 'object', properties: { a: { allOf: [self, self] } } } };
  const schema = { type: 'object', properties: { a: self }, definitions };
  expect(await checked(schema, nested(60))).toMatchObject({ ok: true });
});

it.each(['^(x+)+$', '^(x|x)+$', '^(x|xx){1,60}$', '^x*x*x*x*x*x*x*x*x*$', '^(x?){40}x{40}$'])(
  'the pattern %s of a server is not run on the names of arguments [R10]',
  async (pattern) => {
    const schema = { type: 'object', properties: {}, patternProperties: { [pattern]: { type: 'object' } } };
    expect(await checked(schema, { [`${'x'.repeat(60)}!`]: {} })).toMatchObject({ ok: true });
  },
);

it('a plain pattern still tells a key that is not named', async () => {
  const schema = {
    type: 'object',
    properties: {},
    patternProperties: { '^x-[a-z]+$': { type: 'string' } },
    additionalProperties: false,
  };
  expect(await checked(schema, { 'x-a': '' })).toMatchObject({ ok: true });
  expect(await checked(schema, { y: '' })).toMatchObject({ ok: false, code: 'arguments_misfit' });
});
