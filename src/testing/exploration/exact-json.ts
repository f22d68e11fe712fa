import type { AnyActorRef } from 'xstate';
import { firstChars } from '../../../machines/text/clip.ts';
import { createCodec, type Json } from '../../durable/codec.ts';
import { plainJson } from '../../internal/plain-json.ts';

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
 * Returns a value as JSON that equals that of another value only if they differ in nothing but the identity of their objects and the stacks of
 * errors. Throws `not_durable` with the path of the first value that a durable actor could not store either.
 */
export function exactJson(value: unknown, root: string, ids: ActorIds = NO_ACTORS): Json {
  const stopped: AnyActorRef[] = [];
  const labelOf = (ref: AnyActorRef): string => {
    if (ids.isRunning(ref)) return ids.names.get(ref.id) ?? ref.id;
    if (!ids.varies(ref.id)) return `stopped ${ref.id}`;
    if (!stopped.includes(ref)) stopped.push(ref);
    return `stopped #${stopped.indexOf(ref)}`;
  };
  const codec = createCodec([{ name: 'actor', is: isActor, encode: labelOf, decode: String }], refuse);
  const encoded = codec.encode(value, root);
  return ids.names.size === 0 ? encoded : withNames(encoded, ids.names);
}

/** Errors that differ only in what a codec leaves out must not be equal. */
function refuse(loss: string): never {
  throw new TypeError(loss);
}

/** Returns an error as JSON. Members that cannot be stored are described. */
export function errorJson(error: unknown): Json {
  try {
    return exactJson(error, 'error');
  } catch {
    return plainJson({ error, cause: Object(error).cause }) as Json;
  }
}

/** Returns a copy of a value with `to` in place of the actor `from`, and its JSON. Throws if it contains other actors or cannot be stored. */
export function withActor(value: unknown, root: string, from?: AnyActorRef, to?: AnyActorRef) {
  const encode = (ref: AnyActorRef): string => {
    if (ref !== from) throw new TypeError(`${root} contains an actor, which is not followed`);
    return ref.id;
  };
  const codec = createCodec([{ name: 'actor', is: isActor, encode, decode: () => to }], refuse);
  const json = codec.encode(value, root);
  return { copy: codec.decode(json), json };
}

/** Returns JSON with the texts that are ids of actors replaced. */
function withNames(json: Json, names: ActorIds['names']): Json {
  if (typeof json === 'string') return names.has(json) ? { $type: 'id', value: names.get(json) ?? '' } : json;
  if (Array.isArray(json)) return json.map((item) => withNames(item, names));
  if (typeof json !== 'object' || json === null) return json;
  return Object.fromEntries(Object.entries(json).map(([key, member]) => [key, withNames(member, names)]));
}

/** Returns where an object occurs again, and where it occurs first: a machine can distinguish it from an equal one. */
export function repetitions(value: object): readonly string[] {
  const places = new Map<object, string>();
  const repeated: string[] = [];
  function visit(inner: unknown, place: string): void {
    if (typeof inner !== 'object' || inner === null || isActor(inner)) return;
    const first = places.get(inner);
    if (first !== undefined) {
      repeated.push(`${place} is ${first}`);
      return;
    }
    places.set(inner, place);
    const isIterable = inner instanceof Map || inner instanceof Set;
    for (const [key, member] of Object.entries(isIterable ? [...inner] : inner)) visit(member, `${place}.${key}`);
    if (inner instanceof Error) visit(inner.cause, `${place}.cause`);
  }
  for (const [name, member] of Object.entries(value)) visit(member, name);
  return repeated;
}

function isActor(value: unknown): value is AnyActorRef {
  // `in`, because reading a member of an event without a payload is an error.
  return typeof value === 'object' && value !== null && 'sessionId' in value && 'getSnapshot' in value;
}

/** Describes the first difference between two keys; null if they are equal. */
export function describeDifference(received: string, expected: string): string | null {
  if (received === expected) return null;
  const [here, there] = [received, expected].map((key) => {
    const [, status, rest, history, error, inputs, ...actors] = JSON.parse(key) as readonly unknown[];
    return { status, '': rest, history, error, inputs, actors };
  });
  return firstDifference(here, there, 'the abstraction') ?? 'the abstraction has another form';
}

/** Describes the first difference between two JSON values; null if they are equal. `what` names the whole value. */
export function firstDifference(received: unknown, expected: unknown, what: string, path = ''): string | null {
  if (isObject(received) && isObject(expected) && Array.isArray(received) === Array.isArray(expected)) {
    const names = new Set([...Object.keys(expected), ...Object.keys(received)]);
    for (const name of names) {
      const inner = [path, name].filter(Boolean).join('.');
      const difference = firstDifference(received[name], expected[name], what, inner);
      if (difference !== null) return difference;
    }
    return null;
  }
  const [here, there] = [shortened(received), shortened(expected)];
  return received === expected ? null : `expected ${path || what} to be ${there}, received ${here}`;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

function shortened(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 60 ? `${firstChars(text, 57)}…` : text;
}
