import { isJsonNode, type JsonNode } from '../internal/json-schema.ts';
import type { JsonSchema } from '../internal/standard-schema.ts';

/** A key that a schema does not name, and the keys that it names in that place. */
export interface UnknownKey {
  readonly path: readonly (string | number)[];
  readonly known: readonly string[];
}

/** Schemas that must all hold, without choices, references or `allOf` at their top level. */
type Conjunction = readonly JsonNode[];

/** Larger schemas are not checked: references to each other multiply their alternatives. */
const MAX_ALTERNATIVES = 1_000;
const MAX_STEPS = 1_000;

const ANYTHING: readonly Conjunction[] = [[{ additionalProperties: true }]];

/**
 * Returns a function that finds a key, at any depth, that a JSON Schema does not name. An object is checked if its schema has
 * `properties`, unless `additionalProperties`, `patternProperties` or a condition admits other keys. Most schema libraries silently
 * drop such a key, and with it what the model meant.
 *
 * Of a choice (`anyOf`, `oneOf`), the alternatives closest to the value count, judged by its own keys and their types. It never
 * reports a key that some alternative of the schema accepts. Its cost is linear in the value.
 */
export function unknownKeyFinder(root: JsonSchema): (value: unknown) => UnknownKey | null {
  const known = new Map<unknown, readonly Conjunction[]>();

  function alternativesOf(schema: unknown): readonly Conjunction[] {
    const made = known.get(schema) ?? expand(schema, root);
    known.set(schema, made);
    return made;
  }

  function find(value: unknown, schemas: readonly unknown[]): UnknownKey | null {
    if (typeof value !== 'object' || value === null || schemas.length === 0) return null;
    const fitting = schemas.flatMap(alternativesOf).filter((nodes) => nodes.every((node) => fits(node, value)));
    if (fitting.length === 0 || fitting.length > MAX_ALTERNATIVES) return null;
    return Array.isArray(value) ? findInItems(value, fitting) : findInObject(value as JsonNode, fitting);
  }

  function findInItems(items: readonly unknown[], fitting: readonly Conjunction[]): UnknownKey | null {
    const schemasAt = (index: number) => alternativesAt(fitting, (nodes) => itemSchemas(nodes, index));
    const tupleLength = Math.max(...fitting.flat().map((node) => tupleOf(node).length));
    const further = schemasAt(tupleLength);
    for (let at = 0; at < items.length; at += 1) {
      const found = find(items[at], at < tupleLength ? schemasAt(at) : further);
      if (found !== null) return { ...found, path: [at, ...found.path] };
    }
    return null;
  }

  function findInObject(object: JsonNode, fitting: readonly Conjunction[]): UnknownKey | null {
    const closest = closestTo(object, fitting);
    const [nodes = []] = closest;
    const [unknown] = unknownKeys(nodes, object);
    if (unknown !== undefined) return { path: [unknown], known: namesIn(nodes) };
    for (const key of Object.keys(object)) {
      if (typeof object[key] !== 'object') continue;
      const found = find(
        object[key],
        alternativesAt(closest, (one) => memberSchemas(one, key)),
      );
      if (found !== null) return { ...found, path: [key, ...found.path] };
    }
    return null;
  }

  return (value) => find(value, [root]);
}

/** Returns one schema per alternative for a place in a value, or none if some alternative accepts anything there. */
function alternativesAt(
  alternatives: readonly Conjunction[],
  schemasOf: (nodes: Conjunction) => readonly unknown[],
): readonly unknown[] {
  const places = alternatives.map(schemasOf);
  if (places.some((schemas) => schemas.length === 0)) return [];
  return [...new Set(places.map((schemas) => (new Set(schemas).size === 1 ? schemas[0] : { allOf: schemas })))];
}

/** Returns the alternatives of a schema (disjunctive normal form). */
function expand(schema: unknown, root: JsonSchema): readonly Conjunction[] {
  let steps = 0;
  const visit = (node: unknown, refs: readonly string[]): readonly Conjunction[] => {
    steps += 1;
    if (node === false) return [];
    if (steps > MAX_STEPS) return ANYTHING;
    if (!isJsonNode(node)) return [[{}]];
    const { $ref, allOf, anyOf, oneOf, ...own } = node;
    const isNewRef = typeof $ref === 'string' && !refs.includes($ref);
    return [
      [[own]],
      ...(isNewRef ? [visit(referredTo(root, $ref), [...refs, $ref])] : []),
      ...(Array.isArray(allOf) ? allOf.map((one) => visit(one, refs)) : []),
      ...[anyOf, oneOf].filter(Array.isArray).map((choice) => choice.flatMap((one) => visit(one, refs))),
    ].reduce<readonly Conjunction[]>(
      (made, part) =>
        made.length * part.length > MAX_ALTERNATIVES
          ? ANYTHING
          : made.flatMap((one) => part.map((other) => [...one, ...other])),
      [[]],
    );
  };
  return visit(schema, []);
}

/** Returns the part of a schema that a reference points to, or null if the schema has no such part. */
export function referredTo(root: JsonSchema, ref: string): unknown {
  if (!/^#(\/|$)/u.test(ref)) return null;
  return ref
    .split('/')
    .slice(1)
    .reduce<unknown>((node, segment) => {
      const key = decoded(segment).replaceAll('~1', '/').replaceAll('~0', '~');
      if (Array.isArray(node)) return node[Number(key)];
      return isJsonNode(node) && Object.hasOwn(node, key) ? node[key] : null;
    }, root);
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Returns the alternatives with the fewest misfits and, of those, the ones with the fewest unknown keys. */
function closestTo(value: JsonNode, alternatives: readonly Conjunction[]): readonly Conjunction[] {
  if (alternatives.length === 1) return alternatives;
  const bestFits = least(alternatives, (nodes) => nodes.reduce((sum, node) => sum + misfitsIn(node, value), 0));
  return least(bestFits, (nodes) => unknownKeys(nodes, value).length);
}

function least<Item>(items: readonly Item[], scoreOf: (item: Item) => number): readonly Item[] {
  const scores = items.map(scoreOf);
  const best = scores.reduce((low, score) => Math.min(low, score), Number.POSITIVE_INFINITY);
  return items.filter((_, at) => scores[at] === best);
}

function misfitsIn({ required, properties }: JsonNode, value: JsonNode): number {
  const missing = Array.isArray(required) ? required.filter((key) => !Object.hasOwn(value, key)) : [];
  const misfits = Object.entries(isJsonNode(properties) ? properties : {}).filter(
    ([key, schema]) => Object.hasOwn(value, key) && isJsonNode(schema) && !fits(schema, value[key]),
  );
  return missing.length + misfits.length;
}

/** Keywords that may admit keys that `properties` does not name. */
const OPENING = ['patternProperties', 'unevaluatedProperties', 'if', 'dependencies', 'dependentSchemas'];

function unknownKeys(nodes: Conjunction, value: JsonNode): readonly string[] {
  const isClosed =
    nodes.some((node) => isJsonNode(node['properties']) || node['additionalProperties'] === false) &&
    !nodes.some((node) => OPENING.some((keyword) => Object.hasOwn(node, keyword)));
  return isClosed ? Object.keys(value).filter((key) => memberSchemas(nodes, key).length === 0) : [];
}

function namesIn(nodes: Conjunction): readonly string[] {
  return [...new Set(nodes.flatMap(({ properties }) => (isJsonNode(properties) ? Object.keys(properties) : [])))];
}

function memberSchemas(nodes: Conjunction, key: string): readonly unknown[] {
  return nodes.flatMap(({ properties, patternProperties, additionalProperties: further = false }) => {
    if (isJsonNode(properties) && Object.hasOwn(properties, key)) return [properties[key]];
    return further === false || patternProperties !== undefined ? [] : [further];
  });
}

function itemSchemas(nodes: Conjunction, index: number): readonly unknown[] {
  return nodes.flatMap((node) => {
    const tuple = tupleOf(node);
    const { items, additionalItems } = node;
    const further = Array.isArray(items) ? additionalItems : items;
    return index < tuple.length ? [tuple[index]] : further === undefined ? [] : [further];
  });
}

function tupleOf({ items, prefixItems }: JsonNode): readonly unknown[] {
  return Array.isArray(items) ? items : Array.isArray(prefixItems) ? prefixItems : [];
}

/** Whether a value has the type, and is one of the values, that a schema names; its contents are not looked at. */
function fits({ type, const: only, enum: values }: JsonNode, value: unknown): boolean {
  if (typeof type === 'string' && !isOfType(value, type)) return false;
  if (Array.isArray(type) && !type.some((one) => isOfType(value, one))) return false;
  if (only !== undefined && !mayEqual(only, value)) return false;
  return !Array.isArray(values) || values.some((one) => mayEqual(one, value));
}

function isOfType(value: unknown, type: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isJsonNode(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

/** Objects and arrays are not compared. */
function mayEqual(expected: unknown, value: unknown): boolean {
  return expected === value || (typeof expected === 'object' && expected !== null);
}
