type Node = Readonly<Record<string, unknown>>;

/** Kept as they are: OpenAI's strict mode knows them. */
const KEPT = ['type', 'title', 'description', 'enum', 'const', '$ref', 'multipleOf', 'minimum', 'maximum'];
const ALSO_KEPT = ['exclusiveMinimum', 'exclusiveMaximum', 'minItems', 'maxItems', 'required', 'additionalProperties'];
const PLAIN = new Set([...KEPT, ...ALSO_KEPT]);

/** Left out: they only narrow or describe, strict mode refuses some of them, and every reply is validated anyway [promise 4]. */
const NARROWING = ['minLength', 'maxLength', 'pattern', 'format', 'uniqueItems'];
const LEFT_OUT = new Set([...NARROWING, '$schema', '$id', '$comment', 'default', 'examples', 'deprecated', 'readOnly']);

/**
 * The schema as OpenAI's strict mode takes it, or null when it cannot: every object must be closed (`additionalProperties: false`)
 * with every property required, the root must be an object, and no keyword may be outside the supported ones
 * (https://platform.openai.com/docs/guides/structured-outputs#supported-schemas). An object with properties that says nothing of
 * more is closed, as that only narrows; one without any would take nothing more at all, so it stays open.
 */
export function strictSchema(schema: Node): Node | null {
  return schema['type'] === 'object' ? strictNode(schema) : null;
}

function strictNode(node: unknown): Node | null {
  if (!isNode(node) || !isTyped(node) || !isClosable(node)) return null;
  const strict: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(node)) {
    if (LEFT_OUT.has(keyword)) continue;
    const kept = PLAIN.has(keyword) ? value : strictChild(keyword, value);
    if (kept === null) return null;
    strict[keyword] = kept;
  }
  return isObject(node) ? { ...strict, additionalProperties: false } : strict;
}

function strictChild(keyword: string, value: unknown): unknown {
  if (keyword === 'items') return strictNode(value);
  if (keyword === 'anyOf') return Array.isArray(value) ? allOrNull(value.map(strictNode)) : null;
  if (keyword === 'properties') return strictMembers(value, strictNode);
  return keyword === '$defs' ? strictMembers(value, strictDefinition) : null;
}

function strictMembers(value: unknown, strictOne: (node: unknown) => Node | null): Node | null {
  if (!isNode(value)) return null;
  const names = Object.keys(value);
  const nodes = allOrNull(names.map((name) => strictOne(value[name])));
  return nodes === null ? null : Object.fromEntries(names.map((name, index) => [name, nodes[index]]));
}

/** A schema, or a group of more definitions. */
function strictDefinition(node: unknown): Node | null {
  if (!isNode(node) || Object.keys(node).join() !== '$defs') return strictNode(node);
  const definitions = strictMembers(node['$defs'], strictDefinition);
  return definitions === null ? null : { $defs: definitions };
}

function isTyped(node: Node): boolean {
  return ['type', 'enum', 'const', 'anyOf', '$ref'].some((keyword) => keyword in node);
}

/** Whether an object takes no more than its properties, or can be made so. */
function isClosable(node: Node): boolean {
  if (!isObject(node)) return true;
  const { properties, required, additionalProperties = properties === undefined } = node;
  const names = isNode(properties) ? Object.keys(properties) : [];
  return additionalProperties === false && Array.isArray(required) && names.every((name) => required.includes(name));
}

function isObject({ type, properties }: Node): boolean {
  return type === 'object' || properties !== undefined;
}

function allOrNull(nodes: readonly (Node | null)[]): readonly Node[] | null {
  return nodes.every((node) => node !== null) ? nodes : null;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
