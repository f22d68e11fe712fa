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
  nested: z.object({
    list: z.array(z.nullable(z.enum(['x', 'y']))),
    least: z.string().check(z.minLength(2), z.maxLength(9)),
  }),
};

it.each(Object.entries({ ...replySchemas, ...others }))('converts the schema of %s as zod does', (_, schema) => {
  const { $schema, ...expected } = z.toJSONSchema(schema, { target: 'draft-07', io: 'input' });
  expect(JSON.stringify(zodJsonSchema(schema))).toBe(JSON.stringify(expected));
});

it('requires every field of a whole object', () => {
  const { required, properties } = wholeJsonSchema(briefReplySchema);
  expect(required).toEqual(Object.keys(properties as object));
  expect(JSON.stringify(properties)).not.toContain('"default"');
});

it('lets a schema of zod convert itself, and names a type of zod/mini that it does not know', () => {
  expect(zodJsonSchema(classic.object({ when: classic.iso.date() }))).toMatchObject({
    properties: { when: { format: 'date' } },
  });
  expect(() => zodJsonSchema(z.object({ one: z.map(z.string(), z.string()) }))).toThrow(
    /zod\/mini .* "map" .* use zod/u,
  );
});
