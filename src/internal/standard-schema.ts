import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { Failure, FailureStage } from '../../machines/contracts/failure.ts';
import { failureOf, unexpectedFailure } from '../../machines/policies/failures.ts';
import { mapMaybePromise } from './async.ts';
import { describeValue } from './options.ts';

/** What an issue is about: the value's shape, a rule of the user's own over it, or its transformation. */
export type IssueKind = 'shape' | 'rule' | 'transformation';

/** What Standard Schema leaves to each library. */
interface Vendor {
  readonly kindOf: (marks: IssueMarks) => IssueKind;
  /** Rules are code: JSON Schema cannot say them, and the value is held against them anyway. So they are left out of it. */
  readonly withoutRules?: Readonly<Record<string, unknown>>;
}

/** What libraries mark an issue with, beside the message and path of the spec. */
export interface IssueMarks {
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
    withoutRules: { fallback: { predicate: ({ base }: { base: unknown }) => base } },
  },
  valibot: {
    kindOf: ({ kind, type }) => {
      if (kind === 'transformation') return 'transformation';
      return kind === 'validation' && VALIBOT_RULES.includes(String(type)) ? 'rule' : 'shape';
    },
    withoutRules: { ignoreActions: VALIBOT_RULES },
  },
};

/** Of a library not known here, all is shape. */
const UNKNOWN: Vendor = { kindOf: () => 'shape' };

export function vendorOf(name: string): Vendor {
  return (Object.hasOwn(vendors, name) ? vendors[name] : undefined) ?? UNKNOWN;
}

/** JSON Schema, draft 7. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Whether a value keeps the Standard Schema contract (https://standardschema.dev): it can validate. */
export function isStandardSchema(value: unknown): value is StandardSchemaV1 {
  const standard = (value as StandardSchemaV1 | null | undefined)?.['~standard'];
  return typeof standard?.validate === 'function';
}

const WAYS_OUT: Readonly<Record<string, string>> = {
  valibot: 'wrap it in toStandardJsonSchema of @valibot/to-json-schema, or ',
  zod: 'for zod/mini jsonSchema is z.toJSONSchema(schema), for zod before 4.2 update it; ',
};

/**
 * What the schema takes in, as JSON Schema: told by the schema itself (Standard JSON Schema: zod 4.2, arktype 2.1.28 and newer;
 * valibot through `toStandardJsonSchema`).
 *
 * @throws PostChainError `invalid_schema` for a schema with no JSON form, or with something in it that JSON Schema cannot say.
 */
export function jsonSchemaOf(schema: StandardSchemaV1): JsonSchema {
  const { vendor, jsonSchema } = (schema as StandardSchemaV1 & Partial<StandardJSONSchemaV1>)['~standard'];
  if (typeof jsonSchema?.input !== 'function') {
    throw new PostChainError(
      'invalid_schema',
      `schema: got a schema of ${vendor} that has no JSON Schema form; ${WAYS_OUT[vendor] ?? ''}give one as jsonSchema.`,
    );
  }
  try {
    const { $schema: _, ...told } = jsonSchema.input({
      target: 'draft-07',
      libraryOptions: vendorOf(vendor).withoutRules,
    });
    return told;
  } catch (cause) {
    const why = cause instanceof Error ? (cause.message.split('\n', 1)[0] ?? '') : String(cause);
    throw new PostChainError(
      'invalid_schema',
      `schema: ${vendor} cannot say it as JSON Schema (${why.replace(/\.$/u, '')}); use what JSON has, text for a date say, or give jsonSchema.`,
      { cause },
    );
  }
}

/**
 * The schema of a list's items; null where the schema is no list. `listOf` and zod's `z.array` tell it; of other lists it is the list's
 * own, asked of a list with the one item in it.
 */
export function itemSchemaOf(schema: StandardSchemaV1, jsonSchema: JsonSchema): StandardSchemaV1 | null {
  const { element } = schema as { element?: unknown };
  if (isStandardSchema(element)) return element;
  const { type, items } = jsonSchema;
  return type === 'array' && typeof items === 'object' && !Array.isArray(items) ? oneItemOf(schema) : null;
}

function itemOf(list: unknown): StandardSchemaV1.Result<unknown> {
  return Array.isArray(list) && list.length === 1
    ? { value: list[0] }
    : { issues: [{ message: 'the schema makes no list of its items' }] };
}

function oneItemOf(list: StandardSchemaV1): StandardSchemaV1 {
  const { version, vendor, validate } = list['~standard'];
  const only = ({ issues, ...checked }: StandardSchemaV1.Result<unknown>): StandardSchemaV1.Result<unknown> =>
    issues !== undefined ? { issues } : itemOf((checked as { value: unknown }).value);
  return {
    '~standard': {
      version,
      vendor,
      validate: (item) => mapMaybePromise(validate([item]), only),
    },
  };
}

/** @throws PostChainError `invalid_schema` for what is no Standard Schema. */
export function requireStandardSchema(value: unknown): asserts value is StandardSchemaV1 {
  if (isStandardSchema(value)) return;
  throw new PostChainError(
    'invalid_schema',
    `schema: got ${describeValue(value)}; wanted a Standard Schema: one of zod, valibot or arktype.`,
  );
}

/** A value that its schema refuses: where and why, and the stage at which it failed [A10]. `what` names the schema. */
export function misfit(what: string, vendor: string, issues: readonly StandardSchemaV1.Issue[]): Failure {
  const { kindOf } = vendorOf(vendor);
  const kinds = new Set(issues.map((issue) => kindOf(marksOf(issue))));
  const places = issues.length === 1 ? 'one place' : `${issues.length} places`;
  const message = `The reply does not fit the schema of "${what}" in ${places}.`;
  return failureOf(stageOf(kinds), 'invalid_reply', message, {
    issues: issues.map(({ path = [], message: says }) => ({ path: path.map(nameOf).join('.'), message: String(says) })),
  });
}

/** A schema that threw: something in it, usually a transformation, took the value and could not do its work. */
export function cannotTransform(error: unknown): Failure {
  const message = `The reply fits its schema, but cannot be transformed: ${unexpectedFailure(error).message}`;
  return failureOf('transformation', 'transformation_failed', message);
}

/** The first stage that failed: what has the wrong shape counts more than a broken rule. */
function stageOf(kinds: ReadonlySet<IssueKind>): FailureStage {
  if (kinds.has('shape') || kinds.size === 0) return 'schema';
  return kinds.has('rule') ? 'refinement' : 'transformation';
}

function nameOf(segment: PropertyKey | StandardSchemaV1.PathSegment): string {
  return String(typeof segment === 'object' ? segment.key : segment);
}
