import { memoize } from '../../../machines/text/memoize.ts';
import { admitsNull, isJsonNode, type JsonNode } from '../../internal/json-schema.ts';

/** Keywords that OpenAI's strict mode supports. */
const KEPT = ['type', 'title', 'description', 'enum', 'const', '$ref', 'multipleOf', 'minimum', 'maximum'];
const ALSO_KEPT = ['exclusiveMinimum', 'exclusiveMaximum', 'minItems', 'maxItems', 'required', 'additionalProperties'];
const PLAIN = new Set([...KEPT, ...ALSO_KEPT]);

/** Synonyms in JSON Schema of which strict mode supports one. */
const RENAMED: Readonly<Record<string, string>> = { oneOf: 'anyOf', definitions: '$defs' };

/** Omitted keywords: they only narrow or describe, strict mode rejects some of them, and every reply is validated anyway. The first help a model. */
export const DESCRIBED = ['minLength', 'maxLength', 'pattern', 'format', 'uniqueItems', 'examples'];
const LEFT_OUT = new Set([...DESCRIBED, '$schema', '$id', '$comment', 'default', 'deprecated', 'readOnly']);

/**
 * Returns the schema for OpenAI's strict mode, or null if that is not possible. Strict mode requires an object at the root, closed objects
 * (`additionalProperties: false`) with every property required, and supports a subset of keywords
 * (https://platform.openai.com/docs/guides/structured-outputs#supported-schemas).
 *
 * 1. An object with properties and no `additionalProperties` is closed, which only narrows it. An object without properties stays open.
 * 2. An optional property becomes a required one that may be null; `nullRemover` removes the null when the reply is read.
 * 3. `oneOf` becomes `anyOf`, because every reply is validated anyway.
 * 4. Descriptions state the omitted keywords that help a model, because the schema may be nowhere else in the request.
 */
export const strictSchema = memoize((schema: JsonNode): JsonNode | null =>
  schema['type'] === 'object' && choicesOf(schema).length === 0 ? strictNode(schema, schema) : null,
);

function strictNode(given: unknown, root: JsonNode): JsonNode | null {
  const node = withoutWrapper(given);
  if (!isJsonNode(node) || !isTyped(node) || !isClosable(node)) return null;
  if (node['$ref'] !== undefined) return strictReference(node);
  const strict: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(node)) {
    if (LEFT_OUT.has(keyword)) continue;
    const kept = PLAIN.has(keyword) ? value : strictChild(node, keyword, root);
    if (kept === null) return null;
    strict[RENAMED[keyword] ?? keyword] = kept;
  }
  Object.assign(strict, descriptionWith(node, DESCRIBED));
  if (!isObject(node)) return strict;
  return { ...strict, required: namesIn(node), additionalProperties: false };
}

/** Returns a description of the node that also states those of the keywords that it has; an empty object if it has none. */
export function descriptionWith(node: JsonNode, keywords: readonly string[]): { readonly description?: string } {
  const omitted = keywords.filter((keyword) => node[keyword] !== undefined);
  if (omitted.length === 0) return {};
  const stated = omitted.map((keyword) => `${keyword}: ${JSON.stringify(node[keyword])}`).join(', ');
  return { description: node['description'] === undefined ? stated : `${node['description']} (${stated})` };
}

/** Returns the one schema that `allOf` wraps, as libraries do for a reference with a description. */
function withoutWrapper(node: unknown): unknown {
  const { allOf, ...others } = isJsonNode(node) ? node : {};
  const isWrapper =
    Array.isArray(allOf) && allOf.length === 1 && Object.keys(others).every((one) => DESCRIBING.has(one));
  return isWrapper ? allOf[0] : node;
}

const DESCRIBING = new Set([...LEFT_OUT, 'title', 'description']);

function strictChild(node: JsonNode, keyword: string, root: JsonNode): unknown {
  const value = node[keyword];
  if (keyword === 'items') return strictNode(value, root);
  if (keyword === 'anyOf' || keyword === 'oneOf')
    return Array.isArray(value) ? allOrNull(value.map((one) => strictNode(one, root))) : null;
  if (keyword === 'properties') return strictMembers(value, (one, name) => strictProperty(node, name, one, root));
  return keyword === '$defs' || keyword === 'definitions'
    ? strictMembers(value, (one) => strictDefinition(one, root))
    : null;
}

/** Returns a reference to the root or a definition without other keywords, or null for any other reference. */
function strictReference({ $ref }: JsonNode): JsonNode | null {
  const [, name] = /^#(?:\/(?:\$defs|definitions)\/([^/]+))?$/u.exec(String($ref)) ?? [];
  if (name !== undefined) return { $ref: `#/$defs/${name}` };
  return $ref === '#' ? { $ref } : null;
}

function strictProperty({ required }: JsonNode, name: string, property: unknown, root: JsonNode): JsonNode | null {
  const strict = strictNode(property, root);
  const isRequired = Array.isArray(required) && required.includes(name);
  return strict === null || isRequired || admitsNull(property, root) ? strict : { anyOf: [strict, { type: 'null' }] };
}

function strictMembers(value: unknown, strictOne: (node: unknown, name: string) => JsonNode | null): JsonNode | null {
  if (!isJsonNode(value)) return null;
  const names = Object.keys(value);
  const nodes = allOrNull(names.map((name) => strictOne(value[name], name)));
  return nodes === null ? null : Object.fromEntries(names.map((name, index) => [name, nodes[index]]));
}

/** Returns a strict definition, or null. A definition is a schema or a group of definitions. */
function strictDefinition(node: unknown, root: JsonNode): JsonNode | null {
  if (!isJsonNode(node) || Object.keys(node).join() !== '$defs') return strictNode(node, root);
  const definitions = strictMembers(node['$defs'], (one) => strictDefinition(one, root));
  return definitions === null ? null : { $defs: definitions };
}

function isTyped(node: JsonNode): boolean {
  if (typesOf(node).includes('array') && !isJsonNode(node['items'])) return false;
  return ['type', 'enum', 'const', 'anyOf', 'oneOf', '$ref'].some((keyword) => keyword in node);
}

/** Whether an object accepts no other properties, or can be restricted to them. */
function isClosable(node: JsonNode): boolean {
  if (!isObject(node)) return true;
  const { required = [], additionalProperties = namesIn(node).length === 0 } = node;
  if (additionalProperties !== false || !Array.isArray(required)) return false;
  return required.every((name) => namesIn(node).includes(name));
}

function namesIn({ properties }: JsonNode): readonly string[] {
  return isJsonNode(properties) ? Object.keys(properties) : [];
}

function isObject(node: JsonNode): boolean {
  return typesOf(node).includes('object') || node['properties'] !== undefined;
}

function typesOf({ type }: JsonNode): readonly unknown[] {
  return Array.isArray(type) ? type : [type];
}

function choicesOf({ anyOf, oneOf }: JsonNode): readonly unknown[] {
  return [anyOf, oneOf].filter((choice) => choice !== undefined);
}

function allOrNull(nodes: readonly (JsonNode | null)[]): readonly JsonNode[] | null {
  return nodes.every((node) => node !== null) ? nodes : null;
}
