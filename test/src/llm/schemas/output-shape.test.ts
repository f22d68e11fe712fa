import { runInNewContext } from 'node:vm';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Failure } from '../../../../machines/contracts/failure.ts';
import { listOf } from '../../../../src/llm/schemas/list-of.ts';
import { outputShape, validate } from '../../../../src/llm/schemas/output-shape.ts';
import { strictSchema } from '../../../../src/models/openai/strict-schema.ts';
import { settle } from '../../../../src/testing/settle.ts';
import { errorOf } from '../../../support/errors.ts';

type Tree = { readonly children: readonly Tree[] };
const tree: z.ZodType<Tree> = z.object({
  get children() {
    return z.array(tree);
  },
});

describe('the shape of a value that is not an object', () => {
  const list = outputShape(z.array(z.int()), 'numbers');

  it('wraps the value as the only member of an object, as structured output and tools require', () => {
    expect(list.isWrapped).toBe(true);
    expect(list.jsonSchema).toEqual({
      type: 'object',
      properties: { value: { type: 'array', items: expect.objectContaining({ type: 'integer' }) } },
      required: ['value'],
      additionalProperties: false,
    });
  });

  it('reads the value from that object, or bare if the model omitted the object', () => {
    expect(list.unwrap({ value: [1, 2] })).toEqual([1, 2]);
    expect(list.unwrap([1, 2])).toEqual([1, 2]);
    expect(list.unwrap({ note: 'ok', value: [1] }), 'a list can be no object').toEqual([1]);
    const either = outputShape(z.union([z.object({ value: z.int(), more: z.int() }), z.string()]), 'either');
    expect(either.unwrap({ value: 1, more: 2 })).toEqual({ value: 1, more: 2 });
    expect(either.mayBeList).toBe(true);
    expect(outputShape(z.int(), 'number').mayBeList).toBe(false);
  });

  it('is undefined while nothing has arrived', () => {
    expect(list.unwrapPartial({})).toBeUndefined();
    for (const reply of [{ value: [1] }, [1]]) expect(list.unwrapPartial(reply)).toEqual([1]);
  });

  it('moves definitions to the root so that references resolve in strict mode', () => {
    const { jsonSchema } = outputShape(z.array(tree), 'trees');
    expect(strictSchema(jsonSchema), 'strict mode takes it').not.toBeNull();
    const pointers = [...JSON.stringify(jsonSchema).matchAll(/"\$ref":"#([^"]*)"/g)].map(
      ([, pointer]) => pointer ?? '',
    );
    expect(pointers.length).toBeGreaterThan(0);
    for (const pointer of pointers) {
      const target = pointer
        .split('/')
        .slice(1)
        .reduce<unknown>((node, key) => (node as Record<string, unknown>)[key], jsonSchema);
      expect(target, pointer).toBeTypeOf('object');
      expect(pointer).toMatch(/^\/(definitions|\$defs)\//);
    }
  });

  it('does not treat other values as references', () => {
    const odd = {
      type: 'array',
      items: { properties: { $ref: { const: { $ref: '#/x' } }, default: { $ref: '#' } }, default: { $ref: '#/y' } },
    };
    expect(outputShape(z.array(z.unknown()), 'odd', odd).jsonSchema).toMatchObject({
      properties: {
        value: {
          items: {
            properties: { $ref: { const: { $ref: '#/x' } }, default: { $ref: '#/properties/value' } },
            default: { $ref: '#/y' },
          },
        },
      },
    });
  });

  it('keeps references in a list of a given item schema', () => {
    const text = JSON.stringify(outputShape(listOf(tree), 'trees').jsonSchema);
    expect(text).toContain('"$ref":"#/properties/value/items"');
  });
});

describe('an unusable schema', () => {
  it.each([
    ['nothing', undefined],
    ['a plain object', { type: 'object' }],
    ['a text', 'string'],
  ])('is rejected when it is %s', (_, schema) => {
    expect(errorOf(() => listOf(schema as never))).toMatchObject({ code: 'invalid_schema' });
  });

  it('is rejected with a suggested fix when it has no JSON form', () => {
    const error = errorOf(() => outputShape(v.object({ name: v.string() }), 'player'));
    expect(error.code).toBe('invalid_schema');
    expect(error.message).toMatch(/valibot.*toStandardJsonSchema.*jsonSchema/);
  });

  it('is rejected with a reason when JSON Schema cannot express part of it', () => {
    const error = errorOf(() => outputShape(z.object({ on: z.date() }), 'day'));
    expect(error).toMatchObject({ code: 'invalid_schema', cause: expect.any(Error) });
    expect(error.message).toMatch(/zod.*Date cannot be represented.*jsonSchema/);
    expect(error.message).not.toContain('\n');
  });

  it('is accepted with an explicit JSON Schema', () => {
    const given = { type: 'object', properties: { name: { type: 'string' } } };
    expect(outputShape(v.object({ name: v.string() }), 'player', given).jsonSchema).toBe(given);
  });
});

describe('the failure of a reply that does not match its schema', () => {
  const schema = z.record(z.string(), z.int()).refine((given) => Object.keys(given).length < 5, 'too many members');

  it.each([
    [{ a: '' }, 'in one place (a).'],
    [{ a: '', b: '', c: '' }, 'in 3 places (a, b, c).'],
    [{ a: '', b: '', c: '', d: '' }, 'in 4 places (a, b, c, …).'],
    [{ ['x'.repeat(200)]: '' }, `in one place (${'x'.repeat(79)}…).`],
    [{ a: 1, b: 1, c: 1, d: 1, e: 1 }, 'in one place.'],
  ])('names the first paths of %j', (reply, places) => {
    const { failure } = outputShape(schema, 'counts').validate(reply) as { readonly failure: Failure };
    expect(failure.message).toBe(`The reply does not match the schema of "counts" ${places}`);
  });
});

/** A schema whose validation returns the result of this function. */
const schemaOf = (answer: (value: unknown) => unknown): StandardSchemaV1 => ({
  '~standard': { version: 1, vendor: 'hand', validate: answer as StandardSchemaV1['~standard']['validate'] },
});
const refused = { issues: [{ message: 'bad' }] };

/** Thenables that settle later and are not promises of this realm. */
const later: readonly [string, (value: unknown) => unknown][] = [
  // biome-ignore lint/suspicious/noThenProperty: it stands for the promises of other libraries
  ['a foreign promise', () => ({ then: (settled: (given: unknown) => void) => settled(refused) })],
  ['a promise of another realm', runInNewContext('async () => ({ issues: [{ message: "bad" }] })')],
];

describe('an asynchronous schema', () => {
  it.each(later)('[A10] with %s is awaited: what it rejects is rejected', async (_, answer) => {
    expect(await validate(schemaOf(answer), 'x', 1)).toMatchObject({ ok: false, failure: { stage: 'schema' } });
    expect(await validate(listOf(schemaOf(answer)), 'x', [1])).toMatchObject({
      ok: false,
      failure: { issues: [{ path: '0', message: 'bad' }] },
    });
  });

  it.each([[{}], [undefined], [null], [true]])(
    '[A10] that resolves to %s has not accepted the value',
    async (answer) => {
      for (const schema of [schemaOf(() => answer), schemaOf(async () => answer)])
        expect(await validate(schema, 'x', 1)).toMatchObject({ ok: false });
    },
  );

  it('in a list has all its rejections handled when some items throw and others reject', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', note);
    const item = schemaOf((value) => {
      if (value === 1) return Promise.reject(new Error('later'));
      throw new Error('at once');
    });
    expect(await validate(listOf(item), 'x', [1, 2, 1])).toMatchObject({
      ok: false,
      failure: { stage: 'transformation' },
    });
    await settle(5);
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });
});
