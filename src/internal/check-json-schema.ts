import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { hasType, isJsonNode, type JsonNode, resolved, tupleOf } from './json-schema.ts';
import type { JsonSchema } from './standard-schema.ts';

type Issue = Required<Pick<StandardSchemaV1.Issue, 'path' | 'message'>> & { readonly path: Path };
type Path = readonly (string | number)[];

/**
 * Returns a JSON Schema (draft 7 and the same keywords of 2020-12) as a Standard Schema. `format` is not checked, nor a `pattern` that could
 * take long, because the schema may come from an untrusted source. The time is at most linear in the size of the value: a schema that
 * would take longer rejects it, or with `acceptsUnchecked` accepts it.
 */
export function asStandardSchema(
  schema: JsonSchema,
  { acceptsUnchecked = false }: { readonly acceptsUnchecked?: boolean } = {},
): StandardSchemaV1 & StandardJSONSchemaV1 {
  const convert = (): JsonSchema => schema;
  return {
    '~standard': {
      version: 1,
      vendor: 'json-schema',
      validate(value) {
        const { issues, isTooComplex } = new SchemaCheck(schema, value);
        return issues.length > 0 && !(acceptsUnchecked && isTooComplex) ? { issues } : { value };
      },
      jsonSchema: { input: convert, output: convert },
    },
  };
}

const MAX_ISSUES = 20;
/** Alternatives in alternatives, and references between them, could take exponential time. */
const STEPS_PER_CHAR = 100;
const LEAST_STEPS = 10_000;
const MAX_DEPTH = 200;

class SchemaCheck {
  readonly #root: JsonSchema;
  #stepsLeft: number;
  #isTooDeep = false;
  readonly issues: readonly Issue[];
  readonly isTooComplex: boolean;

  constructor(schema: JsonSchema, value: unknown) {
    this.#root = schema;
    this.#stepsLeft = LEAST_STEPS + STEPS_PER_CHAR * JSON.stringify(value ?? null).length;
    const issues = [...this.#check(value, schema, [], 0)].slice(0, MAX_ISSUES);
    const isTooLong = this.#stepsLeft < 0;
    this.isTooComplex = isTooLong || this.#isTooDeep;
    this.issues = isTooLong ? [{ path: [], message: 'the schema is too complex to check this value' }] : issues;
  }

  *#check(value: unknown, schema: unknown, path: Path, depth: number): Generator<Issue, void> {
    const node = resolved(schema, this.#root);
    this.#stepsLeft -= isJsonNode(node) ? costOf(node, value) : 1;
    if (this.#stepsLeft < 0) return;
    if (node === false) yield { path, message: 'expected no value here' };
    if (!isJsonNode(node)) return;
    if (depth > MAX_DEPTH) {
      this.#isTooDeep = true;
      return void (yield { path, message: `expected at most ${MAX_DEPTH} levels of nesting` });
    }
    const own = ownProblem(value, node);
    // The rules for other types say nothing about a value of the wrong one.
    if (own !== null) return void (yield { path, message: own });
    yield* this.#combined(value, node, path, depth + 1);
    if (Array.isArray(value)) yield* this.#items(value, node, path, depth + 1);
    else if (isJsonNode(value)) yield* this.#members(value, node, path, depth + 1);
  }

  #accepts(value: unknown, schema: unknown, depth: number): boolean {
    return this.#check(value, schema, [], depth).next().done === true;
  }

  *#combined(value: unknown, node: JsonNode, path: Path, depth: number): Generator<Issue, void> {
    const { allOf, anyOf, oneOf, not, if: condition, then, else: otherwise } = node;
    const accepts = (schema: unknown): boolean => this.#accepts(value, schema, depth);
    for (const part of listOf(allOf)) yield* this.#check(value, part, path, depth);
    if (Array.isArray(anyOf) && !anyOf.some(accepts)) yield* this.#nearest(value, anyOf, path, depth);
    const fitting = listOf(oneOf).filter(accepts).length;
    if (Array.isArray(oneOf) && fitting === 0) yield* this.#nearest(value, oneOf, path, depth);
    if (fitting > 1)
      yield { path, message: `expected a value that matches one alternative; received one that matches ${fitting}` };
    if (not !== undefined && accepts(not)) yield { path, message: 'expected a value that does not match "not"' };
    const branch = condition === undefined ? undefined : accepts(condition) ? then : otherwise;
    if (branch !== undefined) yield* this.#check(value, branch, path, depth);
  }

  /** Yields the problems with the only alternative, or with the one of the value's type and constants. */
  *#nearest(value: unknown, alternatives: readonly unknown[], path: Path, depth: number): Generator<Issue, void> {
    const found = alternatives.map((one) => [...this.#check(value, one, path, depth)].slice(0, MAX_ISSUES));
    const inside = found.filter(
      (issues) => issues.length > 0 && issues.every((issue) => issue.path.length > path.length),
    );
    const [only = null, ...others] = inside;
    if (only !== null && others.length === 0) yield* only;
    else yield { path, message: `expected a value that matches one of ${alternatives.length} alternatives` };
  }

  *#items(items: readonly unknown[], node: JsonNode, path: Path, depth: number): Generator<Issue, void> {
    const tuple = tupleOf(node);
    const rest = Array.isArray(node['items']) ? node['additionalItems'] : node['items'];
    for (const [at, item] of items.entries())
      yield* this.#check(item, at < tuple.length ? tuple[at] : rest, [...path, at], depth);
    const { contains } = node;
    if (contains !== undefined && !items.some((item) => this.#accepts(item, contains, depth)))
      yield { path, message: 'expected an item that matches "contains"' };
  }

  *#members(value: JsonNode, node: JsonNode, path: Path, depth: number): Generator<Issue, void> {
    const { required, additionalProperties, patternProperties, propertyNames } = node;
    const properties: JsonNode = isJsonNode(node['properties']) ? node['properties'] : {};
    for (const name of listOf(required))
      if (typeof name === 'string' && !Object.hasOwn(value, name))
        yield { path: [...path, name], message: 'is required' };
    const patterns = Object.entries(isJsonNode(patternProperties) ? patternProperties : {});
    for (const [name, member] of Object.entries(value)) {
      const schemas = [
        ...(Object.hasOwn(properties, name) ? [properties[name]] : []),
        ...patterns.flatMap(([pattern, schema]) => (matches(name, pattern) === true ? [schema] : [])),
      ];
      const isUnsure = patterns.some(([pattern]) => matches(name, pattern) === null);
      const others = schemas.length > 0 || isUnsure ? schemas : [additionalProperties];
      for (const schema of others)
        if (schema === false) yield { path: [...path, name], message: 'is not allowed by the schema' };
        else yield* this.#check(member, schema, [...path, name], depth);
      if (propertyNames !== undefined) yield* this.#check(name, propertyNames, [...path, name], depth);
    }
  }
}

/** Returns the steps that a check takes, apart from those of the parts of the value. */
function costOf({ required, enum: values, patternProperties }: JsonNode, value: unknown): number {
  const patterns = isJsonNode(patternProperties) && isJsonNode(value) ? Object.keys(patternProperties).length : 0;
  return 1 + listOf(required).length + listOf(values).length + patterns * Object.keys(Object(value)).length;
}

const listOf = (list: unknown): readonly unknown[] => (Array.isArray(list) ? list : []);

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, member) =>
    isJsonNode(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))) : member,
  ) ?? '';

/** Returns what is wrong with a value, apart from its members and items; null if nothing is. */
function ownProblem(value: unknown, node: JsonNode): string | null {
  const { type, enum: values, const: only } = node;
  if (type !== undefined && !hasType(value, [type].flat()))
    return `expected ${[type].flat().join(' or ')}; received ${value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value}`;
  if (only !== undefined && canonical(only) !== canonical(value)) return `expected ${JSON.stringify(only)}`;
  if (Array.isArray(values) && !values.some((one) => canonical(one) === canonical(value)))
    return `expected one of ${values.map((one) => JSON.stringify(one)).join(', ')}`;
  if (typeof value === 'number') return rangeProblem(value, node);
  if (typeof value === 'string') {
    const { pattern } = node;
    if (typeof pattern === 'string' && matches(value, pattern) === false)
      return `expected text that matches ${pattern}`;
    return countProblem([...value].length, node['minLength'], node['maxLength'], 'characters');
  }
  if (Array.isArray(value)) {
    if (node['uniqueItems'] === true && new Set(value.map(canonical)).size < value.length)
      return 'expected unique items';
    return countProblem(value.length, node['minItems'], node['maxItems'], 'items');
  }
  return isJsonNode(value)
    ? countProblem(Object.keys(value).length, node['minProperties'], node['maxProperties'], 'members')
    : null;
}

const isNumber = (value: unknown): value is number => typeof value === 'number';

function rangeProblem(value: number, node: JsonNode): string | null {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = node;
  if (isNumber(minimum) && value < minimum) return `expected at least ${minimum}`;
  if (isNumber(maximum) && value > maximum) return `expected at most ${maximum}`;
  if (isNumber(exclusiveMinimum) && value <= exclusiveMinimum) return `expected more than ${exclusiveMinimum}`;
  if (isNumber(exclusiveMaximum) && value >= exclusiveMaximum) return `expected less than ${exclusiveMaximum}`;
  if (!isNumber(multipleOf) || multipleOf <= 0) return null;
  const times = value / multipleOf;
  return Math.abs(times - Math.round(times)) <= 1e-9 * Math.max(1, Math.abs(times))
    ? null
    : `expected a multiple of ${multipleOf}`;
}

function countProblem(count: number, least: unknown, most: unknown, what: string): string | null {
  if (isNumber(least) && count < least) return `expected at least ${least} ${what}; received ${count}`;
  return isNumber(most) && count > most ? `expected at most ${most} ${what}; received ${count}` : null;
}

/** Texts up to this length are matched with patterns of at most this many quantifiers, which bounds the time. */
const MAX_PATTERN_TEXT = 500;
const MAX_QUANTIFIERS = 3;

/** Returns a pattern as a regular expression; null if it could take long, or is invalid. */
function safePattern(pattern: string): RegExp | null {
  // A quantified group or a reference to one may take exponential time. Without an anchor, each position is tried.
  if (/\)[*+?{]|\\[1-9k]/u.test(pattern)) return null;
  const quantifiers = (pattern.match(/[*+{]/gu)?.length ?? 0) + (pattern.startsWith('^') ? 0 : 1);
  if (quantifiers > MAX_QUANTIFIERS) return null;
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return null;
  }
}

/** Null if the pattern is not checked. */
function matches(text: string, pattern: string): boolean | null {
  return text.length > MAX_PATTERN_TEXT ? null : (safePattern(pattern)?.test(text) ?? null);
}
