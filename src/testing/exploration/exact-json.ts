import type { AnyActorRef } from 'xstate';
import { firstChars } from '../../../machines/text/clip.ts';

/** The member that marks a value that JSON does not have. */
const TAG = '\0';

/** How actors and their ids are written: an id that differs from run to run is replaced, so that equal snapshots have equal text. */
export interface ActorIds {
  /** What replaces such an id of a running actor. */
  readonly names: ReadonlyMap<string, string>;
  isRunning(ref: AnyActorRef): boolean;
  /** Whether the id of an actor that no longer runs differs from run to run. */
  varies(id: string): boolean;
}

const NO_ACTORS: ActorIds = { names: new Map(), isRunning: () => true, varies: () => false };

/**
 * Returns a value as JSON that equals that of another value only if nothing distinguishes the two. It distinguishes missing, undefined and
 * null, NaN and -0, dates and errors (except their stacks), and with `known` an object that occurs twice from two equal objects. Throws a
 * TypeError with the path of the first value that it cannot represent.
 */
export function exactJson(
  value: unknown,
  root: string,
  { names, isRunning, varies }: ActorIds = NO_ACTORS,
  known?: Map<object, string>,
): unknown {
  const path: (string | number)[] = [];
  const above: object[] = [];
  const stopped: object[] = [];

  const placeText = (): string =>
    `${root}${path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('')}`;
  function refuse(what: string): never {
    throw new TypeError(`${placeText()} is ${what}`);
  }

  function encode(inner: unknown): unknown {
    switch (typeof inner) {
      case 'string':
        return names.has(inner) ? tagged(`id of ${names.get(inner)}`) : inner;
      case 'boolean':
        return inner;
      case 'number':
        if (Object.is(inner, -0)) return tagged('-0');
        return Number.isFinite(inner) ? inner : tagged(String(inner));
      case 'undefined':
        return tagged('undefined');
      case 'bigint':
        return tagged(`${inner}n`);
      case 'object':
        return inner === null ? null : encodeObject(inner);
      default:
        return refuse(`a ${typeof inner}`);
    }
  }

  function encodeObject(object: object): unknown {
    if (isActor(object))
      return tagged(isRunning(object) ? `actor ${names.get(object.id) ?? object.id}` : nameOfStopped(object));
    if (above.includes(object)) refuse('a circular reference');
    const place = known?.get(object);
    if (place !== undefined) return tagged(`the same object as ${place}`);
    known?.set(object, placeText());
    above.push(object);
    const encoded = encodeMembers(object);
    above.pop();
    return encoded;
  }

  function nameOfStopped(ref: AnyActorRef): string {
    if (!varies(ref.id)) return `stopped actor ${ref.id}`;
    if (!stopped.includes(ref)) stopped.push(ref);
    return `stopped actor #${stopped.indexOf(ref)}`;
  }

  function encodeMembers(object: object): unknown {
    if (Array.isArray(object) && isNative(object)) return encodeArray(object);
    if (isPlain(object)) {
      const members = membersOf(object, Object.keys(object));
      return Object.getPrototypeOf(object) === null ? tagged('without a prototype', members) : members;
    }
    if (ArrayBuffer.isView(object) && isNative(object) && Symbol.iterator in object)
      return tagged(object.constructor.name, Array.from(object as Uint8Array, encode));
    const kind = isNative(object) ? Object.prototype.toString.call(object) : '';
    if (kind === '[object Date]') {
      requireNothingHidden(object, []);
      const time = (object as Date).getTime();
      return tagged(Number.isNaN(time) ? 'invalid Date' : new Date(time).toISOString());
    }
    if (kind === '[object Error]') {
      const hidden = ['message', 'cause', 'errors', 'stack'].filter((name) => Object.hasOwn(object, name));
      const shown = [...new Set([...hidden.filter((name) => name !== 'stack'), ...Object.keys(object)])];
      return tagged((object as Error).name, membersOf(object, shown, hidden));
    }
    const Class: unknown = object.constructor;
    const name = typeof Class === 'function' && Class.name !== '' ? Class.name : 'an unnamed class';
    return refuse(isNative(object) ? `${/^[AEIOU]/u.test(name) ? 'an' : 'a'} ${name}` : `an instance of ${name}`);
  }

  function encodeArray(array: readonly unknown[]): unknown {
    const items: unknown[] = [];
    for (let at = 0; at < array.length; at += 1)
      items.push(Object.hasOwn(array, at) ? encodeMember(array, at) : tagged('missing'));
    const present = array.filter(() => true).length;
    if (Reflect.ownKeys(array).length > present + 1) refuse('an array with other members');
    return items;
  }

  function membersOf(object: object, keys: readonly string[], hidden: readonly string[] = []): object {
    requireNothingHidden(object, hidden);
    // No prototype, so that "__proto__" is an ordinary member.
    const members = Object.create(null) as Record<string, unknown>;
    for (const key of keys) {
      if (key === TAG) refuse('an object with a reserved member');
      members[key] = encodeMember(object, key);
    }
    return members;
  }

  function encodeMember(object: object, key: string | number): unknown {
    path.push(key);
    const { get, set, value: member } = Object.getOwnPropertyDescriptor(object, key) ?? {};
    if (get !== undefined || set !== undefined) refuse('an accessor');
    const encoded = encode(member);
    path.pop();
    return encoded;
  }

  /** Symbols, and members that are not enumerable, except those named. */
  function requireNothingHidden(object: object, known: readonly string[]): void {
    const keys = Reflect.ownKeys(object);
    if (keys.length === Object.keys(object).length) return;
    const hidden = keys.find(
      (key) => !Object.prototype.propertyIsEnumerable.call(object, key) && !known.includes(String(key)),
    );
    const symbol = keys.find((key) => typeof key === 'symbol');
    const found = hidden ?? symbol;
    if (found === undefined) return;
    path.push(String(found));
    refuse('a hidden member');
  }

  return encode(value);
}

const tagged = (name: string, value?: unknown): object => ({ [TAG]: value === undefined ? [name] : [name, value] });

/** Formats a part of the result of `exactJson`. */
function exactText(json: unknown): string {
  if (typeof json !== 'object' || json === null) return JSON.stringify(json) ?? 'nothing';
  if (Array.isArray(json)) return `[${json.map(exactText).join(',')}]`;
  const [name, value] = (json as { readonly [TAG]?: readonly [string, unknown?] })[TAG] ?? [];
  if (name !== undefined) return value === undefined ? name : `${name} ${exactText(value)}`;
  return `{${Object.entries(json)
    .map(([key, member]) => `${JSON.stringify(key)}:${exactText(member)}`)
    .join(',')}}`;
}

const isTagged = (json: object): boolean => Object.hasOwn(json, TAG);

function isActor(value: object): value is AnyActorRef {
  // `in`, because reading a member of an event without a payload is an error.
  return 'sessionId' in value && 'getSnapshot' in value && 'send' in value;
}

/** An object literal, also one of another realm, as in test runners with a realm per file. */
function isPlain(value: object): boolean {
  const prototype: object | null = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return true;
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf');
}

/** Whether a value's class is built into JavaScript. Any other class may have private fields. */
function isNative(value: object): boolean {
  const prototype: object = Object.getPrototypeOf(value);
  if (prototype === Array.prototype) return true;
  if (!Object.hasOwn(prototype, 'constructor')) return false;
  return /\{\s*\[native code\]\s*\}\s*$/u.test(Function.prototype.toString.call(prototype.constructor));
}

/** Describes the first difference between two keys; null if they are equal. */
export function describeDifference(received: string, expected: string): string | null {
  if (received === expected) return null;
  const [here, there] = [received, expected].map((key) => {
    const [, status, rest, history, error, inputs, ...actors] = JSON.parse(key) as readonly unknown[];
    return { status, '': rest, history, error, inputs, actors };
  });
  return firstDifference(here, there, '') ?? 'the abstraction has another form';
}

function firstDifference(received: unknown, expected: unknown, path: string): string | null {
  if (isObject(received) && isObject(expected) && !isTagged(received) && !isTagged(expected)) {
    const names = new Set([...Object.keys(expected), ...Object.keys(received)]);
    for (const name of names) {
      const difference = firstDifference(received[name], expected[name], [path, name].filter(Boolean).join('.'));
      if (difference !== null) return difference;
    }
    return null;
  }
  return exactText(received) === exactText(expected)
    ? null
    : `expected ${path || 'the abstraction'} to be ${shortened(expected)}, received ${shortened(received)}`;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

function shortened(value: unknown): string {
  const text = exactText(value);
  return text.length > 60 ? `${firstChars(text, 57)}…` : text;
}
