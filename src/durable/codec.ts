import { PostChainError } from '../../machines/contracts/error.ts';
import { cutEnd } from '../internal/printable.ts';
import {
  addMember,
  BUILT_IN,
  type ClassCodec,
  ERROR_CODECS,
  type ErrorCodec,
  keepsClass,
  nearestErrorCodec,
  ownKeys,
  unstoredMember,
  type ValueCodec,
} from './value-codecs.ts';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/**
 * What becomes of values that would not be restored as they are, such as an instance of a subclass of `Map`:
 * - `given`, for what the machine gets from the journal: they are refused.
 * - `thrown`: errors are stored as the nearest class that has a codec, without the members that cannot be stored; the rest is refused.
 * - `derived`, for what a replay computes again: they are stored as the nearest class, for readers.
 * - `exact`: they are refused, and so is an object that occurs twice.
 */
export type Rules = 'given' | 'thrown' | 'derived' | 'exact';

/** Converts values to JSON and back. */
export interface Codec {
  /** The rules are `given` by default. Throws `not_durable`, which names the path of the first value that cannot be stored. */
  encode(value: unknown, subject: string, rules?: Rules): Json;
  decode(stored: Json): unknown;
  /**
   * Throws as `encode` does for `derived` values, without encoding. Accepts references to actors, as contexts contain them: a replay creates the
   * actors again. Skips the objects in `known`, and adds those that it has checked: values are immutable. `before` is the value that
   * was checked last: members and items that have not changed since are not checked again.
   */
  check(value: unknown, subject: string, known: WeakSet<object>, before?: unknown): void;
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

const UNDEFINED: Json = { [TAG]: 'undefined', value: null };

/** Stored instead of a `null` that must differ from an absent value. */
export const TAGGED_NULL: Json = { [TAG]: 'null', value: null };

/** The maximum number of distinct losses that are reported: errors may have any number of members. */
const MOST_REPORTS = 100;

/**
 * Returns a codec for JSON, the values and classes of `BUILT_IN`, errors, and the given classes. `report` receives a sentence about each class
 * and member that errors lose, once.
 */
export const createCodec = (codecs: readonly ValueCodec[] = [], report: (loss: string) => void = () => {}): Codec =>
  new JsonCodec(codecs, report);

class JsonCodec implements Codec {
  readonly #codecs: readonly ValueCodec[];
  readonly #byName: ReadonlyMap<string, ValueCodec | ClassCodec | ErrorCodec>;
  readonly #report: (loss: string) => void;
  readonly #reported = new Set<string>();
  #rules: Rules = 'given';
  /** The objects seen so far, if the value must be restored exactly. */
  #seen: Set<object> | null = null;
  #acceptsActors = false;

  constructor(codecs: readonly ValueCodec[], report: (loss: string) => void) {
    this.#codecs = codecs;
    this.#byName = new Map([...BUILT_IN, ...ERROR_CODECS, ...codecs.toReversed()].map((one) => [one.name, one]));
    this.#report = report;
  }

  readonly encode = (value: unknown, subject: string, given: Rules = 'given'): Json =>
    (given === 'exact' ? undefined : this.#copyOf(value, 0)) ??
    this.#by(given, () => this.#encode(value, pathOf(subject)));

  check(value: unknown, subject: string, known: WeakSet<object>, before?: unknown): void {
    if (value === before || this.#isKnownJson(value, 0, known, before)) return;
    this.#by('derived', () => {
      this.#acceptsActors = true;
      this.#check(value, pathOf(subject), known);
    });
  }

  #isPlainJson(value: object): boolean {
    if (!isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) return false;
    return !this.#codecs.some(({ is }) => is(value));
  }

  /** Returns a copy of plain JSON, as nearly all values are; undefined for any other value, which `encode` handles. */
  #copyOf(value: unknown, level: number): Json | undefined {
    if (isPrimitive(value)) return value;
    if (value === undefined) return UNDEFINED;
    if (typeof value !== 'object' || level >= MOST_LEVELS || !this.#isPlainJson(value as object)) return undefined;
    return Array.isArray(value) ? this.#copyOfArray(value, level) : this.#copyOfObject(value as object, level);
  }

  #copyOfArray(items: readonly unknown[], level: number): Json | undefined {
    if (unstoredMember(items, true) !== undefined) return undefined;
    const copies: Json[] = [];
    for (const item of items) {
      const copy = this.#copyOf(item, level + 1);
      if (copy === undefined) return undefined;
      copies.push(copy);
    }
    return copies;
  }

  #copyOfObject(object: object, level: number): Json | undefined {
    const copies: Record<string, Json> = {};
    for (const key of ownKeys(object)) {
      const { enumerable, get, set, value } = Object.getOwnPropertyDescriptor(object, key) as PropertyDescriptor;
      const isPlain = typeof key === 'string' && enumerable && get === undefined && set === undefined;
      const copy = !isPlain || key === TAG || key === '__proto__' ? undefined : this.#copyOf(value, level + 1);
      if (copy === undefined) return undefined;
      copies[key as string] = copy;
    }
    return copies;
  }

  #codecOf(value: unknown): ValueCodec | ClassCodec | ErrorCodec | undefined {
    const own = this.#codecs.find(({ is }) => is(value));
    return own ?? (value instanceof Error ? nearestErrorCodec(value) : BUILT_IN.find(({ is }) => is(value)));
  }

  #encode(value: unknown, path: Path): Json {
    if (isPrimitive(value)) return value;
    if (this.#acceptsActors && isActor(value)) return null;
    const own = this.#codecOf(value);
    if (typeof value === 'object') {
      requireTree(value, path);
      if (this.#seen?.has(value)) throw notDurable('an object that occurs twice', path);
      this.#seen?.add(value);
      if (this.#rules !== 'derived' && !this.#codecs.includes(own as ValueCodec))
        this.#requireRestorable(value, own, path);
    } else if (own === undefined) throw notDurable(value, path);
    if (own !== undefined) {
      const inside: Path = { key: null, owner: Object(value), above: path };
      const inner =
        'isOfErrors' in own ? this.#encodeError(value as Error, own, inside) : this.#encode(own.encode(value), inside);
      return { [TAG]: own.name, value: inner };
    }
    if (Array.isArray(value))
      return Array.from(value, (item, at) => this.#encode(item, { key: at, owner: value, above: path }));
    if (typeof value !== 'object' || !isRecord(value)) throw notDurable(value, path);
    const members: Record<string, Json> = {};
    for (const [key, member] of Object.entries(value))
      addMember(members, key, this.#encode(member, { key, owner: value, above: path }));
    return withoutTag(members);
  }

  /** Throws for a value that `decode` would restore with another class or other members. */
  #requireRestorable(value: object, own: ValueCodec | ClassCodec | ErrorCodec | undefined, path: Path): void {
    const isInstance = own !== undefined && 'prototype' in own;
    if (value instanceof Error && !keepsClass(value)) {
      if (this.#rules !== 'thrown') throw notDurable(value, path);
      const Class = nameOfClass(value);
      this.#reportOnce(
        Class,
        `${pathText(path)}: an error of the class ${Class} is stored as ${own?.name}: "instanceof ${Class}" is false. Compare its name, or add errorCodec("${Class}", ${Class}) to "codecs".`,
      );
    }
    const isOfClass = isInstance
      ? Object.getPrototypeOf(value) === own.prototype
      : isArray(value) || own !== undefined || isRecord(value);
    if (!isOfClass || Object(value).resizable === true) throw notDurable(value, path);
    // Hidden members of errors, such as stacks, are left out.
    const unstored = value instanceof Error && this.#rules !== 'exact' ? undefined : unstoredMember(value, !isInstance);
    if (unstored !== undefined)
      throw notDurable(kindOfMember(value, unstored), { key: keyOf(unstored), owner: value, above: path });
  }

  #reportOnce(what: string, loss: string): void {
    if (this.#reported.has(what) || this.#reported.size >= MOST_REPORTS) return;
    this.#reported.add(what);
    this.#report(loss);
  }

  /** Members that cannot be stored are left out: errors often carry sockets and responses. */
  #encodeError(error: Error, own: ErrorCodec, path: Path): Json {
    const outer = this.#rules;
    if (outer === 'given') this.#rules = 'thrown';
    const members: Record<string, Json> = {};
    try {
      for (const [key, member] of Object.entries(own.encode(error))) {
        try {
          addMember(members, key, this.#encode(member, { key, owner: error, above: path }));
        } catch (problem) {
          if (outer === 'exact' || !PostChainError.isInstance(problem)) throw problem;
          if (outer !== 'derived') this.#reportOnce(`${nameOfClass(error)}.${key}`, `Left out: ${problem.message}`);
        }
      }
    } finally {
      this.#rules = outer;
    }
    return withoutTag(members);
  }

  readonly decode = (stored: Json): unknown => {
    if (typeof stored !== 'object' || stored === null) return stored;
    if (Array.isArray(stored)) return stored.map(this.decode);
    if (!isTagged(stored)) return this.#membersOf(stored as Record<string, Json>);
    if (stored[TAG] === 'Object') return this.#membersOf(stored.value as Record<string, Json>);
    if (stored[TAG] === 'null') return null;
    const own = this.#byName.get(stored[TAG]);
    if (own !== undefined) return own.decode(this.decode(stored.value) as never);
    throw new PostChainError(
      'invalid_journal',
      `A stored value needs the codec "${stored[TAG]}", which is missing. Add it to "codecs".`,
    );
  };

  #membersOf(stored: Readonly<Record<string, Json>>): Record<string, unknown> {
    const members: Record<string, unknown> = { ...stored };
    for (const key of Object.keys(stored)) if (typeof stored[key] === 'object') members[key] = this.decode(stored[key]);
    return members;
  }

  /** Returns whether a value is plain JSON, as nearly all are. Any other value needs `check`. */
  #isKnownJson(value: unknown, level: number, known: WeakSet<object>, before: unknown): boolean {
    if (value === undefined || isPrimitive(value)) return true;
    if (typeof value !== 'object' || level >= MOST_LEVELS) return false;
    const object = value as Record<string, unknown>;
    if (known.has(object)) return true;
    if (!this.#isPlainJson(object)) return false;
    const earlier = Object(before) as typeof object;
    const isKnown = (member: unknown, key: string | number): boolean =>
      (Object.hasOwn(earlier, key) && member === earlier[key]) ||
      this.#isKnownJson(member, level + 1, known, earlier[key]);
    const isJson = Array.isArray(object)
      ? object.every(isKnown)
      : Object.keys(object).every((key) => isKnown(object[key], key));
    // A context as a whole is new in nearly each step.
    if (isJson && level > 0) known.add(object);
    return isJson;
  }

  #check(value: unknown, path: Path, known: WeakSet<object>): void {
    if (typeof value !== 'object' || value === null) return void this.#encode(value, path);
    if (known.has(value) || isActor(value)) return;
    requireTree(value, path);
    if (this.#codecOf(value) === undefined && (Array.isArray(value) || isRecord(value))) {
      for (const [key, member] of Array.isArray(value) ? value.entries() : Object.entries(value))
        if (member !== undefined) this.#check(member, { key, owner: value, above: path }, known);
    } else this.#encode(value, path);
    known.add(value);
  }

  /** Encodes or checks by the given rules. */
  #by<Result>(given: Rules, act: () => Result): Result {
    this.#rules = given;
    this.#seen = given === 'exact' ? new Set() : null;
    try {
      return act();
    } finally {
      this.#rules = 'given';
      this.#seen = null;
      this.#acceptsActors = false;
    }
  }
}

const pathOf = (subject: string): Path => ({ key: subject, owner: null, above: null });

/**
 * Returns what earlier versions stored for the same value: without members that are `undefined`, prototypes that are null, and classes of
 * errors.
 */
export function inEarlierForm(stored: Json): Json {
  if (typeof stored !== 'object' || stored === null) return stored;
  if (isArray(stored)) return stored.map(inEarlierForm);
  if (!isTagged(stored)) return earlierMembers(stored as Record<string, Json>);
  const { [TAG]: name, value } = stored;
  if (name === 'Object') return { [TAG]: name, value: earlierMembers(value as Record<string, Json>) };
  if (name === 'NullObject') return inEarlierForm(value);
  const isError = ERROR_CODECS.some((one) => one.name === name);
  return { [TAG]: isError ? 'Error' : name, value: inEarlierForm(value) };
}

/** Whether JSON text has no stored values that JSON does not have, as nearly all texts: the form of such a value has never changed. */
export const isPlainText = (text: string): boolean => !text.includes(`"${TAG}"`);

function earlierMembers(members: Readonly<Record<string, Json>>): Json {
  const earlier: Record<string, Json> = {};
  for (const [key, member] of Object.entries(members))
    if (Object(member)[TAG] !== 'undefined') addMember(earlier, key, inEarlierForm(member));
  return earlier;
}

/**
 * Returns a copy of JSON, without members that are `undefined`. Throws `not_durable`, which names the path of the first value that JSON does not
 * have.
 */
export function copyOfJson(value: unknown, subject: string): Json {
  function copy(member: unknown, path: Path): Json {
    if (isPrimitive(member) || member === 0) return member;
    if (typeof member !== 'object' || !(isArray(member) || isRecord(member))) throw notJson(member, path);
    requireTree(member, path, notJson);
    const unstored = unstoredMember(member, true);
    if (unstored !== undefined)
      throw notJson(kindOfMember(member, unstored), { key: keyOf(unstored), owner: member, above: path });
    const inside = (one: unknown, key: string | number): Json =>
      isPrimitive(one) ? one : copy(one, { key, owner: member, above: path });
    if (isArray(member)) return Array.from(member, inside);
    const members: Record<string, Json> = {};
    for (const [key, one] of Object.entries(member)) if (one !== undefined) addMember(members, key, inside(one, key));
    return members;
  }
  return copy(value, { key: subject, owner: null, above: null });
}

const isActor = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'sessionId' in value && '_send' in value;

/** Whether a value is an array of any realm, and not of a subclass: prototypes of these are not arrays. */
const isArray = (value: unknown): value is readonly never[] =>
  Array.isArray(value) && Array.isArray(Object.getPrototypeOf(value));

/** Whether an object is plain, of any realm. */
const isRecord = (value: object): boolean => {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || (Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf'));
};

/** Returns the members of an object. A member with the name of the tag would look like a stored value. */
const withoutTag = (members: Record<string, Json>): Json =>
  Object.hasOwn(members, TAG) ? { [TAG]: 'Object', value: members } : members;

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

/** A path in the caller's value can be arbitrarily long; error messages must stay short. */
const MAX_PATH_CHARS = 300;

const pathText = (path: Path): string => cutEnd(wholePath(path), MAX_PATH_CHARS);

function wholePath({ key, above }: Path): string {
  if (above === null) return String(key);
  if (key === null) return wholePath(above);
  return typeof key === 'number' ? `${wholePath(above)}[${key}]` : `${wholePath(above)}.${key}`;
}

function notDurable(value: unknown, path: Path): PostChainError {
  const Class = value instanceof Error ? nameOfClass(value) : null;
  const advice = Class === null ? 'Add a codec.' : `Add a codec: errorCodec("${Class}", ${Class}).`;
  const message = `${pathText(path)}: expected JSON, or a value of a codec; received ${kindOf(value)}. ${advice}`;
  return new PostChainError('not_durable', message);
}

function notJson(value: unknown, path: Path): PostChainError {
  const message = `${pathText(path)}: expected JSON; received ${kindOf(value)}. Convert it to JSON, or leave it out.`;
  return new PostChainError('not_durable', message);
}

function kindOf(value: unknown): string {
  if (typeof value === 'function') return `a function${value.name && ` (${value.name})`}`;
  if (typeof value === 'symbol') return String(value);
  if (typeof value !== 'object' || value === null) return String(value);
  return `an instance of ${nameOfClass(value)}`;
}

function nameOfClass(value: object): string {
  const { constructor: Class } = value;
  return typeof Class === 'function' ? Class.name : 'an unknown class';
}

const keyOf = (key: string | number | symbol): string | number => (typeof key === 'symbol' ? String(key) : key);

function kindOfMember(object: object, key: string | number | symbol): string {
  const member = Object.getOwnPropertyDescriptor(object, key);
  if (member === undefined) return 'an empty slot';
  if (typeof key === 'symbol') return 'a member whose key is a symbol';
  if (member.get !== undefined || member.set !== undefined) return 'an accessor';
  return member.enumerable ? `a member of ${kindOf(object)}` : 'a member that is not enumerable';
}
