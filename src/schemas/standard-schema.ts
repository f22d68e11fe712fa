import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { PostChainError } from '../../machines/contracts/error.ts';
import { spell } from '../refusal.ts';
import { vendorOf } from './vendors.ts';

/** JSON Schema, draft 7. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Whether a value keeps the Standard Schema contract (https://standardschema.dev): it can validate. */
function isStandardSchema(value: unknown): value is StandardSchemaV1 {
  const standard = (value as StandardSchemaV1 | null | undefined)?.['~standard'];
  return typeof standard?.validate === 'function';
}

/**
 * What the schema takes in, as JSON Schema: told by the schema itself (Standard JSON Schema: zod 4.2, arktype 2.1.28 and newer;
 * valibot through `toStandardJsonSchema`).
 *
 * @throws PostChainError `invalid_schema` for a schema with no JSON form, or with something in it that JSON Schema cannot say.
 */
export function jsonSchemaOf(schema: StandardSchemaV1): JsonSchema {
  const { vendor, jsonSchema } = (schema as StandardSchemaV1 & Partial<StandardJSONSchemaV1>)['~standard'];
  if (typeof jsonSchema?.input !== 'function') {
    const how = vendor === 'valibot' ? 'wrap it in toStandardJsonSchema of @valibot/to-json-schema, or' : 'please';
    throw new PostChainError(
      'invalid_schema',
      `schema: got a schema of ${vendor} that has no JSON Schema form; ${how} give one as jsonSchema.`,
    );
  }
  try {
    const { $schema: _, ...told } = jsonSchema.input({
      target: 'draft-07',
      libraryOptions: vendorOf(vendor).withoutRules,
    });
    return told;
  } catch (cause) {
    const why = cause instanceof Error ? (cause.message.split('\n', 1)[0] ?? '') : String(cause);
    throw new PostChainError(
      'invalid_schema',
      `schema: ${vendor} cannot say it as JSON Schema (${why.replace(/\.$/u, '')}); use what JSON has, text for a date say, or give jsonSchema.`,
      { cause },
    );
  }
}

/** The schema of a list's items, where the list tells it: `listOf` and zod's `z.array` do. */
export function itemSchemaOf(schema: StandardSchemaV1): StandardSchemaV1 | null {
  const { element } = schema as { element?: unknown };
  return isStandardSchema(element) ? element : null;
}

/** @throws PostChainError `invalid_schema` for what is no Standard Schema. */
export function requireStandardSchema(value: unknown): asserts value is StandardSchemaV1 {
  if (isStandardSchema(value)) return;
  throw new PostChainError(
    'invalid_schema',
    `schema: got ${spell(value)}; wanted a Standard Schema: one of zod, valibot or arktype.`,
  );
}
