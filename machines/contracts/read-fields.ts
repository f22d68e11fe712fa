import { z } from 'zod';

/** A field that is missing or wrong, in words. `field` is its dotted path. */
export interface InputProblem {
  readonly field: string;
  readonly got: string;
  readonly wanted: string;
}

/** Reads by field: whoever is told hears of each that is missing or wrong. */
interface Reading {
  readonly tell: (problem: InputProblem) => void;
  readonly field: string;
}

type Shape = Readonly<Record<string, z.ZodType>>;
type Members = Readonly<Record<string, unknown>>;

/** Wrong items of one list that are told; a list with more of them is read no further. */
const MAX_WRONG_ITEMS = 20;

/**
 * Each member of `shape` by itself: what fits is taken, what does not is told and replaced by its default, or else by what `safe` has
 * for it. Objects that `safe` knows are read member by member, lists item by item. Never throws, whatever is given; reads nothing
 * that no schema names.
 */
export function readMembers(
  shape: Shape,
  safe: Members,
  given: unknown,
  tell: Reading['tell'],
  within = '',
): Record<string, unknown> {
  const read: Record<string, unknown> = {};
  for (const member of membersOf(shape)) {
    const { key } = member;
    read[key] = readMember(member, safe[key], memberOf(given, key), { tell, field: `${within}${key}` });
  }
  return read;
}

/** A member of a shape: a list of items, an object with a shape of its own, or neither. */
interface Member {
  readonly key: string;
  readonly schema: z.ZodType;
  readonly item: z.ZodType | null;
  readonly shape: Shape | null;
}

const known = new WeakMap<Shape, readonly Member[]>();

function membersOf(shape: Shape): readonly Member[] {
  const made = known.get(shape) ?? Object.entries(shape).map(([key, schema]) => asMember(key, schema));
  known.set(shape, made);
  return made;
}

function asMember(key: string, schema: z.ZodType): Member {
  const core = bare(schema);
  return {
    key,
    schema,
    item: core instanceof z.ZodArray ? (core.element as z.ZodType) : null,
    shape: core instanceof z.ZodObject ? core.shape : null,
  };
}

function readMember({ schema, item, shape }: Member, safe: unknown, value: unknown, reading: Reading): unknown {
  const { tell, field } = reading;
  if (item !== null && isList(value)) return readList(item, value, reading);
  if (shape !== null && isMembers(safe) && isMembers(value)) return readMembers(shape, safe, value, tell, `${field}.`);
  const read = tried(schema, value);
  if (read.success) return read.data;
  const issue = read.error?.issues.find(({ path }) => path.length === 0);
  tell({ field, got: describeReadValue(value), wanted: wantedOf(schema, issue) });
  const left = tried(schema, undefined);
  return left.success ? left.data : safe;
}

function readList(item: z.ZodType, list: readonly unknown[], { tell, field }: Reading): readonly unknown[] {
  const fit: unknown[] = [];
  const told = memberOf(list, 'length');
  const length = typeof told === 'number' ? told : 0;
  let wrong = 0;
  for (let at = 0; at < length && wrong < MAX_WRONG_ITEMS; at += 1) {
    const value = memberOf(list, at);
    const read = tried(item, value);
    if (read.success) fit.push(read.data);
    else {
      wrong += 1;
      tell(itemProblem(item, value, `${field}.${at}`, read.error?.issues[0]));
    }
  }
  return fit;
}

/** Named as deep as what is wrong. */
function itemProblem(
  item: z.ZodType,
  value: unknown,
  field: string,
  issue: z.core.$ZodIssue | undefined,
): InputProblem {
  const path = issue?.path ?? [];
  return {
    field: onOneLine([field, ...path.map(String)].join('.').slice(0, 200)),
    got: describeReadValue(path.reduce(memberOf, value)),
    wanted: wantedOf(item, issue),
  };
}

type Tried = { readonly success: true; readonly data: unknown } | { readonly success: false; error?: z.ZodError };

/** A value may throw where it is looked into. */
function tried(schema: z.ZodType, value: unknown): Tried {
  try {
    return schema.safeParse(value);
  } catch {
    return { success: false };
  }
}

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

/** What an input holds where nothing of it can be read. */
const UNREADABLE = Symbol('what cannot be read');

/** A value in a few words, for a message of one line, whatever it is. */
export function describeReadValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') return spelledText(value);
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'symbol') return 'what cannot be read';
  if (typeof value !== 'object' || value === null) return String(value);
  try {
    return Array.isArray(value) ? `a list of ${value.length}` : 'an object';
  } catch {
    return 'what cannot be read';
  }
}

function spelledText(text: string): string {
  const shown = JSON.stringify(text.slice(0, SHOWN_CHARS));
  return onOneLine(text.length > SHOWN_CHARS ? `${shown}…` : shown);
}

/** Characters that break or turn a line, as their escapes. */
function onOneLine(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}

/** As much of a zod schema as its members are found by. */
interface Node {
  readonly description?: string | undefined;
  readonly shape?: Readonly<Record<PropertyKey, Node>>;
  readonly def?: { readonly innerType?: Node; readonly element?: Node };
}

/** Without its defaults and what makes it optional. */
function bare(schema: z.ZodType): z.ZodType {
  return bareNode(schema as unknown as Node) as unknown as z.ZodType;
}

function bareNode(node: Node): Node {
  return node.def?.innerType === undefined ? node : bareNode(node.def.innerType);
}

/** What a schema wants, in words: its own, else those of the issue. */
function wantedOf(schema: z.ZodType, issue: z.core.$ZodIssue | undefined): string {
  const node = (issue?.path ?? []).reduce<Node | undefined>(nodeOf, schema as unknown as Node);
  return described(node) ?? wordsOf(issue);
}

function nodeOf(node: Node | undefined, key: PropertyKey): Node | undefined {
  const { shape, def } = bareNode(node ?? {});
  return typeof key === 'number' ? def?.element : shape?.[key];
}

function described(node: Node | undefined): string | undefined {
  return node === undefined ? undefined : (node.description ?? described(node.def?.innerType));
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

function wordsOf(issue: z.core.$ZodIssue | undefined): string {
  switch (issue?.code) {
    case undefined:
      return 'what can be read';
    case 'invalid_type':
      return TYPES[issue.expected] ?? issue.expected;
    case 'invalid_value':
      return `one of ${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return issue.origin === 'string' ? 'a text that is not empty' : `at least ${issue.minimum}`;
    case 'too_big':
      return `at most ${issue.maximum}`;
    default:
      return 'something else';
  }
}
