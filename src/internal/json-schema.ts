/** A JSON Schema, or a part of one, that is an object. */
export type JsonNode = Readonly<Record<string, unknown>>;

export function isJsonNode(value: unknown): value is JsonNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a JSON Schema takes null, as far as its own keywords say; one that says nothing takes anything. */
export function admitsNull(schema: unknown): boolean {
  if (!isJsonNode(schema)) return schema === true;
  const { type, enum: values, const: only, $ref } = schema;
  const choice = choiceOf(schema);
  if (choice !== null) return choice.some(admitsNull);
  if (Array.isArray(values)) return values.includes(null);
  if (only !== undefined || $ref !== undefined) return only === null;
  return type === undefined || type === 'null' || (Array.isArray(type) && type.includes('null'));
}

/** The one alternative of a schema beside null: itself, if it is no choice; null where there are several. */
export function onlyAlternative(schema: JsonNode): unknown {
  const choice = choiceOf(schema);
  if (choice === null) return schema;
  const others = choice.filter((one) => !(isJsonNode(one) && one['type'] === 'null'));
  return others.length === 1 ? others[0] : null;
}

/** Gives a value without the nulls that stand for what was left out; the value given is not changed. */
type Remover = (value: unknown) => unknown;

/**
 * What takes out of a value the members that are null and may only be left out: many models say null for what they leave out, and
 * OpenAI's strict mode knows no other way. Members of choices and of what is referred to stay as they are. The schema is looked
 * through once; null where it has no such member, so that most values are not looked at.
 */
export function nullRemover(schema: unknown): Remover | null {
  const node = isJsonNode(schema) ? onlyAlternative(schema) : null;
  if (!isJsonNode(node)) return null;
  const ofItems = nullRemover(node['items']);
  const ofMembers = memberRemovers(node);
  if (ofItems === null && ofMembers.size === 0) return null;
  return (value) => {
    if (Array.isArray(value)) return ofItems === null ? value : value.map(ofItems);
    return isJsonNode(value) && ofMembers.size > 0 ? withoutMembers(value, ofMembers) : value;
  };
}

/** A member that may have to go, or that something may have to go from. */
interface MemberRemover {
  readonly mayGo: boolean;
  readonly inside: Remover | null;
}

function memberRemovers({ properties, required }: JsonNode): ReadonlyMap<string, MemberRemover> {
  const wanted = Array.isArray(required) ? required : [];
  const removers = new Map<string, MemberRemover>();
  for (const [name, member] of Object.entries(isJsonNode(properties) ? properties : {})) {
    const mayGo = !wanted.includes(name) && !admitsNull(member);
    const inside = nullRemover(member);
    if (mayGo || inside !== null) removers.set(name, { mayGo, inside });
  }
  return removers;
}

function withoutMembers(value: JsonNode, removers: ReadonlyMap<string, MemberRemover>): JsonNode {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const remover = removers.get(name);
      if (member === null && remover?.mayGo) return [];
      return [[name, remover?.inside ? remover.inside(member) : member]];
    }),
  );
}

function choiceOf({ anyOf, oneOf }: JsonNode): readonly unknown[] | null {
  if (Array.isArray(anyOf)) return anyOf;
  return Array.isArray(oneOf) ? oneOf : null;
}
