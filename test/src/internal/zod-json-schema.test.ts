import { expect, it } from 'vitest';
import { z as classic } from 'zod';
import * as z from 'zod/mini';
import { answerGradesSchema } from '../../../machines/contracts/grading.ts';
import { briefReplySchema, replySchemas } from '../../../machines/contracts/phase-io.ts';
import { wholeJsonSchema, zodJsonSchema } from '../../../src/internal/zod-json-schema.ts';

const others = {
  grading: answerGradesSchema,
  optional: z.object({ a: z.optional(z.string()).check(z.describe('A name.')), b: z.exactOptional(z.boolean()) }),
  above: z.object({ zero: z.number().check(z.gt(0), z.lt(1)) }),
  choices: z.object({ one: z.union([z.string(), z.array(z.unknown())]), all: z.any() }),
  piped: z.object({
    name: z.pipe(
      z.string(),
      z.transform((name) => name.length),
    ),
  }),
  nested: z.object({
    list: z.array(z.nullable(z.enum(['x', 'y']))),
    least: z.string().check(z.minLength(2), z.maxLength(9)),
  }),
};

it.each(Object.entries({ ...replySchemas, ...others }))('converts the schema of %s as zod does', (_, schema) => {
  const { $schema, ...expected } = z.toJSONSchema(schema, { target: 'draft-07', io: 'input' });
  expect(JSON.stringify(zodJsonSchema(schema))).toBe(JSON.stringify(expected));
});

it('names the values of literals', () => {
  const { properties } = zodJsonSchema(z.object({ a: z.literal('x'), b: z.literal(['y', 2]) }));
  expect(properties).toEqual({ a: { const: 'x' }, b: { enum: ['y', 2] } });
});

it('requires every field of a whole object', () => {
  const { required, properties } = wholeJsonSchema(briefReplySchema);
  expect(required).toEqual(Object.keys(properties as object));
  expect(JSON.stringify(properties)).not.toContain('"default"');
});

it('lets a schema of zod, or a part of one, convert itself', () => {
  const when = classic.iso.date();
  expect(zodJsonSchema(classic.object({ when }))).toMatchObject({ properties: { when: { format: 'date' } } });
  expect(zodJsonSchema(classic.object({ ...replySchemas.summary.shape, when }))).toMatchObject({
    properties: { summaries: { type: 'array' }, when: { format: 'date' } },
    required: ['summaries', 'when'],
  });
});

it('names a type that it does not know', () => {
  expect(() => zodJsonSchema(z.object({ one: z.map(z.string(), z.string()) }))).toThrow(/"map" .* use JSON types/u);
});
