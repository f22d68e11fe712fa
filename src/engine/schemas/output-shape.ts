import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Validation } from '../../../machines/contracts/attempt.ts';
import { mapMaybePromise } from '../../internal/async.ts';
import { nullRemover } from '../../internal/json-schema.ts';
import { type JsonSchema, jsonSchemaOf, schemaFailure, transformationFailure } from '../../internal/standard-schema.ts';

/** What a reply must be: the JSON Schema that the model is shown, and the check that no reply escapes [promise 4]. */
export interface OutputShape extends RootObject {
  /** Most schemas answer at once; one with an asynchronous rule gives a promise. It never throws or rejects. */
  readonly validate: (value: unknown) => Validation | Promise<Validation>;
}

/**
 * The shape of a Standard Schema's values. `name` is what failures call it.
 *
 * @throws PostChainError `invalid_schema` where the schema has no JSON form and none is given.
 */
export function outputShape(schema: StandardSchemaV1, name: string, jsonSchema?: JsonSchema): OutputShape {
  const told = jsonSchema ?? jsonSchemaOf(schema);
  const root = rootObject(told);
  const remove = nullRemover(told);
  return {
    ...root,
    unwrap: remove === null ? root.unwrap : (given) => remove(root.unwrap(given)),
    validate: (value) => validate(schema, name, value),
  };
}

/** Holds a value against a Standard Schema; what is no verdict is none in its favour. It never throws or rejects. */
export function validate(schema: StandardSchemaV1, name: string, value: unknown): Validation | Promise<Validation> {
  const { vendor } = schema['~standard'];
  const verdictOn = (checked: StandardSchemaV1.Result<unknown>): Validation => {
    if (checked.issues) return { ok: false, failure: schemaFailure(name, vendor, checked.issues) };
    if ('value' in checked) return { ok: true, value: checked.value };
    throw new TypeError('the schema gave neither a value nor issues');
  };
  const broken = (error: unknown): Validation => ({ ok: false, failure: transformationFailure(error) });
  try {
    const verdict = mapMaybePromise(schema['~standard'].validate(value), verdictOn);
    return verdict instanceof Promise ? verdict.catch(broken) : verdict;
  } catch (error) {
    return broken(error);
  }
}

/** The one member of the object that stands around a value which is none. */
const MEMBER = 'value';

/**
 * Models are asked for an object, as structured output and tools want one at the root; a list or a text is asked for as the one
 * member of an object. `isWrapped` says whether that is so.
 */
interface RootObject {
  readonly jsonSchema: JsonSchema;
  readonly isWrapped: boolean;
  /** Whether the value may be a list, which a model then may give without the object. */
  readonly mayBeList: boolean;
  /** The value in what a model gave. A model that left the object out is understood too. */
  readonly unwrap: (given: unknown) => unknown;
  /** The same for a partial value; undefined while nothing of the value is there. */
  readonly unwrapPartial: (given: unknown) => unknown;
  /** Which item of the value, if that is a list, stands at this path of what a model gave; null: none. */
  readonly itemAt: (path: readonly (string | number)[]) => number | null;
}

function rootObject(jsonSchema: JsonSchema): RootObject {
  if (jsonSchema['type'] === 'object') {
    const same = (given: unknown): unknown => given;
    return { jsonSchema, isWrapped: false, mayBeList: false, unwrap: same, unwrapPartial: same, itemAt: () => null };
  }
  const { schema, definitions } = relocateSchema(`/properties/${MEMBER}`, jsonSchema);
  return {
    jsonSchema: {
      type: 'object',
      properties: { [MEMBER]: schema },
      required: [MEMBER],
      additionalProperties: false,
      ...definitions,
    },
    isWrapped: true,
    mayBeList: mayBe('array', jsonSchema),
    unwrap: (given) => (isWrapper(given, !mayBe('object', jsonSchema)) ? given[MEMBER] : given),
    itemAt: ([first, second, ...deeper]) => {
      if (typeof first === 'number') return second === undefined ? first : null;
      return first === MEMBER && typeof second === 'number' && deeper.length === 0 ? second : null;
    },
    unwrapPartial: (given) => (isWrapper(given, false) ? given[MEMBER] : isEmptyObject(given) ? undefined : given),
  };
}

/** It may become anything yet. */
function isEmptyObject(given: unknown): boolean {
  return typeof given === 'object' && given !== null && !Array.isArray(given) && Object.keys(given).length === 0;
}

/** Whether it is the object around the value; `isSure` where the value itself can be none, so that other members change nothing. */
function isWrapper(given: unknown, isSure: boolean): given is { readonly [MEMBER]: unknown } {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return false;
  const names = Object.keys(given);
  return names.includes(MEMBER) && (isSure || names.length === 1);
}

/** Whether a schema may take values of a type, as far as its root says. */
function mayBe(wanted: 'array' | 'object', { type }: JsonSchema): boolean {
  if (type === undefined) return true;
  return Array.isArray(type) ? type.includes(wanted) : type === wanted;
}

type Node = Readonly<Record<string, unknown>>;

/** A schema that stands somewhere within another, and the definitions that go to the other's root. */
interface Moved {
  readonly schema: Node;
  /** `$defs` and `definitions`, as there are any. */
  readonly definitions: Node;
}

/** Keywords whose values are no schemas, so that nothing in them is a reference. */
const DATA = new Set(['const', 'enum', 'default', 'examples']);
/** Keywords whose values are schemas by names, which may be any. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);

/**
 * A JSON Schema for another place, `/items` say. Its definitions go to the root of the whole, where servers with structured output
 * look for them, and keep their names; references to the schema's own root point to where that is now.
 */
export function relocateSchema(place: string, schema: Node): Moved {
  const { $defs, definitions, ...rest } = schema;
  const move = (node: unknown): unknown => moved(place, node);
  return {
    schema: move(rest) as Node,
    definitions: {
      ...($defs !== undefined && { $defs: movedByName(place, $defs) }),
      ...(definitions !== undefined && { definitions: movedByName(place, definitions) }),
    },
  };
}

function moved(place: string, node: unknown): unknown {
  if (Array.isArray(node)) return node.map((one) => moved(place, one));
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([keyword, value]) => {
      if (DATA.has(keyword)) return [keyword, value];
      if (keyword === '$ref' && typeof value === 'string') return [keyword, movedReference(place, value)];
      return [keyword, NAMED.has(keyword) ? movedByName(place, value) : moved(place, value)];
    }),
  );
}

function movedByName(place: string, schemas: unknown): unknown {
  if (typeof schemas !== 'object' || schemas === null) return schemas;
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, moved(place, schema)]));
}

function movedReference(place: string, reference: string): string {
  const isOwnPlace = /^#(\/(?!\$defs\/|definitions\/)|$)/u.test(reference);
  return isOwnPlace ? `#${place}${reference.slice(1)}` : reference;
}
