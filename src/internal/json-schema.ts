/** A JSON Schema, or a part of one, that is an object. */
export type JsonNode = Readonly<Record<string, unknown>>;

export function isJsonNode(value: unknown): value is JsonNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const schemaText = (schema: JsonNode): string => `It must match this JSON Schema:\n${JSON.stringify(schema)}`;

export const jsonInstruction = (schema: JsonNode): string =>
  `Reply with one JSON object and nothing else. ${schemaText(schema)}`;

/** Whether a JSON Schema accepts null, judged by its own keywords; a schema without constraints accepts anything. */
export function admitsNull(schema: unknown): boolean {
  if (!isJsonNode(schema)) return schema === true;
  const { type, enum: values, const: only, $ref } = schema;
  const alternatives = alternativesOf(schema);
  if (alternatives !== null) return alternatives.some(admitsNull);
  if (Array.isArray(values)) return values.includes(null);
  if (only !== undefined || $ref !== undefined) return only === null;
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
 * Returns a function that removes null members that the schema allows to be omitted but not to be null. Many models write null for
 * what they omit, and OpenAI's strict mode requires it. Members of alternatives and of referenced schemas stay as they are.
 *
 * The schema is traversed once. Returns null if it has no such member, so that most values are not traversed at all.
 */
export function nullRemover(schema: unknown): NullRemover | null {
  const node = isJsonNode(schema) ? onlyAlternative(schema) : null;
  if (!isJsonNode(node)) return null;
  const ofItems = nullRemover(node['items']);
  const ofMembers = memberRemovers(node);
  if (ofItems === null && ofMembers.size === 0) return null;
  return (value) => {
    if (Array.isArray(value)) return ofItems === null ? value : value.map(ofItems);
    return isJsonNode(value) && ofMembers.size > 0 ? withoutNulls(value, ofMembers) : value;
  };
}

interface MemberRemover {
  /** Whether the member itself is removed when it is null. */
  readonly isRemovable: boolean;
  readonly inside: NullRemover | null;
}

function memberRemovers({ properties, required }: JsonNode): ReadonlyMap<string, MemberRemover> {
  const requiredNames = Array.isArray(required) ? required : [];
  const removers = new Map<string, MemberRemover>();
  for (const [name, member] of Object.entries(isJsonNode(properties) ? properties : {})) {
    const isRemovable = !requiredNames.includes(name) && !admitsNull(member);
    const inside = nullRemover(member);
    if (isRemovable || inside !== null) removers.set(name, { isRemovable, inside });
  }
  return removers;
}

function withoutNulls(value: JsonNode, removers: ReadonlyMap<string, MemberRemover>): JsonNode {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const remover = removers.get(name);
      if (member === null && remover?.isRemovable) return [];
      return [[name, remover?.inside ? remover.inside(member) : member]];
    }),
  );
}

function alternativesOf({ anyOf, oneOf }: JsonNode): readonly unknown[] | null {
  if (Array.isArray(anyOf)) return anyOf;
  return Array.isArray(oneOf) ? oneOf : null;
}
