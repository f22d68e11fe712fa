type Node = Readonly<Record<string, unknown>>;

/** A schema that stands somewhere within another, and the definitions that go to the other's root. */
interface Moved {
  readonly schema: Node;
  /** `$defs` and `definitions`, as there are any. */
  readonly definitions: Node;
}

/** Keywords whose values are no schemas, so that nothing in them is a reference. */
const DATA = new Set(['const', 'enum', 'default', 'examples']);
/** Keywords whose values are schemas by names, which may be any. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);

/**
 * A JSON Schema for another place, `/items` say. Its definitions go to the root of the whole, where servers with structured output
 * look for them, and keep their names; references to the schema's own root point to where that is now.
 */
export function movedTo(place: string, schema: Node): Moved {
  const { $defs, definitions, ...rest } = schema;
  const move = (node: unknown): unknown => moved(place, node);
  return {
    schema: move(rest) as Node,
    definitions: {
      ...($defs !== undefined && { $defs: movedByName(place, $defs) }),
      ...(definitions !== undefined && { definitions: movedByName(place, definitions) }),
    },
  };
}

function moved(place: string, node: unknown): unknown {
  if (Array.isArray(node)) return node.map((one) => moved(place, one));
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([keyword, value]) => {
      if (DATA.has(keyword)) return [keyword, value];
      if (keyword === '$ref' && typeof value === 'string') return [keyword, movedReference(place, value)];
      return [keyword, NAMED.has(keyword) ? movedByName(place, value) : moved(place, value)];
    }),
  );
}

function movedByName(place: string, schemas: unknown): unknown {
  if (typeof schemas !== 'object' || schemas === null) return schemas;
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, moved(place, schema)]));
}

function movedReference(place: string, reference: string): string {
  const isOwnPlace = /^#(\/(?!\$defs\/|definitions\/)|$)/u.test(reference);
  return isOwnPlace ? `#${place}${reference.slice(1)}` : reference;
}
