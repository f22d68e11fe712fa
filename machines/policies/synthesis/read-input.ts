import { type Draft, expectationOf, type SynthesisInput, synthesisInputSchema } from '../../contracts/synthesis.ts';
import { NO_USAGE } from '../usage.ts';

export interface ReadSynthesisInput {
  readonly input: SynthesisInput;
  /** Every field that is missing or invalid; `input` has a neutral value in its place. */
  readonly problems: readonly InputProblem[];
}

/** A field that is missing or invalid, in words. `field` is its dotted path. */
export interface InputProblem {
  readonly field: string;
  readonly expected: string;
  readonly received: string;
}

export const NO_DRAFT: Draft = { text: '', confidence: 0, usedMessageIds: [], notes: '' };

/** The values of missing fields. An object here is read member by member. */
const FALLBACKS = {
  request: '',
  executionResults: [],
  planState: {},
  convergenceAssessment: {},
  correlationId: 'unknown',
  executionStartTimestamp: '1970-01-01T00:00:00.000Z',
  convergenceStatus: false,
  totalPasses: 0,
  totalRefinements: 0,
  ttlRemaining: 0,
  run: { draft: NO_DRAFT, limits: {}, thresholds: {}, excess: {}, usage: NO_USAGE },
};

/**
 * Reads the input of synthesis field by field: valid fields are kept, others are reported. Never throws, and never
 * changes its argument.
 */
export function readSynthesisInput(given: unknown): ReadSynthesisInput {
  const problems: InputProblem[] = [];
  if (typeof given !== 'object' || given === null) {
    const expected = 'an object with the fields of the contract';
    problems.push({ field: 'input', expected, received: describeReceived(given) });
  }
  const { shape } = synthesisInputSchema as unknown as { readonly shape: Readonly<Record<string, Schema>> };
  const input = readFields(shape, FALLBACKS, given, '', problems);
  return { input: withStepIds(input as unknown as SynthesisInput), problems };
}

/** Steps without an id are numbered. */
function withStepIds(input: SynthesisInput): SynthesisInput {
  const steps = input.executionResults;
  if (steps.every(({ stepId }) => stepId !== '')) return input;
  return {
    ...input,
    executionResults: steps.map((step, at) => (step.stepId === '' ? { ...step, stepId: `step ${at + 1}` } : step)),
  };
}

/** Describes a problem in one line. */
export function problemText({ field, expected, received }: InputProblem): string {
  return `${field}: expected ${expected}; received ${received}`;
}

/** The parts of a zod schema that the reader uses. `shape` is set for an object, `def.element` for an array. */
interface Schema {
  readonly shape?: Readonly<Record<PropertyKey, Schema>>;
  readonly def?: { readonly type?: string; readonly innerType?: Schema; readonly element?: Schema };
  safeParse(value: unknown): Parsed;
}

type Issue = NonNullable<ReturnType<typeof synthesisInputSchema.safeParse>['error']>['issues'][number];
type Parsed =
  | { readonly success: true; readonly data: unknown }
  | { readonly success: false; readonly error?: { readonly issues: readonly Issue[] } };
type Members = Readonly<Record<string, unknown>>;

/** The number of invalid items after which the rest of a list is not read. */
const MAX_INVALID_ITEMS = 20;

/**
 * Reads each member of `shape` separately: keeps valid members, and reports invalid ones and replaces them with their
 * default, or else with their value in `fallback`. Objects with a fallback are read member by member, lists item by
 * item. Accesses only the members that the schema names, each behind a `try`.
 */
function readFields(
  shape: NonNullable<Schema['shape']>,
  fallback: Members,
  given: unknown,
  prefix: string,
  problems: InputProblem[],
): Members {
  const fields = Object.entries(shape).map(([key, schema]) => {
    const value = memberOf(given, key);
    const isAbsent = value === undefined && schema.def?.type === 'optional';
    return [key, isAbsent ? undefined : readField(schema, fallback[key], value, `${prefix}${key}`, problems)];
  });
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

function readField(
  schema: Schema,
  fallback: unknown,
  value: unknown,
  field: string,
  problems: InputProblem[],
): unknown {
  const { shape, def } = unwrap(schema);
  if (def?.element !== undefined && isList(value)) return readList(def.element, value, field, problems);
  if (shape !== undefined && isMembers(fallback) && isMembers(value))
    return readFields(shape, fallback, value, `${field}.`, problems);
  const read = tryParse(schema, value);
  if (read.success) return read.data;
  problems.push(
    problemOf(
      schema,
      value,
      field,
      read.error?.issues.find(({ path }) => path.length === 0),
    ),
  );
  const omitted = tryParse(schema, undefined);
  return omitted.success ? omitted.data : fallback;
}

function readList(item: Schema, list: readonly unknown[], field: string, problems: InputProblem[]): readonly unknown[] {
  const valid: unknown[] = [];
  const length = memberOf(list, 'length');
  const end = typeof length === 'number' ? length : 0;
  let invalid = 0;
  for (let at = 0; at < end && invalid < MAX_INVALID_ITEMS; at += 1) {
    const value = memberOf(list, at);
    const read = tryParse(item, value);
    if (read.success) valid.push(read.data);
    else {
      invalid += 1;
      problems.push(problemOf(item, value, `${field}.${at}`, read.error?.issues[0]));
    }
  }
  return valid;
}

/** Describes the innermost invalid member of a value. */
function problemOf(schema: Schema, value: unknown, field: string, issue: Issue | undefined): InputProblem {
  const path = issue?.path ?? [];
  return {
    field: escapeControls([field, ...path.map(String)].join('.').slice(0, 200)),
    received: describeReceived(path.reduce(memberOf, value)),
    expected: descriptionOf(path.reduce(memberSchema, schema)) ?? describeIssue(issue),
  };
}

/** Getters and proxies in the value may throw. */
function tryParse(schema: Schema, value: unknown): Parsed {
  try {
    return schema.safeParse(value);
  } catch {
    return { success: false };
  }
}

/** Stands for a value whose getter or proxy throws. */
const UNREADABLE = Symbol('unreadable');

function memberOf(given: unknown, key: PropertyKey): unknown {
  try {
    return (given as Record<PropertyKey, unknown> | null | undefined)?.[key];
  } catch {
    return UNREADABLE;
  }
}

function isList(value: unknown): value is readonly unknown[] {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !isList(value);
}

/** Returns the schema without defaults and optionality. */
function unwrap(schema: Schema): Schema {
  return schema.def?.innerType === undefined ? schema : unwrap(schema.def.innerType);
}

function memberSchema(schema: Schema | undefined, key: PropertyKey): Schema | undefined {
  const { shape, def } = schema === undefined ? {} : unwrap(schema);
  return typeof key === 'number' ? def?.element : shape?.[key];
}

function descriptionOf(schema: Schema | undefined): string | undefined {
  return schema === undefined ? undefined : (expectationOf(schema) ?? descriptionOf(schema.def?.innerType));
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'a boolean',
  array: 'an array',
  object: 'an object',
  record: 'an object',
};

function describeIssue(issue: Issue | undefined): string {
  switch (issue?.code) {
    case undefined:
      return 'a readable value';
    case 'invalid_type':
      return TYPES[issue.expected] ?? issue.expected;
    case 'invalid_value':
      return `one of ${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return issue.origin === 'string' ? 'a non-empty string' : `at least ${issue.minimum}`;
    case 'too_big':
      return `at most ${issue.maximum}`;
    default:
      return 'a valid value';
  }
}

const SHOWN_CHARS = 60;
const UNREADABLE_TEXT = 'an unreadable value';

/** Describes any value in a few words, on one line. */
function describeReceived(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'symbol') return UNREADABLE_TEXT;
  if (typeof value !== 'object' || value === null) return String(value);
  try {
    return Array.isArray(value) ? `an array of ${value.length}` : 'an object';
  } catch {
    return UNREADABLE_TEXT;
  }
}

function quote(text: string): string {
  const shown = JSON.stringify(text.slice(0, SHOWN_CHARS));
  return escapeControls(text.length > SHOWN_CHARS ? `${shown}…` : shown);
}

/** Escapes characters that would break a line or change its direction. */
function escapeControls(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}
