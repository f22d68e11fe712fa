import { isJsonNode, type JsonNode } from '../internal/json-schema.ts';
import type { JsonSchema } from '../internal/standard-schema.ts';

/** A key that a schema does not name, and the keys that it names there. */
export interface UnknownKey {
  readonly path: readonly (string | number)[];
  readonly known: readonly string[];
}

/** Schemas that must all hold, without choices, references or `allOf` at their top level. */
type Conjunction = readonly JsonNode[];

/** Larger schemas are not checked: references to each other multiply their alternatives. */
const MAX_ALTERNATIVES = 1_000;
const MAX_STEPS = 1_000;

/** A value is compared with at most this many parts of a schema and combinations of them, so that the cost is linear in the value. */
const MAX_SCHEMAS = 1_000;

const ANYTHING: readonly Conjunction[] = [[{ additionalProperties: true }]];

/** How a value and its nested values compare with a schema. */
interface Comparison {
  /** The number of values that are missing or have the wrong type. */
  readonly misfits: number;
  readonly unknownKeys: number;
  readonly firstUnknown: UnknownKey | null;
}

const MATCH: Comparison = { misfits: 0, unknownKeys: 0, firstUnknown: null };
const MISFIT: Comparison = { ...MATCH, misfits: 1 };

/**
 * Returns a function that finds a key, at any depth, that a JSON Schema does not name. An object is checked if its schema has
 * `properties`, unless `additionalProperties`, `patternProperties` or a condition admits other keys. Most schema libraries silently
 * drop such a key, and with it what the model meant.
 *
 * For a choice (`anyOf`, `oneOf`), the alternative that matches the value best counts: the one with the fewest misfits and, of those,
 * with the fewest unknown keys, both at all depths. So a key is unknown if no alternative that the value matches admits it.
 */
export function unknownKeyFinder(root: JsonSchema): (value: unknown) => UnknownKey | null {
  const expanded = new Map<unknown, readonly Conjunction[]>();
  const conjunctions = new Map<string, JsonNode>();
  const ids = new Map<unknown, number>();

  function alternativesOf(schema: unknown): readonly Conjunction[] {
    const known = expanded.get(schema) ?? expand(schema, root);
    expanded.set(schema, known);
    return known;
  }

  /** Returns one schema for several that must all hold, always the same one for the same schemas. */
  function conjunctionOf(schemas: readonly unknown[]): unknown {
    const unique = [...new Set(schemas)];
    if (unique.length === 1) return unique[0];
    for (const schema of unique) if (!ids.has(schema)) ids.set(schema, ids.size);
    const key = unique.map((schema) => ids.get(schema)).join();
    const known = conjunctions.get(key) ?? { allOf: unique };
    conjunctions.set(key, known);
    return known;
  }

  return (whole) => {
    const comparisons = new Map<unknown, Map<object, Comparison>>();

    function compare(value: unknown, schema: unknown): Comparison {
      if (typeof value !== 'object' || value === null) return compareWithBest(value, schema);
      const bySchema = comparisons.get(schema) ?? new Map<object, Comparison>();
      if (comparisons.size === MAX_SCHEMAS && !comparisons.has(schema)) return MATCH;
      comparisons.set(schema, bySchema);
      const comparison = bySchema.get(value) ?? compareWithBest(value, schema);
      bySchema.set(value, comparison);
      return comparison;
    }

    function compareWithBest(value: unknown, schema: unknown): Comparison {
      const [first = MISFIT, ...others] = alternativesOf(schema)
        .filter((nodes) => nodes.every((node) => fits(node, value)))
        .map((nodes) => compareMembers(value, nodes));
      return others.reduce((best, one) => (isBetter(one, best) ? one : best), first);
    }

    function compareMembers(value: unknown, nodes: Conjunction): Comparison {
      if (Array.isArray(value))
        return value.reduce<Comparison>((sum, item, at) => add(sum, at, item, itemSchemas(nodes, at)), MATCH);
      if (!isJsonNode(value)) return MATCH;
      const misfits = nodes.reduce((sum, { required }) => sum + missingKeys(required, value).length, 0);
      const unknown = unknownKeys(nodes, value);
      const own: Comparison =
        unknown.length === 0
          ? { ...MATCH, misfits }
          : {
              misfits,
              unknownKeys: unknown.length,
              firstUnknown: { path: unknown.slice(0, 1), known: namesIn(nodes) },
            };
      return Object.keys(value).reduce((sum, key) => add(sum, key, value[key], memberSchemas(nodes, key)), own);
    }

    function add(sum: Comparison, key: string | number, member: unknown, schemas: readonly unknown[]): Comparison {
      const inside = schemas.length === 0 ? MATCH : compare(member, conjunctionOf(schemas));
      if (inside.misfits + inside.unknownKeys === 0) return sum;
      const { firstUnknown } = inside;
      return {
        misfits: sum.misfits + inside.misfits,
        unknownKeys: sum.unknownKeys + inside.unknownKeys,
        firstUnknown: sum.firstUnknown ?? (firstUnknown && { ...firstUnknown, path: [key, ...firstUnknown.path] }),
      };
    }

    return compare(whole, root).firstUnknown;
  };
}

function isBetter(one: Comparison, other: Comparison): boolean {
  return one.misfits < other.misfits || (one.misfits === other.misfits && one.unknownKeys < other.unknownKeys);
}

function missingKeys(required: unknown, value: JsonNode): readonly string[] {
  return Array.isArray(required) ? required.filter((key) => !Object.hasOwn(value, key)) : [];
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

/** Whether a value has the type, and is one of the values, that a schema names; its contents are not checked. */
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
