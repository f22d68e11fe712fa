import { isJsonNode, type JsonNode, resolved } from '../internal/json-schema.ts';

/** The most examples of a value, and of each of its members. */
const MOST = 6;

/**
 * Returns example values of a JSON Schema, as different as a chart may tell apart: each constant and alternative, both booleans, the limits of
 * numbers. They need not pass rules that the schema cannot express.
 */
export function examplesOf(schema: unknown, root: unknown = schema, depth = 0): readonly unknown[] {
  const node = resolved(schema, root);
  if (!isJsonNode(node) || depth > 8) return [null];
  const { const: only, enum: values, anyOf, oneOf, type, default: preset } = node;
  if (only !== undefined) return [only];
  if (Array.isArray(values)) return values.slice(0, MOST);
  const alternatives = anyOf ?? oneOf;
  if (Array.isArray(alternatives))
    return alternatives.flatMap((one) => examplesOf(one, root, depth + 1).slice(0, 2)).slice(0, MOST);
  const found = [type].flat().flatMap((kind) => examplesOfType(kind, node, root, depth));
  return preset === undefined ? found : [preset, ...found.slice(0, MOST - 1)];
}

function examplesOfType(type: unknown, node: JsonNode, root: unknown, depth: number): readonly unknown[] {
  switch (type) {
    case 'boolean':
      return [true, false];
    case 'integer':
    case 'number':
      return numbersIn(node);
    case 'string':
      return [textOf(node)];
    case 'array':
      return arraysOf(node, root, depth);
    case 'object':
      return objectsOf(node, root, depth);
    default:
      return [null];
  }
}

const MOST_NUMBER = 1_000;

function numbersIn({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: JsonNode): readonly number[] {
  const low = typeof exclusiveMinimum === 'number' ? exclusiveMinimum + 1 : minimum;
  const high = typeof exclusiveMaximum === 'number' ? exclusiveMaximum - 1 : maximum;
  const least = typeof low === 'number' && Math.abs(low) < Number.MAX_SAFE_INTEGER ? low : 0;
  const most = typeof high === 'number' && Math.abs(high) < Number.MAX_SAFE_INTEGER ? high : least + MOST_NUMBER;
  return least === most ? [least] : [least, most];
}

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  email: 'ada@example.com',
  uri: 'https://example.com',
};

function textOf({ format, minLength }: JsonNode): string {
  const text = (typeof format === 'string' ? FORMATS[format] : undefined) ?? 'text';
  return typeof minLength === 'number' ? text.padEnd(minLength, 'x') : text;
}

/** Arrays with no, one and two items, of those lengths that the schema allows; otherwise the shortest. Two items differ if possible. */
function arraysOf({ items, minItems = 0, maxItems = 2, uniqueItems }: JsonNode, root: unknown, depth: number) {
  const examples = examplesOf(items, root, depth + 1);
  const lengths = [0, 1, 2].filter((length) => length >= Number(minItems) && length <= Number(maxItems));
  const possible = uniqueItems === true ? lengths.filter((length) => length <= examples.length) : lengths;
  return (possible.length > 0 ? possible : [Number(minItems)]).map((length) =>
    Array.from({ length }, (_, at) => examples[at % examples.length]),
  );
}

/** Varies one member after the other: the number of examples is the sum of those of the members, not their product. */
function objectsOf({ properties }: JsonNode, root: unknown, depth: number): readonly unknown[] {
  const members = isJsonNode(properties) ? Object.entries(properties) : [];
  const examples = members.map(([name, schema]) => [name, examplesOf(schema, root, depth + 1)] as const);
  const base = Object.fromEntries(examples.map(([name, [first]]) => [name, first]));
  const varied = examples.flatMap(([name, values]) => values.slice(1).map((value) => ({ ...base, [name]: value })));
  return [base, ...varied].slice(0, MOST);
}
