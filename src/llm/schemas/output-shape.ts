import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Validation } from '../../../machines/contracts/attempt.ts';
import type { Failure } from '../../../machines/contracts/failure.ts';
import { failureOf, unexpectedFailure } from '../../../machines/policies/failures.ts';
import { mapMaybePromise } from '../../internal/async.ts';
import { isJsonNode, type JsonNode, mapSchema, nullRemover } from '../../internal/json-schema.ts';
import { type JsonSchema, jsonSchemaOf, schemaFailure } from '../../internal/standard-schema.ts';

/** Returns the failure of a schema that threw; the usual cause is a transformation of the user's. */
function transformationFailure(error: unknown): Failure {
  const message = `The reply matches its schema, but the schema failed to transform it: ${unexpectedFailure(error).message}`;
  return failureOf('transformation', 'transformation_failed', message);
}

/** What a reply must be: the JSON Schema that the model receives, and the validation that every reply must pass. */
export interface OutputShape extends RootObject {
  /** Returns a promise only if the schema validates asynchronously. Never throws or rejects. */
  readonly validate: (value: unknown) => Validation | Promise<Validation>;
}

/**
 * Returns the shape of a Standard Schema's values. `name` names the schema in failures.
 *
 * @throws PostChainError `invalid_schema` if the schema cannot be converted to JSON Schema and none is given.
 */
export function outputShape(
  schema: StandardSchemaV1,
  name: string,
  jsonSchema: JsonSchema = jsonSchemaOf(schema),
): OutputShape {
  const root = rootObject(jsonSchema);
  const removeNulls = nullRemover(jsonSchema);
  return {
    ...root,
    unwrap: removeNulls === null ? root.unwrap : (reply) => removeNulls(root.unwrap(reply)),
    validate: (value) => validate(schema, name, value),
  };
}

/** A schema that throws or returns no result fails the validation. Never throws or rejects. */
export function validate(schema: StandardSchemaV1, name: string, value: unknown): Validation | Promise<Validation> {
  const { vendor, validate: check } = schema['~standard'];
  const toValidation = (result: StandardSchemaV1.Result<unknown>): Validation => {
    if (result.issues) return { ok: false, failure: schemaFailure(name, vendor, result.issues) };
    if ('value' in result) return { ok: true, value: result.value };
    throw new TypeError('the schema returned neither a value nor issues');
  };
  const failed = (error: unknown): Validation => ({ ok: false, failure: transformationFailure(error) });
  try {
    const validation = mapMaybePromise(check(value), toValidation);
    return validation instanceof Promise ? validation.catch(failed) : validation;
  } catch (error) {
    return failed(error);
  }
}

/** The property that holds a value that is not an object. */
const PROPERTY = 'value';

/**
 * Models are asked for an object, because structured output and tools require one at the root. Any other value, for example an array, is
 * requested as the only property of an object.
 */
interface RootObject {
  readonly jsonSchema: JsonSchema;
  readonly isWrapped: boolean;
  /** Whether the value may be an array, which a model may then return without the object. */
  readonly mayBeList: boolean;
  /** Returns the value in a reply, which may also be the bare value. */
  readonly unwrap: (reply: unknown) => unknown;
  /** Returns the value in a partial reply, or undefined if nothing of it has arrived. */
  readonly unwrapPartial: (reply: unknown) => unknown;
  /** Returns the index of the array item at a path of the reply, or null if there is none. */
  readonly itemAt: (path: readonly (string | number)[]) => number | null;
}

function rootObject(jsonSchema: JsonSchema): RootObject {
  if (jsonSchema['type'] === 'object') {
    const same = (reply: unknown): unknown => reply;
    return { jsonSchema, isWrapped: false, mayBeList: false, unwrap: same, unwrapPartial: same, itemAt: () => null };
  }
  const { schema, definitions } = relocateSchema(`/properties/${PROPERTY}`, jsonSchema);
  const mayBeObject = mayBe('object', jsonSchema);
  return {
    jsonSchema: {
      type: 'object',
      properties: { [PROPERTY]: schema },
      required: [PROPERTY],
      additionalProperties: false,
      ...definitions,
    },
    isWrapped: true,
    mayBeList: mayBe('array', jsonSchema),
    // If the value cannot be an object, further properties of the wrapper are ignored.
    unwrap: (reply) => (isWrapper(reply, !mayBeObject) ? reply[PROPERTY] : reply),
    unwrapPartial: (reply) => {
      if (isWrapper(reply, false)) return reply[PROPERTY];
      return isJsonNode(reply) && Object.keys(reply).length === 0 ? undefined : reply;
    },
    itemAt: ([first, second, ...deeper]) => {
      if (typeof first === 'number') return second === undefined ? first : null;
      return first === PROPERTY && typeof second === 'number' && deeper.length === 0 ? second : null;
    },
  };
}

function isWrapper(reply: unknown, allowsOthers: boolean): reply is { readonly [PROPERTY]: unknown } {
  if (!isJsonNode(reply)) return false;
  const names = Object.keys(reply);
  return names.includes(PROPERTY) && (allowsOthers || names.length === 1);
}

function mayBe(expected: 'array' | 'object', { type = expected }: JsonSchema): boolean {
  return Array.isArray(type) ? type.includes(expected) : type === expected;
}

/** A schema for another place in a document, and its definitions, which belong to the document's root. */
interface RelocatedSchema {
  readonly schema: JsonNode;
  /** `$defs` and `definitions`, if the schema has any. */
  readonly definitions: JsonNode;
}

/**
 * Returns a JSON Schema for another place, for example `/items`. Its definitions keep their names and move to the document's root, where
 * servers with structured output look for them. References to the schema's own root point to its new place.
 */
export function relocateSchema(place: string, schema: JsonNode): RelocatedSchema {
  const { $defs, definitions, ...rest } = withReferences(schema, (reference) => relocatedReference(place, reference));
  return {
    schema: rest,
    definitions: { ...($defs !== undefined && { $defs }), ...(definitions !== undefined && { definitions }) },
  };
}

/** Returns a JSON Schema for another place, with its definitions: all of its references point to its new place. */
export const nestedSchema = (place: string, schema: JsonNode): JsonNode =>
  withReferences(schema, (reference) => reference.replace(/^#/u, `#${place}`));

const withReferences = (schema: JsonNode, moved: (reference: string) => string): JsonNode =>
  mapSchema(schema, (node) => (typeof node['$ref'] === 'string' ? { ...node, $ref: moved(node['$ref']) } : node));

function relocatedReference(place: string, reference: string): string {
  const isToRoot = /^#(\/(?!\$defs\/|definitions\/)|$)/u.test(reference);
  return isToRoot ? `#${place}${reference.slice(1)}` : reference;
}
