import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Arbitrary } from 'fast-check';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { describeValue } from '../../internal/describe-value.ts';
import { isStandardSchema, jsonSchemaOf } from '../../internal/standard-schema.ts';
import { type FastCheck, jsonArbitrary, UnsupportedSchema } from './json-arbitrary.ts';
import type { Payload, PayloadArbitrary } from './system-options.ts';

/** Returns an arbitrary of the payloads of an event. */
export function payloadsOf(fc: FastCheck, type: string, payload: Payload | undefined): Arbitrary<object> {
  if (isStandardSchema(payload)) return ofSchema(fc, type, payload);
  if (isArbitrary(payload)) return payload as unknown as Arbitrary<object>;
  throw new PostChainError(
    'invalid_option',
    `"walks.payloads.${type}" must be a Standard Schema (zod, valibot or arktype) or a fast-check arbitrary; received ${describeValue(payload)}`,
  );
}

const isArbitrary = (value: unknown): value is PayloadArbitrary =>
  typeof Object(value).generate === 'function' && typeof Object(value).shrink === 'function';

/** After so many invalid values in a row, a schema has rules that its JSON Schema does not show. */
const MAX_INVALID = 1_000;

/** Returns an arbitrary of what the schema returns for values of its JSON Schema that it accepts. */
function ofSchema(fc: FastCheck, type: string, schema: StandardSchemaV1): Arbitrary<object> {
  const refuse = (why: string): never => {
    throw new PostChainError(
      'invalid_option',
      `"walks.payloads.${type}": ${why}; pass a fast-check arbitrary of the payload instead, for example fc.record({ … })`,
    );
  };
  let invalid = 0;
  return valuesOf()
    .map((value) => {
      const result = schema['~standard'].validate(value);
      return result instanceof Promise ? refuse('the schema validates asynchronously') : result;
    })
    .filter((result) => {
      invalid = result.issues === undefined ? 0 : invalid + 1;
      if (invalid > MAX_INVALID)
        refuse(`the schema rejects ${MAX_INVALID} generated payloads in a row (${result.issues?.[0]?.message ?? ''})`);
      return result.issues === undefined;
    })
    .map((result) => {
      const { value } = result as StandardSchemaV1.SuccessResult<unknown>;
      return typeof value === 'object' && value !== null
        ? value
        : refuse(`the payload must be an object, without the type; the schema returns ${describeValue(value)}`);
    });

  function valuesOf(): Arbitrary<unknown> {
    try {
      return jsonArbitrary(fc, jsonSchemaOf(schema));
    } catch (error) {
      if (error instanceof UnsupportedSchema) return refuse(`no values can be generated, because ${error.message}`);
      if (error instanceof PostChainError) return refuse(error.message.replace(/\.$/u, ''));
      throw error;
    }
  }
}
