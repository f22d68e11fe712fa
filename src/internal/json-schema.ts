import { memoize } from '../../machines/text/memoize.ts';

/** A JSON Schema, or a part of one, that is an object. */
export type JsonNode = Readonly<Record<string, unknown>>;

export function isJsonNode(value: unknown): value is JsonNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the JSON text of a schema, which is the same for every copy of it. */
export const schemaKey = memoize((schema: JsonNode) => JSON.stringify(schema));

export const schemaText = (schema: JsonNode): string => `It must match this JSON Schema:\n${schemaKey(schema)}`;

export const jsonInstruction = (schema: JsonNode): string =>
  `Reply with one JSON object and nothing else. ${schemaText(schema)}`;

/** Follows the references of a schema to a part of its document; null for any other reference, and for a circle. */
export function resolved(schema: unknown, root: unknown): unknown {
  let node = schema;
  for (let steps = 0; isJsonNode(node) && typeof node['$ref'] === 'string'; steps += 1) {
    if (steps === MAX_REFERENCES) return null;
    node = referredTo(root, node['$ref']);
  }
  return node;
}

const MAX_REFERENCES = 32;

/** Returns the part of a schema that a reference points to, or null if the schema has no such part. */
export function referredTo(root: unknown, ref: string): unknown {
  if (!/^#(\/|$)/u.test(ref)) return null;
  return ref
    .split('/')
    .slice(1)
    .reduce<unknown>((node, segment) => {
      const key = segment.replaceAll('~1', '/').replaceAll('~0', '~');
      return isJsonNode(node) && Object.hasOwn(node, key) ? node[key] : null;
    }, root);
}

/** Whether a JSON Schema accepts null, judged by its own keywords; a schema without constraints accepts anything. */
export function admitsNull(schema: unknown, root: unknown, steps = 0): boolean {
  const node = resolved(schema, root);
  if (!isJsonNode(node)) return node === true;
  const { type, enum: values, const: only, allOf } = node;
  const alternatives = alternativesOf(node);
  if (Array.isArray(allOf) && !(steps < MAX_REFERENCES && allOf.every((one) => admitsNull(one, root, steps + 1))))
    return false;
  if (alternatives !== null)
    return steps < MAX_REFERENCES && alternatives.some((one) => admitsNull(one, root, steps + 1));
  if (Array.isArray(values)) return values.includes(null);
  if (only !== undefined) return only === null;
  return type === undefined || type === 'null' || (Array.isArray(type) && type.includes('null'));
}

/** Returns the schema's one alternative besides null, or the schema itself if it has no alternatives; null if there are several. */
export function onlyAlternative(schema: JsonNode): unknown {
  const alternatives = alternativesOf(schema);
  if (alternatives === null) return schema;
  const others = alternatives.filter((one) => !(isJsonNode(one) && one['type'] === 'null'));
  return others.length === 1 ? others[0] : null;
}

/** Returns the value without the nulls that stand for omitted members; the given value is not changed. */
type NullRemover = (value: unknown) => unknown;

/**
 * Returns a function that removes null members, and nulls at the end of tuples, where the schema allows omission but not null. Many models
 * write null for what they omit, and OpenAI's strict mode requires it. Members of an alternative are removed if it is clear which one the value is.
 * `root` is the document that the references of `schema` lead into. Returns null if the schema has no such member, so that most values are
 * not traversed at all.
 */
export function nullRemover(schema: unknown, root: unknown = schema): NullRemover | null {
  if (!hasOptional(schema, root, new Set())) return null;
  return (value) => {
    const walk = { root, stepsLeft: STEPS_PER_VALUE * valuesIn(value) };
    const cleaned = withoutNulls(value, schema, walk);
    return walk.stepsLeft < 0 ? value : cleaned;
  };
}

/** Alternatives in alternatives could take exponential time. */
const STEPS_PER_VALUE = 100;

interface Walk {
  readonly root: unknown;
  stepsLeft: number;
}

function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, member) => sum + valuesIn(member), 1);
}

function hasOptional(schema: unknown, root: unknown, seen: Set<unknown>): boolean {
  const node = resolved(schema, root);
  if (!isJsonNode(node) || seen.has(node)) return false;
  seen.add(node);
  const { properties, items, additionalProperties } = node;
  const members = Object.entries(isJsonNode(properties) ? properties : {});
  const inside = [...members.map(([, member]) => member), ...partsOf(node), additionalProperties, ...[items].flat()];
  return (
    members.some(([name]) => isRemovable(node, name, root)) ||
    tupleOf(node).some((item, at) => at >= leastItems(node) && !admitsNull(item, root)) ||
    inside.some((one) => hasOptional(one, root, seen))
  );
}

export function tupleOf({ items, prefixItems }: JsonNode): readonly unknown[] {
  const tuple = Array.isArray(items) ? items : prefixItems;
  return Array.isArray(tuple) ? tuple : [];
}

const leastItems = ({ minItems }: JsonNode): number => (typeof minItems === 'number' ? minItems : 0);

/** Returns a tuple without trailing nulls for items that may be omitted but not be null. */
function withoutLastNulls(value: readonly unknown[], node: JsonNode, root: unknown): readonly unknown[] {
  const schemas = tupleOf(node);
  let end = value.length;
  const isRemovable = (at: number): boolean =>
    at >= leastItems(node) && at < schemas.length && value[at] === null && !admitsNull(schemas[at], root);
  while (isRemovable(end - 1)) end -= 1;
  return value.slice(0, end);
}

/** Whether a member may be omitted, but not null. */
function isRemovable({ properties, required }: JsonNode, name: string, root: unknown): boolean {
  if (!isJsonNode(properties) || !Object.hasOwn(properties, name)) return false;
  return !(Array.isArray(required) && required.includes(name)) && !admitsNull(properties[name], root);
}

/** Schemas that apply to the same value. */
function partsOf({ anyOf, oneOf, allOf, prefixItems }: JsonNode): readonly unknown[] {
  return [anyOf, oneOf, allOf, prefixItems].flatMap((part) => (Array.isArray(part) ? part : []));
}

function withoutNulls(given: unknown, schema: unknown, walk: Walk): unknown {
  const node = resolved(schema, walk.root);
  walk.stepsLeft -= 1;
  if (walk.stepsLeft < 0 || typeof given !== 'object' || given === null || !isJsonNode(node)) return given;
  const { allOf, items, properties, additionalProperties } = node;
  let value: unknown = given;
  for (const part of Array.isArray(allOf) ? allOf : []) value = withoutNulls(value, part, walk);
  value = withoutNullsIn(value, alternativesOf(node) ?? [], walk);
  if (Array.isArray(value)) {
    const schemas = tupleOf(node);
    const rest = Array.isArray(items) ? undefined : items;
    return withoutLastNulls(value, node, walk.root).map((item, at) =>
      withoutNulls(item, at < schemas.length ? schemas[at] : rest, walk),
    );
  }
  if (!isJsonNode(value)) return value;
  const known = isJsonNode(properties) ? properties : {};
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      if (member === null && isRemovable(node, name, walk.root)) return [];
      return [[name, withoutNulls(member, Object.hasOwn(known, name) ? known[name] : additionalProperties, walk)]];
    }),
  );
}

/** Removes the nulls of the alternatives that the value may be, if they agree. */
function withoutNullsIn(value: unknown, alternatives: readonly unknown[], walk: Walk): unknown {
  const fitting = alternatives.filter((one) => fits(value, one, walk.root));
  const exact = fitting.filter((one) => hasKeysOf(value, one, walk.root));
  const [first, ...others] = (exact.length > 0 ? exact : fitting).map((one) => withoutNulls(value, one, walk));
  const agree = others.every((other) => JSON.stringify(other) === JSON.stringify(first));
  return first !== undefined && agree ? first : value;
}

/** Whether an object has exactly the members of an alternative, as in strict mode. */
function hasKeysOf(value: unknown, alternative: unknown, root: unknown): boolean {
  const { properties } = Object(resolved(alternative, root)) as JsonNode;
  if (!isJsonNode(value) || !isJsonNode(properties)) return false;
  const names = Object.keys(value);
  return names.length === Object.keys(properties).length && names.every((name) => Object.hasOwn(properties, name));
}

/** Whether a value may be the alternative: by its type and, for an object, by the types and constants of its members. */
function fits(value: unknown, alternative: unknown, root: unknown, depth = 0): boolean {
  const node = resolved(alternative, root);
  if (!isJsonNode(node)) return node !== false;
  const { type, const: only, enum: values, properties, required } = node;
  if (depth > 1) return true;
  if (only !== undefined && only !== value) return false;
  if (Array.isArray(values) && !values.includes(value)) return false;
  if (
    type !== undefined &&
    ![type].flat().includes(typeOf(value)) &&
    !(typeOf(value) === 'number' && type === 'integer')
  )
    return false;
  if (!isJsonNode(value)) return true;
  if (Array.isArray(required) && !required.every((name) => Object.hasOwn(value, name))) return false;
  return Object.entries(isJsonNode(properties) ? properties : {}).every(
    ([name, member]) => (value[name] ?? null) === null || fits(value[name], member, root, depth + 1),
  );
}

function typeOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}

function alternativesOf({ anyOf, oneOf }: JsonNode): readonly unknown[] | null {
  if (Array.isArray(anyOf)) return anyOf;
  return Array.isArray(oneOf) ? oneOf : null;
}

const MAX_DEPTH = 12;

/** Whether a value has the types, required members and choices of a JSON Schema. Narrower constraints, such as ranges, are not checked. */
export function hasStructure(value: unknown, schema: unknown, root: unknown = schema, depth = 0): boolean {
  const node = resolved(schema, root);
  if (depth > MAX_DEPTH || !isJsonNode(node)) return node !== false;
  const { type, const: only, enum: values, properties, required, items, allOf } = node;
  const some = alternativesOf(node);
  const has = (part: unknown, of: unknown): boolean => hasStructure(part, of, root, depth + 1);
  if (only !== undefined && only !== value) return false;
  if (Array.isArray(values) && !values.includes(value)) return false;
  if (some !== null && !some.some((one) => has(value, one))) return false;
  if (Array.isArray(allOf) && !allOf.every((one) => has(value, one))) return false;
  if (type !== undefined && !hasType(value, [type].flat())) return false;
  if (Array.isArray(value))
    return value.every((item, at) => has(item, tupleOf(node)[at] ?? (Array.isArray(items) ? undefined : items)));
  if (!isJsonNode(value)) return true;
  if (Array.isArray(required) && !required.every((name) => Object.hasOwn(value, name))) return false;
  if (isClosed(node) && !Object.keys(value).every((name) => Object.hasOwn(Object(properties), name))) return false;
  return Object.entries(isJsonNode(properties) ? properties : {}).every(
    // An optional member may be null in strict mode.
    ([name, member]) =>
      !Object.hasOwn(value, name) || isRemovedNull(value, node, name, root) || has(value[name], member),
  );
}

/** Whether an object has only the members that its schema names, as in strict mode. */
const isClosed = ({ properties, additionalProperties, patternProperties, allOf, anyOf, oneOf }: JsonNode): boolean =>
  isJsonNode(properties) &&
  [undefined, false].includes(additionalProperties as undefined) &&
  [patternProperties, allOf, anyOf, oneOf].every((part) => part === undefined);

const isRemovedNull = (value: JsonNode, node: JsonNode, name: string, root: unknown): boolean =>
  value[name] === null && isRemovable(node, name, root);

export function hasType(value: unknown, types: readonly unknown[]): boolean {
  const type = typeOf(value);
  return types.includes(type) || (type === 'number' && Number.isInteger(value) && types.includes('integer'));
}

/** Keywords whose values map names to schemas, and those whose values are data. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
const DATA = new Set(['const', 'enum', 'default', 'examples']);

/** Returns a schema with each of its nodes changed. */
export const mapSchema = (schema: JsonNode, change: (node: JsonNode) => JsonNode): JsonNode =>
  mapped(schema, change, true) as JsonNode;

function mapped(node: unknown, change: (node: JsonNode) => JsonNode, isSchema: boolean): unknown {
  if (Array.isArray(node)) return node.map((one) => mapped(one, change, true));
  if (!isJsonNode(node)) return node;
  return Object.fromEntries(
    Object.entries(isSchema ? change(node) : node).map(([keyword, value]) => [
      keyword,
      isSchema && DATA.has(keyword) ? value : mapped(value, change, !(isSchema && NAMED.has(keyword))),
    ]),
  );
}
