import { z } from 'zod';

/** A field that is missing or invalid, in words. `field` is its dotted path. */
export interface InputProblem {
  readonly field: string;
  readonly expected: string;
  readonly received: string;
}

interface FieldReader {
  readonly report: (problem: InputProblem) => void;
  readonly field: string;
}

type Shape = Readonly<Record<string, z.ZodType>>;
type Members = Readonly<Record<string, unknown>>;

/** Invalid items of one list to report; the rest of a list with more of them is not read. */
const MAX_INVALID_ITEMS = 20;

/**
 * Reads each member of `shape` on its own: keeps valid members, reports invalid ones and replaces them with their default, or else
 * with their value in `fallback`. Objects with a fallback are read member by member, lists item by item. Never throws, whatever it is
 * given, and reads nothing that the schema does not name.
 */
export function readFields(
  shape: Shape,
  fallback: Members,
  given: unknown,
  report: FieldReader['report'],
  prefix = '',
): Record<string, unknown> {
  const read: Record<string, unknown> = {};
  for (const member of membersOf(shape)) {
    const { key } = member;
    read[key] = readMember(member, fallback[key], memberOf(given, key), { report, field: `${prefix}${key}` });
  }
  return read;
}

/** A member of a shape. `item` is set for a list, `shape` for an object. */
interface Member {
  readonly key: string;
  readonly schema: z.ZodType;
  readonly item: z.ZodType | null;
  readonly shape: Shape | null;
}

const membersByShape = new WeakMap<Shape, readonly Member[]>();

function membersOf(shape: Shape): readonly Member[] {
  const members = membersByShape.get(shape) ?? Object.entries(shape).map(([key, schema]) => memberFor(key, schema));
  membersByShape.set(shape, members);
  return members;
}

function memberFor(key: string, schema: z.ZodType): Member {
  const inner = unwrap(schema as unknown as SchemaNode) as unknown as z.ZodType;
  return {
    key,
    schema,
    item: inner instanceof z.ZodArray ? (inner.element as z.ZodType) : null,
    shape: inner instanceof z.ZodObject ? inner.shape : null,
  };
}

function readMember({ schema, item, shape }: Member, fallback: unknown, value: unknown, reader: FieldReader): unknown {
  const { report, field } = reader;
  if (item !== null && isList(value)) return readList(item, value, reader);
  if (shape !== null && isMembers(fallback) && isMembers(value))
    return readFields(shape, fallback, value, report, `${field}.`);
  const read = tryParse(schema, value);
  if (read.success) return read.data;
  const issue = read.error?.issues.find(({ path }) => path.length === 0);
  report({ field, received: describeReceived(value), expected: describeExpected(schema, issue) });
  const omitted = tryParse(schema, undefined);
  return omitted.success ? omitted.data : fallback;
}

function readList(item: z.ZodType, list: readonly unknown[], { report, field }: FieldReader): readonly unknown[] {
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
      report(itemProblem(item, value, `${field}.${at}`, read.error?.issues[0]));
    }
  }
  return valid;
}

/** The problem of an item, with the path to the innermost invalid member. */
function itemProblem(
  item: z.ZodType,
  value: unknown,
  field: string,
  issue: z.core.$ZodIssue | undefined,
): InputProblem {
  const path = issue?.path ?? [];
  return {
    field: escapeControls([field, ...path.map(String)].join('.').slice(0, 200)),
    received: describeReceived(path.reduce(memberOf, value)),
    expected: describeExpected(item, issue),
  };
}

type Parsed = { readonly success: true; readonly data: unknown } | { readonly success: false; error?: z.ZodError };

/** Getters and proxies in the value may throw. */
function tryParse(schema: z.ZodType, value: unknown): Parsed {
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

const SHOWN_CHARS = 60;
const UNREADABLE_TEXT = 'an unreadable value';

/** Describes any value in a few words, on one line. */
export function describeReceived(value: unknown): string {
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

/** Replaces characters that break a line or change its direction with their escapes. */
function escapeControls(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}

/** The parts of a zod schema that lead to its members. */
interface SchemaNode {
  readonly description?: string | undefined;
  readonly shape?: Readonly<Record<PropertyKey, SchemaNode>>;
  readonly def?: { readonly innerType?: SchemaNode; readonly element?: SchemaNode };
}

/** The schema without defaults and optionality. */
function unwrap(node: SchemaNode): SchemaNode {
  return node.def?.innerType === undefined ? node : unwrap(node.def.innerType);
}

/** What a schema expects, in words: its description, or else the words for the issue. */
function describeExpected(schema: z.ZodType, issue: z.core.$ZodIssue | undefined): string {
  const node = (issue?.path ?? []).reduce<SchemaNode | undefined>(schemaOf, schema as unknown as SchemaNode);
  return descriptionOf(node) ?? describeIssue(issue);
}

function schemaOf(node: SchemaNode | undefined, key: PropertyKey): SchemaNode | undefined {
  const { shape, def } = unwrap(node ?? {});
  return typeof key === 'number' ? def?.element : shape?.[key];
}

function descriptionOf(node: SchemaNode | undefined): string | undefined {
  return node === undefined ? undefined : (node.description ?? descriptionOf(node.def?.innerType));
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

function describeIssue(issue: z.core.$ZodIssue | undefined): string {
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
