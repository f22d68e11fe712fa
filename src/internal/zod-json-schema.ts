import * as z from 'zod/mini';
import type { JsonSchema } from './standard-schema.ts';

/** Returns the schema of an object that has every field, also those with a default. */
export function wholeJsonSchema(schema: z.core.$ZodType): JsonSchema {
  const { $schema: _, ...converted } = z.toJSONSchema(schema, {
    target: 'draft-07',
    io: 'output',
    override: ({ jsonSchema }) => {
      delete jsonSchema.default;
      if (jsonSchema.type === 'object') delete jsonSchema.additionalProperties;
    },
  });
  return converted;
}

/** Returns the input type of a zod schema as JSON Schema, draft 7; also of schemas from zod/mini, which cannot convert themselves. */
export function zodJsonSchema(schema: z.core.$ZodType): JsonSchema {
  const { $schema: _, ...converted } = z.toJSONSchema(schema, { target: 'draft-07', io: 'input' });
  return converted;
}
