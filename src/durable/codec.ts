import { PostChainError } from './error.ts';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** How values of one class are stored. The first codec whose `is` holds for a value stores it. */
// biome-ignore lint/suspicious/noExplicitAny: a list of codecs has one for each class
export interface ValueCodec<Value = any, Stored = any> {
  /** Stored beside the value. Journals contain it: never change it. */
  readonly name: string;
  readonly is: (value: unknown) => boolean;
  /** Converts a value to JSON, or to another value that a codec stores. */
  readonly encode: (value: Value) => Stored;
  readonly decode: (stored: Stored) => Value;
}

/** Converts values to JSON and back. */
export interface Codec {
  /** Throws `not_durable`, which names the path of the first value that no codec stores. */
  encode(value: unknown, subject: string): Json;
  /**
   * Keeps members that are `undefined`. Rejects what `decode` would not restore: an object that occurs twice, which would become two, instances of
   * subclasses of the built-in classes, and members that JSON does not have.
   */
  encodeExactly(value: unknown, subject: string): Json;
  decode(stored: Json): unknown;
  /**
   * Throws as `encode` does, without encoding. Accepts references to actors, as contexts contain them: a replay creates the actors again. Skips
   * the objects in `known`, and adds those that it has checked: values are immutable.
   */
  check(value: unknown, subject: string, known: WeakSet<object>): void;
}

/** A value without parts that JSON has. */
const isPrimitive = (value: unknown): value is null | boolean | number | string =>
  value === null ||
  typeof value === 'string' ||
  typeof value === 'boolean' ||
  (typeof value === 'number' && Number.isFinite(value) && !Object.is(value, -0));

/** The member that marks a stored value that JSON does not have. */
const TAG = '$type';

interface Tagged {
  readonly [TAG]: string;
  readonly value: Json;
}

const codec = <Value, Stored>(
  name: string,
  is: (value: unknown) => value is Value,
  encode: (value: Value) => Stored,
  decode: (stored: Stored) => Value,
): ValueCodec => ({ name, is, encode, decode });

const BUILT_IN: readonly ValueCodec[] = [
  codec(
    'undefined',
    (value) => value === undefined,
    () => null,
    () => undefined,
  ),
  codec(
    'number',
    (value): value is number => typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0)),
    (value) => (Object.is(value, -0) ? '-0' : String(value)),
    (stored: string) => Number(stored),
  ),
  codec(
    'bigint',
    (value) => typeof value === 'bigint',
    (value) => String(value),
    (stored: string) => BigInt(stored),
  ),
  codec(
    'Date',
    (value) => value instanceof Date,
    (value) => (Number.isNaN(value.getTime()) ? null : value.toISOString()),
    (stored: string | null) => new Date(stored ?? Number.NaN),
  ),
  codec(
    'Map',
    (value) => value instanceof Map,
    (value) => [...value],
    (stored: [unknown, unknown][]) => new Map(stored),
  ),
  codec(
    'Set',
    (value) => value instanceof Set,
    (value) => [...value],
    (stored: unknown[]) => new Set(stored),
  ),
];

/**
 * What is stored of an error besides its name, message and cause. Stacks differ from run to run. Errors do not enumerate `errors` of an
 * `AggregateError` and `code` of a `DOMException`.
 */
function ownMembers(error: Error & { readonly errors?: unknown; readonly code?: unknown }): [string, unknown][] {
  const { errors, code } = error;
  const members = { ...(errors !== undefined && { errors }), ...(code !== undefined && { code }), ...error };
  return Object.entries(members).filter(([key]) => !['name', 'message', 'stack', 'cause'].includes(key));
}

function toError({ name, message, cause, ...members }: Record<string, unknown>): Error {
  const error = new Error(message as string, cause === undefined ? undefined : { cause });
  Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true, enumerable: false });
  for (const [key, member] of Object.entries(members)) define(error as never, key, member);
  return error;
}

/**
 * Returns a codec for JSON, `undefined`, numbers that JSON does not have, BigInt, Date, Map, Set and Error, and for the given classes.
 * Members that are `undefined` are left out, as in JSON.
 */
export function createCodec(codecs: readonly ValueCodec[] = []): Codec {
  const errors = codec('Error', (value) => value instanceof Error, Object, toError);
  const all = [...codecs, ...BUILT_IN, errors];
  const byName = new Map(all.toReversed().map((one) => [one.name, one]));

  /** The objects seen so far, if the value must be restored exactly. */
  let seen: Set<object> | null = null;

  let acceptsActors = false;

  const isPlainJson = (value: object): boolean =>
    (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype) && !codecs.some(({ is }) => is(value));

  /** Returns a copy of plain JSON, as nearly all values are; undefined for any other value, which `encode` handles. */
  function copyOf(value: unknown, level: number): Json | undefined {
    if (isPrimitive(value)) return value;
    if (typeof value !== 'object' || level >= MOST_LEVELS || !isPlainJson(value as object)) return undefined;
    return Array.isArray(value) ? copyOfArray(value, level) : copyOfObject(value as Record<string, unknown>, level);
  }

  function copyOfArray(items: readonly unknown[], level: number): Json | undefined {
    const copies: Json[] = [];
    for (const item of items) {
      const copy = copyOf(item, level + 1);
      if (copy === undefined) return undefined;
      copies.push(copy);
    }
    return copies;
  }

  function copyOfObject(members: Readonly<Record<string, unknown>>, level: number): Json | undefined {
    const copies: Record<string, Json> = {};
    for (const key of Object.keys(members)) {
      const member = members[key];
      if (member === undefined) continue;
      const copy = key === TAG || key === '__proto__' ? undefined : copyOf(member, level + 1);
      if (copy === undefined) return undefined;
      copies[key] = copy;
    }
    return copies;
  }

  function encode(value: unknown, path: Path): Json {
    if (isPrimitive(value)) return value;
    if (acceptsActors && isActor(value)) return null;
    const own = all.find(({ is }) => is(value));
    if (typeof value === 'object') requireTree(value, path);
    else if (own === undefined) throw notDurable(value, path);
    if (typeof value === 'object') {
      if (seen?.has(value)) throw notDurable('an object that occurs twice', path);
      if (seen !== null && !codecs.includes(own as never) && !isPlain(value)) throw notDurable(value, path);
      seen?.add(value);
    }
    if (own !== undefined) {
      const inside: Path = { key: null, owner: Object(value), above: path };
      const inner = own === errors ? encodeError(value as Error, inside) : encode(own.encode(value), inside);
      return { [TAG]: own.name, value: inner };
    }
    if (typeof value !== 'object') throw notDurable(value, path);
    if (Array.isArray(value))
      return Array.from(value, (item, at) => encode(item, { key: at, owner: value, above: path }));
    if (!isRecord(value)) throw notDurable(value, path);
    const members: Record<string, Json> = {};
    for (const [key, member] of Object.entries(value))
      if (member !== undefined || seen !== null)
        define(members, key, encode(member, { key, owner: value, above: path }));
    return Object.hasOwn(value, TAG) ? { [TAG]: 'Object', value: members } : members;
  }

  /** Members that cannot be stored are left out: errors often carry sockets and responses. */
  function encodeError(error: Error, path: Path): Json {
    const members: Record<string, Json> = { name: String(error.name), message: String(error.message) };
    for (const [key, member] of [['cause', error.cause] as const, ...ownMembers(error)]) {
      if (member === undefined && (seen === null || key === 'cause')) continue;
      try {
        define(members, key, encode(member, { key, owner: error, above: path }));
      } catch (problem) {
        if (seen !== null || !PostChainError.isInstance(problem)) throw problem;
      }
    }
    return Object.hasOwn(members, TAG) ? { [TAG]: 'Object', value: members } : members;
  }

  function decode(stored: Json): unknown {
    if (typeof stored !== 'object' || stored === null) return stored;
    if (Array.isArray(stored)) return stored.map(decode);
    if (!isTagged(stored)) return membersOf(stored as Record<string, Json>);
    if (stored[TAG] === 'Object') return membersOf(stored.value as Record<string, Json>);
    const own = byName.get(stored[TAG]);
    if (own !== undefined) return own.decode(decode(stored.value) as never);
    throw new PostChainError(
      'invalid_journal',
      `A stored value needs the codec "${stored[TAG]}", which is missing. Add it to "codecs".`,
    );
  }

  function membersOf(stored: Readonly<Record<string, Json>>): Record<string, unknown> {
    const members: Record<string, unknown> = {};
    for (const [key, member] of Object.entries(stored)) define(members, key, decode(member));
    return members;
  }

  /** Returns whether a value is plain JSON, as nearly all are. Any other value needs `check`. */
  function isKnownJson(value: unknown, level: number, known: WeakSet<object>): boolean {
    if (value === undefined || isPrimitive(value)) return true;
    if (typeof value !== 'object' || level >= MOST_LEVELS) return false;
    const object = value as Record<string, unknown>;
    if (known.has(object)) return true;
    if (!isPlainJson(object)) return false;
    if (Array.isArray(object)) {
      for (const item of object) if (!isKnownJson(item, level + 1, known)) return false;
    } else {
      for (const key of Object.keys(object)) if (!isKnownJson(object[key], level + 1, known)) return false;
    }
    known.add(object);
    return true;
  }

  function check(value: unknown, path: Path, known: WeakSet<object>): void {
    if (typeof value !== 'object' || value === null) return void encode(value, path);
    if (known.has(value) || isActor(value)) return;
    requireTree(value, path);
    if (!all.some(({ is }) => is(value)) && (Array.isArray(value) || isRecord(value))) {
      for (const [key, member] of Array.isArray(value) ? value.entries() : Object.entries(value))
        if (member !== undefined) check(member, { key, owner: value, above: path }, known);
    } else encode(value, path);
    known.add(value);
  }

  const pathOf = (subject: string): Path => ({ key: subject, owner: null, above: null });
  return {
    encode: (value, subject) => copyOf(value, 0) ?? encode(value, pathOf(subject)),
    encodeExactly(value, subject) {
      seen = new Set();
      try {
        return encode(value, pathOf(subject));
      } finally {
        seen = null;
      }
    },
    decode,
    check(value, subject, known) {
      if (isKnownJson(value, 0, known)) return;
      acceptsActors = true;
      try {
        check(value, pathOf(subject), known);
      } finally {
        acceptsActors = false;
      }
    },
  };
}

/** Returns a copy of JSON. Throws `not_durable`, which names the path of the first value that JSON does not have. */
export function copyOfJson(value: unknown, subject: string): Json {
  function copy(member: unknown, path: Path): Json {
    if (isPrimitive(member) || member === 0) return member;
    if (typeof member !== 'object' || !(Array.isArray(member) || isRecord(member))) throw notJson(member, path);
    requireTree(member, path, notJson);
    const inside = (one: unknown, key: string | number): Json => copy(one, { key, owner: member, above: path });
    if (Array.isArray(member)) return Array.from(member, inside);
    const members: Record<string, Json> = {};
    for (const [key, one] of Object.entries(member)) if (one !== undefined) define(members, key, inside(one, key));
    return members;
  }
  return copy(value, { key: subject, owner: null, above: null });
}

const isActor = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'sessionId' in value && '_send' in value;

/** Assigning to `__proto__` would set the prototype. */
function define<Value>(members: Record<string, Value>, key: string, value: Value): void {
  if (key === '__proto__')
    Object.defineProperty(members, key, { value, enumerable: true, configurable: true, writable: true });
  else members[key] = value;
}

const isRecord = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
};

const PLAIN: ReadonlySet<unknown> = new Set(
  [Object, Array, Map, Set, Date, Error].map(({ prototype }): unknown => prototype),
);

/** Whether a value is of exactly one of the built-in classes, and has no members but those that are stored. */
function isPlain(value: object): boolean {
  const keys = Reflect.ownKeys(value);
  const isStored = (key: string | symbol): boolean => {
    const { enumerable, get } = Object.getOwnPropertyDescriptor(value, key) as PropertyDescriptor;
    if (value instanceof Error && ['name', 'message', 'stack', 'cause'].includes(key as string)) return !enumerable;
    return typeof key === 'string' && enumerable === true && get === undefined;
  };
  if (!PLAIN.has(Object.getPrototypeOf(value))) return false;
  if (Array.isArray(value)) return keys.length === value.length + 1 && Object.keys(value).length === value.length;
  if (value instanceof Map || value instanceof Set || value instanceof Date) return keys.length === 0;
  return keys.every(isStored);
}

const isTagged = (stored: object): stored is Tagged => Object.hasOwn(stored, TAG);

/** The path of a value, as a linked list: its text is needed only for errors. */
interface Path {
  /** Null for what the codec of a value made of it. */
  readonly key: string | number | null;
  readonly owner: object | null;
  readonly above: Path | null;
}

/** The most levels of nested values: recursion ends at about ten times as many, depending on the call stack. */
const MOST_LEVELS = 500;

function requireTree(value: object, path: Path, fail = notDurable): void {
  let level = 0;
  for (let place: Path | null = path; place !== null; place = place.above) {
    if (place.owner === value) throw fail('a circular reference', path);
    level += 1;
    if (level > MOST_LEVELS) throw fail(`a value nested more than ${MOST_LEVELS} levels deep`, path);
  }
}

function pathText({ key, above }: Path): string {
  if (above === null) return String(key);
  if (key === null) return pathText(above);
  return typeof key === 'number' ? `${pathText(above)}[${key}]` : `${pathText(above)}.${key}`;
}

function notDurable(value: unknown, path: Path): PostChainError {
  return new PostChainError(
    'not_durable',
    `${pathText(path)}: expected JSON, or a value of a codec; received ${kindOf(value)}. Add a codec.`,
  );
}

function notJson(value: unknown, path: Path): PostChainError {
  const message = `${pathText(path)}: expected JSON; received ${kindOf(value)}. Convert it to JSON, or leave it out.`;
  return new PostChainError('not_durable', message);
}

function kindOf(value: unknown): string {
  if (typeof value === 'function') return `a function${value.name && ` (${value.name})`}`;
  if (typeof value === 'symbol') return String(value);
  if (typeof value !== 'object' || value === null) return String(value);
  const { constructor: Class } = value;
  return `an instance of ${typeof Class === 'function' ? Class.name : 'an unknown class'}`;
}
