import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { Failure, FailureStage } from '../../machines/contracts/failure.ts';
import { failureOf } from '../../machines/policies/failures.ts';
import { clippedLine } from '../../machines/text/clip.ts';
import { mapMaybePromise } from './async.ts';
import { describeValue } from './describe-value.ts';

/** JSON Schema, draft 7. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Whether a value implements Standard Schema (https://standardschema.dev). */
export function isStandardSchema(value: unknown): value is StandardSchemaV1 {
  const standard = (value as StandardSchemaV1 | null | undefined)?.['~standard'];
  return typeof standard?.validate === 'function';
}

/** @throws PostChainError `invalid_schema` unless the value is a Standard Schema. */
export function requireStandardSchema(value: unknown): asserts value is StandardSchemaV1 {
  if (isStandardSchema(value)) return;
  throw new PostChainError(
    'invalid_schema',
    `schema: expected a Standard Schema (zod, valibot or arktype); received ${describeValue(value)}.`,
  );
}

const CONVERSION_HINTS: Readonly<Record<string, string>> = {
  valibot: 'wrap it in toStandardJsonSchema of @valibot/to-json-schema, or ',
  zod: 'for zod/mini, jsonSchema is z.toJSONSchema(schema); update zod if it is older than 4.2; ',
};

/**
 * Returns the schema's input type as JSON Schema. The schema converts itself (Standard JSON Schema: zod 4.2, arktype 2.1.28 and newer;
 * valibot through `toStandardJsonSchema`).
 *
 * @throws PostChainError `invalid_schema` if the schema cannot be converted.
 */
export function jsonSchemaOf(schema: StandardSchemaV1): JsonSchema {
  const { vendor, jsonSchema } = (schema as StandardSchemaV1 & Partial<StandardJSONSchemaV1>)['~standard'];
  if (typeof jsonSchema?.input !== 'function') {
    throw new PostChainError(
      'invalid_schema',
      `schema: this ${vendor} schema has no JSON Schema form; ${CONVERSION_HINTS[vendor] ?? ''}pass jsonSchema.`,
    );
  }
  try {
    const { $schema: _, ...converted } = jsonSchema.input({
      target: 'draft-07',
      libraryOptions: vendorOf(vendor).conversionOptions,
    });
    return converted;
  } catch (cause) {
    const why = cause instanceof Error ? (cause.message.split('\n', 1)[0] ?? '') : String(cause);
    throw new PostChainError(
      'invalid_schema',
      `schema: ${vendor} cannot convert it to JSON Schema (${why.replace(/\.$/u, '')}); use JSON types, for example a string for a date, or pass jsonSchema.`,
      { cause },
    );
  }
}

/**
 * Returns the schema of an array's items, or null if the schema is not an array. `listOf` and zod's `z.array` expose it. For other
 * arrays, the array schema itself validates an array with the one item.
 */
export function itemSchemaOf(schema: StandardSchemaV1, jsonSchema: JsonSchema): StandardSchemaV1 | null {
  const { element } = schema as { element?: unknown };
  if (isStandardSchema(element)) return element;
  const { type, items } = jsonSchema;
  return type === 'array' && typeof items === 'object' && !Array.isArray(items) ? singleItemSchema(schema) : null;
}

function singleItemSchema(list: StandardSchemaV1): StandardSchemaV1 {
  const { version, vendor, validate } = list['~standard'];
  const firstItem = ({ issues, ...checked }: StandardSchemaV1.Result<unknown>): StandardSchemaV1.Result<unknown> => {
    if (issues !== undefined) return { issues };
    const { value } = checked as { value: unknown };
    return Array.isArray(value) && value.length === 1
      ? { value: value[0] }
      : { issues: [{ message: 'the schema does not return an array of its items' }] };
  };
  return { '~standard': { version, vendor, validate: (item) => mapMaybePromise(validate([item]), firstItem) } };
}

/** Returns the failure of a reply that its schema rejects: where, why, and the stage at which it failed. `what` names the schema. */
export function schemaFailure(what: string, vendor: string, issues: readonly StandardSchemaV1.Issue[]): Failure {
  const { kindOf } = vendorOf(vendor);
  const kinds = new Set(issues.map((issue) => kindOf(marksOf(issue))));
  const described = issues.map(({ path = [], message: text }) => ({
    path: path.map(segmentName).join('.'),
    message: String(text),
  }));
  const places = issues.length === 1 ? 'one place' : `${issues.length} places`;
  const message = `The reply does not match the schema of "${what}" in ${places}${firstPaths(described)}.`;
  return failureOf(stageOf(kinds), 'invalid_reply', message, { issues: described });
}

const MAX_PATHS = 3;
const MAX_PATH_CHARS = 80;

/** Returns the first paths in parentheses; empty if the only problem is the value as a whole. */
function firstPaths(issues: readonly { readonly path: string }[]): string {
  const paths = [...new Set(issues.map(({ path }) => clippedLine(path, MAX_PATH_CHARS)))].filter((path) => path !== '');
  if (paths.length === 0) return '';
  return ` (${paths.slice(0, MAX_PATHS).join(', ')}${paths.length > MAX_PATHS ? ', …' : ''})`;
}

/** The first stage that failed: a wrong shape comes before a broken rule. */
function stageOf(kinds: ReadonlySet<IssueKind>): FailureStage {
  if (kinds.has('shape') || kinds.size === 0) return 'schema';
  return kinds.has('rule') ? 'refinement' : 'transformation';
}

function segmentName(segment: PropertyKey | StandardSchemaV1.PathSegment): string {
  return String(typeof segment === 'object' ? segment.key : segment);
}

/** What an issue is about: the value's shape, a rule of the user's on top of it, or its transformation. */
type IssueKind = 'shape' | 'rule' | 'transformation';

/** What Standard Schema leaves to each library. */
interface Vendor {
  readonly kindOf: (marks: IssueMarks) => IssueKind;
  /** Leaves rules out of the JSON Schema: they are code, and the value is validated against them anyway. */
  readonly conversionOptions?: Readonly<Record<string, unknown>>;
}

/** What libraries add to an issue besides the message and path of the spec. */
interface IssueMarks {
  readonly code?: unknown;
  readonly kind?: unknown;
  readonly type?: unknown;
}

export function marksOf(issue: StandardSchemaV1.Issue): IssueMarks {
  const { code, kind, type } = issue as IssueMarks;
  return { code, kind, type };
}

const VALIBOT_RULES = ['check', 'check_items', 'every_item', 'partial_check', 'raw_check', 'some_item'];

const vendors: Readonly<Record<string, Vendor>> = {
  zod: { kindOf: ({ code }) => (code === 'custom' ? 'rule' : 'shape') },
  arktype: {
    kindOf: ({ code }) => (code === 'predicate' ? 'rule' : 'shape'),
    conversionOptions: { fallback: { predicate: ({ base }: { base: unknown }) => base } },
  },
  valibot: {
    kindOf: ({ kind, type }) => {
      if (kind === 'transformation') return 'transformation';
      return kind === 'validation' && VALIBOT_RULES.includes(String(type)) ? 'rule' : 'shape';
    },
    conversionOptions: { ignoreActions: VALIBOT_RULES },
  },
};

/** For an unknown library every issue is about the shape. */
const UNKNOWN_VENDOR: Vendor = { kindOf: () => 'shape' };

function vendorOf(name: string): Vendor {
  return (Object.hasOwn(vendors, name) ? vendors[name] : undefined) ?? UNKNOWN_VENDOR;
}
