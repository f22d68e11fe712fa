import { isJsonNode, type JsonNode, onlyAlternative, referredTo } from '../internal/json-schema.ts';
import type { JsonSchema } from '../internal/standard-schema.ts';

/** A key that a schema does not name, and the keys that it names there. */
export interface UnknownKey {
  readonly path: readonly (string | number)[];
  readonly known: readonly string[];
}

/** Keywords that may admit keys that `properties` does not name. */
const OPENING = [
  '$ref',
  'allOf',
  'anyOf',
  'oneOf',
  'if',
  'dependencies',
  'dependentSchemas',
  'patternProperties',
  'unevaluatedProperties',
];

/**
 * Finds a key, at any depth, that a JSON Schema does not name. Most schema libraries silently drop such a key, and with it what the
 * model meant. Where several alternatives, a condition or `allOf` may admit a key, the schema itself decides.
 */
export function findUnknownKey(root: JsonSchema, value: unknown): UnknownKey | null {
  const search = (schema: unknown, given: unknown, path: UnknownKey['path']): UnknownKey | null => {
    const node = resolved(schema, root);
    if (node === null) return null;
    if (Array.isArray(given)) {
      const items = node['prefixItems'] === undefined ? node['items'] : undefined;
      return firstFound(given.entries(), (at, item) => search(items, item, [...path, at]));
    }
    if (!isJsonNode(given)) return null;
    const known = isJsonNode(node['properties']) ? node['properties'] : {};
    const others = node['additionalProperties'];
    const isClosed =
      (others === false || (others === undefined && node['properties'] !== undefined)) &&
      !OPENING.some((keyword) => Object.hasOwn(node, keyword));
    return firstFound(Object.entries(given), (key, member) => {
      if (Object.hasOwn(known, key)) return search(known[key], member, [...path, key]);
      return isClosed ? { path: [...path, key], known: Object.keys(known) } : search(others, member, [...path, key]);
    });
  };
  return search(root, value, []);
}

function firstFound<Key>(
  entries: Iterable<readonly [Key, unknown]>,
  search: (key: Key, member: unknown) => UnknownKey | null,
): UnknownKey | null {
  for (const [key, member] of entries) {
    const found = search(key, member);
    if (found !== null) return found;
  }
  return null;
}

/** Resolves a choice between null and one schema, then a reference, alone or in `allOf`; null for a choice between several. */
function resolved(schema: unknown, root: JsonSchema): JsonNode | null {
  if (!isJsonNode(schema) || schema['properties'] !== undefined) return isJsonNode(schema) ? schema : null;
  const only = onlyAlternative(schema);
  const { allOf } = isJsonNode(only) ? only : {};
  const node: unknown = Array.isArray(allOf) && allOf.length === 1 ? allOf[0] : only;
  const { $ref } = isJsonNode(node) ? node : {};
  const target = typeof $ref === 'string' ? referredTo(root, $ref) : node;
  return isJsonNode(target) ? target : null;
}
