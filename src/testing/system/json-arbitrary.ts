import type { Arbitrary } from 'fast-check';
import { firstChars } from '../../../machines/text/clip.ts';
import type { JsonSchema } from '../../internal/standard-schema.ts';

/** The functions of fast-check. */
export type FastCheck = Omit<typeof import('fast-check'), 'default'>;

/** A part of a JSON Schema from which no values can be generated. */
export class UnsupportedSchema extends Error {
  constructor(path: string, schema: unknown) {
    const text = JSON.stringify(schema);
    super(`${path === '' ? 'the payload' : path} is ${text.length > 80 ? `${firstChars(text, 77)}…` : text}`);
  }
}

interface Scope {
  readonly fc: FastCheck;
  readonly root: JsonSchema;
  readonly path: string;
  /** The references that lead here. */
  readonly refs: readonly string[];
}

/**
 * Returns an arbitrary of the values of a JSON Schema (draft 7). Values may break constraints that it does not know: validate them. Throws
 * `UnsupportedSchema` for a part from which nothing can be generated.
 */
export const jsonArbitrary = (fc: FastCheck, root: JsonSchema): Arbitrary<unknown> =>
  arbitraryOf(root, { fc, root, path: '', refs: [] });

function arbitraryOf(schema: JsonSchema, scope: Scope): Arbitrary<unknown> {
  const { fc } = scope;
  if (typeof schema['$ref'] === 'string') return ofReference(schema['$ref'], scope);
  if ('const' in schema) return fc.constant(schema['const']);
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as unknown[]));
  const choices = listIn(schema, 'anyOf') ?? listIn(schema, 'oneOf');
  if (choices !== null)
    return fc.oneof(...choices.map((choice) => arbitraryOf({ ...outer(schema), ...choice }, scope)));
  const all = listIn(schema, 'allOf');
  if (all !== null) return ofAll([outer(schema), ...all], schema, scope);
  const { type } = schema;
  if (Array.isArray(type)) return fc.oneof(...type.map((one) => arbitraryOf({ ...schema, type: one }, scope)));
  switch (type ?? impliedType(schema)) {
    case 'string':
      return ofString(schema, scope);
    case 'integer':
    case 'number':
      return ofNumber(schema, fc);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return ofArray(schema, scope);
    case 'object':
      return ofObject(schema, scope);
    default:
      if (type === undefined && Object.keys(outer(schema)).length === 0) return fc.jsonValue();
      throw new UnsupportedSchema(scope.path, schema);
  }
}

const NOTES = ['title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly', '$schema', '$id'];
const PARTS = ['anyOf', 'oneOf', 'allOf', 'definitions', '$defs'];

/** Returns a schema without its notes, and without parts that are handled by themselves. */
const outer = (schema: JsonSchema): JsonSchema =>
  Object.fromEntries(Object.entries(schema).filter(([key]) => !NOTES.includes(key) && !PARTS.includes(key)));

const listIn = (schema: JsonSchema, key: string): readonly JsonSchema[] | null => {
  const list = schema[key];
  return Array.isArray(list) ? (list as JsonSchema[]) : null;
};

const impliedType = (schema: JsonSchema): string | null =>
  'properties' in schema || 'additionalProperties' in schema ? 'object' : 'items' in schema ? 'array' : null;

function ofReference(ref: string, scope: Scope): Arbitrary<unknown> {
  const target = ref
    .replace(/^#\/?/u, '')
    .split('/')
    .filter((segment) => segment !== '')
    .reduce<unknown>((at, segment) => Object(at)[segment.replaceAll('~1', '/').replaceAll('~0', '~')], scope.root);
  // A schema within itself needs a depth, which only the author knows.
  if (!ref.startsWith('#') || typeof target !== 'object' || target === null || ref === '#' || scope.refs.includes(ref))
    throw new UnsupportedSchema(scope.path, { $ref: ref });
  return arbitraryOf(target as JsonSchema, { ...scope, refs: [...scope.refs, ref] });
}

/** Schemas of objects are merged. Of others, the first one with a type is used: values are validated anyway. */
function ofAll(all: readonly JsonSchema[], schema: JsonSchema, scope: Scope): Arbitrary<unknown> {
  const parts = all.filter((part) => Object.keys(part).length > 0);
  const isObject = (part: JsonSchema): boolean => (part['type'] ?? impliedType(part)) === 'object';
  if (parts.length > 0 && parts.every(isObject))
    return scope.fc
      .tuple(...parts.map((part) => arbitraryOf(part, scope)))
      .map((values) => Object.assign({}, ...values));
  const types = new Set(parts.map(({ type }) => type).filter((type) => type !== undefined));
  if (types.size !== 1) throw new UnsupportedSchema(scope.path, schema);
  return arbitraryOf(Object.assign({}, ...parts), scope);
}

/** Short and readable: a failure prints them. */
const FORMATS: Readonly<Record<string, (fc: FastCheck) => Arbitrary<unknown>>> = {
  email: (fc) => fc.stringMatching(/^[a-z]{1,8}@[a-z]{1,8}\.(com|org)$/u),
  uuid: (fc) => fc.uuid(),
  uri: (fc) => fc.stringMatching(/^https:\/\/[a-z]{1,8}\.(com|org)(\/[a-z0-9]{1,6}){0,2}$/u),
  date: (fc) => dates(fc).map((text) => text.slice(0, 10)),
  'date-time': (fc) => dates(fc),
  ipv4: (fc) => fc.ipV4(),
  ipv6: (fc) => fc.ipV6(),
};

const dates = (fc: FastCheck): Arbitrary<string> =>
  fc
    .date({ min: new Date('1970-01-01T00:00:00Z'), max: new Date('2100-01-01T00:00:00Z'), noInvalidDate: true })
    .map((date) => date.toISOString());

function ofString(schema: JsonSchema, { fc, path }: Scope): Arbitrary<unknown> {
  const { format, pattern } = schema;
  const known = typeof format === 'string' && Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  if (known !== undefined) return known(fc);
  if (typeof pattern === 'string')
    try {
      return fc.stringMatching(new RegExp(pattern, 'u'));
    } catch {
      throw new UnsupportedSchema(path, { pattern });
    }
  return fc.string(bounds(schema, 'minLength', 'maxLength'));
}

/** Returns the bounds of a length that are given, as fast-check names them. */
function bounds(
  schema: JsonSchema,
  min: string,
  max: string,
): { readonly minLength?: number; readonly maxLength?: number } {
  const [least, most] = [schema[min], schema[max]];
  return {
    ...(typeof least === 'number' && { minLength: least }),
    ...(typeof most === 'number' && { maxLength: most }),
  };
}

const numberIn = (schema: JsonSchema, key: string): number | null => {
  const value = schema[key];
  return typeof value === 'number' ? value : null;
};

function ofNumber(schema: JsonSchema, fc: FastCheck): Arbitrary<unknown> {
  const [minExcluded, maxExcluded] = [numberIn(schema, 'exclusiveMinimum'), numberIn(schema, 'exclusiveMaximum')];
  const min = Math.max(numberIn(schema, 'minimum') ?? -Infinity, minExcluded ?? -Infinity);
  const max = Math.min(numberIn(schema, 'maximum') ?? Infinity, maxExcluded ?? Infinity);
  const multiple = numberIn(schema, 'multipleOf') ?? (schema['type'] === 'integer' ? 1 : null);
  if (multiple === null)
    return (
      fc
        .double({
          ...(min > -Infinity && { min, minExcluded: min === minExcluded }),
          ...(max < Infinity && { max, maxExcluded: max === maxExcluded }),
          noNaN: true,
          noDefaultInfinity: true,
        })
        // JSON has no -0.
        .map((value) => value + 0)
    );
  const least = Math.ceil(min / multiple) + (min === minExcluded && min % multiple === 0 ? 1 : 0);
  const most = Math.floor(max / multiple) - (max === maxExcluded && max % multiple === 0 ? 1 : 0);
  return fc
    .integer({ ...(least > -Infinity && { min: least }), ...(most < Infinity && { max: most }) })
    .map((value) => value * multiple);
}

function ofArray(schema: JsonSchema, scope: Scope): Arbitrary<unknown> {
  const { fc, path } = scope;
  const { items = {}, uniqueItems } = schema;
  if (Array.isArray(items))
    return fc.tuple(
      ...items.map((item, at) => arbitraryOf(item as JsonSchema, { ...scope, path: join(path, String(at)) })),
    );
  const item = arbitraryOf(items as JsonSchema, { ...scope, path: join(path, 'items') });
  const length = bounds(schema, 'minItems', 'maxItems');
  return uniqueItems === true
    ? fc.uniqueArray(item, { ...length, selector: (value) => JSON.stringify(value) })
    : fc.array(item, length);
}

function ofObject(schema: JsonSchema, scope: Scope): Arbitrary<unknown> {
  const { fc, path } = scope;
  const { properties, additionalProperties, propertyNames, required = [] } = schema;
  if (properties === undefined && typeof additionalProperties === 'object' && additionalProperties !== null) {
    const names = arbitraryOf({ type: 'string', ...Object(propertyNames) }, { ...scope, path: join(path, 'keys') });
    const values = arbitraryOf(additionalProperties as JsonSchema, { ...scope, path: join(path, 'values') });
    return fc.dictionary(names as Arbitrary<string>, values);
  }
  const members = Object.entries((properties ?? {}) as Readonly<Record<string, JsonSchema>>).map(
    ([name, member]) => [name, arbitraryOf(member, { ...scope, path: join(path, name) })] as const,
  );
  const requiredKeys = members.map(([name]) => name).filter((name) => (required as string[]).includes(name));
  return fc.record(Object.fromEntries(members), { requiredKeys, noNullPrototype: true });
}

const join = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);
