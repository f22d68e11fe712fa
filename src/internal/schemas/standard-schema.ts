import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { describeValue } from '../invalid-option.ts';
import { mapMaybePromise } from './map-maybe-promise.ts';
import { vendorOf } from './vendors.ts';

/** JSON Schema, draft 7. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Whether a value keeps the Standard Schema contract (https://standardschema.dev): it can validate. */
export function isStandardSchema(value: unknown): value is StandardSchemaV1 {
  const standard = (value as StandardSchemaV1 | null | undefined)?.['~standard'];
  return typeof standard?.validate === 'function';
}

const WAYS_OUT: Readonly<Record<string, string>> = {
  valibot: 'wrap it in toStandardJsonSchema of @valibot/to-json-schema, or ',
  zod: 'for zod/mini jsonSchema is z.toJSONSchema(schema), for zod before 4.2 update it; ',
};

/**
 * What the schema takes in, as JSON Schema: told by the schema itself (Standard JSON Schema: zod 4.2, arktype 2.1.28 and newer;
 * valibot through `toStandardJsonSchema`).
 *
 * @throws PostChainError `invalid_schema` for a schema with no JSON form, or with something in it that JSON Schema cannot say.
 */
export function jsonSchemaOf(schema: StandardSchemaV1): JsonSchema {
  const { vendor, jsonSchema } = (schema as StandardSchemaV1 & Partial<StandardJSONSchemaV1>)['~standard'];
  if (typeof jsonSchema?.input !== 'function') {
    throw new PostChainError(
      'invalid_schema',
      `schema: got a schema of ${vendor} that has no JSON Schema form; ${WAYS_OUT[vendor] ?? ''}give one as jsonSchema.`,
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

/**
 * The schema of a list's items; null where the schema is no list. `listOf` and zod's `z.array` tell it; of other lists it is the list's
 * own, asked of a list with the one item in it.
 */
export function itemSchemaOf(schema: StandardSchemaV1, jsonSchema: JsonSchema): StandardSchemaV1 | null {
  const { element } = schema as { element?: unknown };
  if (isStandardSchema(element)) return element;
  const { type, items } = jsonSchema;
  return type === 'array' && typeof items === 'object' && !Array.isArray(items) ? oneItemOf(schema) : null;
}

function itemOf(list: unknown): StandardSchemaV1.Result<unknown> {
  return Array.isArray(list) && list.length === 1
    ? { value: list[0] }
    : { issues: [{ message: 'the schema makes no list of its items' }] };
}

function oneItemOf(list: StandardSchemaV1): StandardSchemaV1 {
  const { version, vendor, validate } = list['~standard'];
  const only = ({ issues, ...checked }: StandardSchemaV1.Result<unknown>): StandardSchemaV1.Result<unknown> =>
    issues !== undefined ? { issues } : itemOf((checked as { value: unknown }).value);
  return {
    '~standard': {
      version,
      vendor,
      validate: (item) => mapMaybePromise(validate([item]), only),
    },
  };
}

/** @throws PostChainError `invalid_schema` for what is no Standard Schema. */
export function requireStandardSchema(value: unknown): asserts value is StandardSchemaV1 {
  if (isStandardSchema(value)) return;
  throw new PostChainError(
    'invalid_schema',
    `schema: got ${describeValue(value)}; wanted a Standard Schema: one of zod, valibot or arktype.`,
  );
}
