import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { PostChainError } from '../../../../machines/contracts/error.ts';
import { listOf } from '../../../../src/engine/schemas/list-of.ts';
import { outputShape } from '../../../../src/engine/schemas/output-shape.ts';
import { strictSchema } from '../../../../src/models/openai/strict-schema.ts';

const caught = (work: () => unknown): PostChainError => {
  try {
    work();
  } catch (error) {
    if (error instanceof PostChainError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
};

describe('the shape of a value that is no object', () => {
  const list = outputShape(z.array(z.int()), 'numbers');

  it('is asked for as the one member of an object, as structured output and tools want one', () => {
    expect(list.isWrapped).toBe(true);
    expect(list.jsonSchema).toEqual({
      type: 'object',
      properties: { value: { type: 'array', items: expect.objectContaining({ type: 'integer' }) } },
      required: ['value'],
      additionalProperties: false,
    });
  });

  it('is found in that object, and without it where a model left it out', () => {
    expect(list.unwrap({ value: [1, 2] })).toEqual([1, 2]);
    expect(list.unwrap([1, 2])).toEqual([1, 2]);
    expect(list.unwrap({ note: 'ok', value: [1] }), 'a list can be no object').toEqual([1]);
    const either = outputShape(z.union([z.object({ value: z.int(), more: z.int() }), z.string()]), 'either');
    expect(either.unwrap({ value: 1, more: 2 })).toEqual({ value: 1, more: 2 });
    expect(either.mayBeList).toBe(true);
    expect(outputShape(z.int(), 'number').mayBeList).toBe(false);
  });

  it('is nothing while nothing of it has arrived', () => {
    expect(list.unwrapPartial({})).toBeUndefined();
    expect(list.unwrapPartial({ value: [1] })).toEqual([1]);
    expect(list.unwrapPartial([1])).toEqual([1]);
  });

  it('keeps its references: its definitions stand at the root, as strict mode wants them', () => {
    type Tree = { readonly children: readonly Tree[] };
    const tree: z.ZodType<Tree> = z.object({
      get children() {
        return z.array(tree);
      },
    });
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

  it('takes nothing for a reference that is none', () => {
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

  it('keeps them in a list made of an item that has some', () => {
    type Tree = { readonly children: readonly Tree[] };
    const tree: z.ZodType<Tree> = z.object({
      get children() {
        return z.array(tree);
      },
    });
    const text = JSON.stringify(outputShape(listOf(tree), 'trees').jsonSchema);
    expect(text).toContain('"$ref":"#/properties/value/items"');
  });
});

describe('a schema that cannot be used', () => {
  it.each([
    ['nothing', undefined],
    ['a plain object', { type: 'object' }],
    ['a text', 'string'],
  ])('is refused when it is %s', (_, schema) => {
    expect(caught(() => listOf(schema as never))).toMatchObject({ code: 'invalid_schema' });
  });

  it('is refused with a way out when it has no JSON form', () => {
    const error = caught(() => outputShape(v.object({ name: v.string() }), 'player'));
    expect(error.code).toBe('invalid_schema');
    expect(error.message).toMatch(/valibot.*toStandardJsonSchema.*jsonSchema/);
  });

  it('is refused with its reason when something in it is more than JSON Schema can say', () => {
    const error = caught(() => outputShape(z.object({ on: z.date() }), 'day'));
    expect(error).toMatchObject({ code: 'invalid_schema', cause: expect.any(Error) });
    expect(error.message).toMatch(/zod.*Date cannot be represented.*jsonSchema/);
    expect(error.message).not.toContain('\n');
  });

  it('is taken with a JSON Schema beside it', () => {
    const given = { type: 'object', properties: { name: { type: 'string' } } };
    expect(outputShape(v.object({ name: v.string() }), 'player', given).jsonSchema).toBe(given);
  });
});
