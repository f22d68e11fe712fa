import { isJsonNode, type JsonNode, referredTo } from '../internal/json-schema.ts';
import type { JsonSchema } from '../internal/standard-schema.ts';

type Path = readonly (string | number)[];

/** A schema of a server may refer to itself in many places. */
const MAX_NODES = 1_000;

/** Whether a JSON Schema may accept text at a path; true if the schema does not say. */
export function admitsText(root: JsonSchema, wholePath: Path): boolean {
  let nodes = 0;
  const admits = (node: unknown, path: Path): boolean => {
    if (!isJsonNode(node)) return node !== false;
    nodes += 1;
    if (nodes > MAX_NODES) return false;
    const { $ref, anyOf, oneOf, allOf } = node;
    const some = anyOf ?? oneOf;
    if (typeof $ref === 'string' && !admits(referredTo(root, $ref), path)) return false;
    if (Array.isArray(some) && !some.some((one) => admits(one, path))) return false;
    if (Array.isArray(allOf) && !allOf.every((one) => admits(one, path))) return false;
    const [key, ...rest] = path;
    if (key === undefined) return admitsTextItself(node);
    return admits(typeof key === 'number' ? itemSchema(node, key) : memberSchema(node, key), rest);
  };
  return admits(root, wholePath);
}

function admitsTextItself({ type, const: only, enum: values }: JsonNode): boolean {
  if (only !== undefined || Array.isArray(values)) return [values, only].flat().some((one) => typeof one === 'string');
  return type === undefined || [type].flat().includes('string');
}

function itemSchema({ prefixItems, items, additionalItems }: JsonNode, at: number): unknown {
  const prefix = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
  if (at < prefix.length) return prefix[at];
  return Array.isArray(items) ? additionalItems : items;
}

function memberSchema({ properties, additionalProperties, patternProperties }: JsonNode, key: string): unknown {
  if (isJsonNode(properties) && Object.hasOwn(properties, key)) return properties[key];
  return patternProperties === undefined ? additionalProperties : true;
}
