type Node = Readonly<Record<string, unknown>>;

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a JSON Schema takes null, as far as its own keywords say; one that says nothing takes anything. */
export function admitsNull(schema: unknown): boolean {
  if (!isNode(schema)) return schema === true;
  const { type, enum: values, const: only, $ref } = schema;
  const choice = choiceOf(schema);
  if (choice !== null) return choice.some(admitsNull);
  if (Array.isArray(values)) return values.includes(null);
  if (only !== undefined || $ref !== undefined) return only === null;
  return type === undefined || type === 'null' || (Array.isArray(type) && type.includes('null'));
}

/** The one alternative of a schema beside null: itself, if it is no choice; null where there are several. */
export function onlyAlternative(schema: Node): unknown {
  const choice = choiceOf(schema);
  if (choice === null) return schema;
  const others = choice.filter((one) => !(isNode(one) && one['type'] === 'null'));
  return others.length === 1 ? others[0] : null;
}

/**
 * The value without the members that are null and may only be left out: many models say null for what they leave out, and OpenAI's
 * strict mode knows no other way. Members of choices and of what is referred to stay as they are. The value given is not changed.
 */
export function withoutNulls(schema: unknown, value: unknown): unknown {
  if (!isNode(schema)) return value;
  const node = onlyAlternative(schema);
  if (!isNode(node)) return value;
  if (Array.isArray(value))
    return isNode(node['items']) ? value.map((item) => withoutNulls(node['items'], item)) : value;
  const { properties, required } = node;
  if (!isNode(value) || !isNode(properties)) return value;
  const wanted = Array.isArray(required) ? required : [];
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const one = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (member === null && one !== undefined && !wanted.includes(name) && !admitsNull(one)) return [];
      return [[name, withoutNulls(one, member)]];
    }),
  );
}

function choiceOf({ anyOf, oneOf }: Node): readonly unknown[] | null {
  if (Array.isArray(anyOf)) return anyOf;
  return Array.isArray(oneOf) ? oneOf : null;
}
