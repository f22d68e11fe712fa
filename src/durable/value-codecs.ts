import { PostChainError } from '../../machines/contracts/error.ts';
import { base64Of, bytesOf } from '../internal/base64.ts';

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

/** Assigning to `__proto__` would set the prototype. */
export function addMember(object: object, key: string, value: unknown, enumerable = true): void {
  if (enumerable && !(key in object)) (object as Record<string, unknown>)[key] = value;
  else Object.defineProperty(object, key, { value, enumerable, configurable: true, writable: true });
}

// biome-ignore lint/suspicious/noExplicitAny: any class
type Class<Instance = any> = abstract new (...args: any[]) => Instance;

const codec = <Value, Stored>(
  name: string,
  is: (value: unknown) => value is Value,
  encode: (value: Value) => Stored,
  decode: (stored: Stored) => Value,
): ValueCodec => ({ name, is, encode, decode });

/** A codec for a class that every runtime has: an instance of a subclass would lose its class. */
export interface ClassCodec extends ValueCodec {
  readonly prototype: object;
}

const ofClass = <Value extends object, Stored>(
  name: string,
  Class: Class<Value>,
  encode: (value: Value) => Stored,
  decode: (stored: Stored) => Value,
): ClassCodec => ({
  name,
  prototype: Class.prototype as object,
  is: (value) => value instanceof Class,
  encode,
  decode,
});

/** `Buffer` comes first: it is a subclass of `Uint8Array` that Node's own functions return. Not every runtime has all of them. */
const VIEWS =
  'Buffer Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array BigInt64Array BigUint64Array Float16Array Float32Array Float64Array DataView';

const viewCodecs = VIEWS.split(' ').flatMap((name) => {
  const View = (globalThis as Record<string, unknown>)[name] as typeof DataView | undefined;
  if (View === undefined) return [];
  const viewOf = (bytes: ArrayBuffer) => (name === 'Buffer' ? Buffer.from(bytes) : new View(bytes));
  const bytesIn = ({ buffer, byteOffset, byteLength }: DataView) => new Uint8Array(buffer, byteOffset, byteLength);
  return ofClass(
    name,
    View,
    (view) => base64Of(bytesIn(view)),
    (base64: string) => viewOf(bytesOf(base64).buffer) as DataView,
  );
});

export const BUILT_IN: readonly (ValueCodec | ClassCodec)[] = [
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
  // An object without a prototype. Codecs get a copy with one.
  codec(
    'NullObject',
    (value): value is object => typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === null,
    (value) => Object.defineProperties({}, Object.getOwnPropertyDescriptors(value)),
    (members: object) => Object.assign(Object.create(null), members) as object,
  ),
  ofClass(
    'Date',
    Date,
    (value) => (Number.isNaN(value.getTime()) ? null : value.toISOString()),
    (stored: string | null) => new Date(stored ?? Number.NaN),
  ),
  ofClass(
    'Map',
    Map,
    (value) => [...value],
    (stored: [unknown, unknown][]) => new Map(stored),
  ),
  ofClass(
    'Set',
    Set,
    (value) => [...value],
    (stored: unknown[]) => new Set(stored),
  ),
  ofClass(
    'RegExp',
    RegExp,
    ({ source, flags, lastIndex }): [string, string, number] => [source, flags, lastIndex],
    ([source, flags, lastIndex]: [string, string, number]) => Object.assign(new RegExp(source, flags), { lastIndex }),
  ),
  ofClass('URL', URL, String, (href: string) => new URL(href)),
  ofClass('URLSearchParams', URLSearchParams, String, (query: string) => new URLSearchParams(query)),
  ofClass(
    'ArrayBuffer',
    ArrayBuffer,
    (value) => base64Of(new Uint8Array(value)),
    (base64: string) => bytesOf(base64).buffer,
  ),
  ...viewCodecs,
];

/** Whether JavaScript does not enumerate a member of an error. */
const isHidden = (key: string | symbol, error: Error): boolean =>
  ['message', 'stack', 'cause'].includes(key as string) || (key === 'errors' && error instanceof AggregateError);

/** How errors of one class are stored. What they carry is stored as far as possible. */
export interface ErrorCodec extends ValueCodec<Error, Record<string, unknown>> {
  readonly isOfErrors: true;
}

/**
 * Returns a codec for the errors of a class, not those of its subclasses. It keeps name, message, cause and enumerable members. The
 * constructor is not called when an error is restored: private members are missing.
 *
 * @example
 * createDurableMachine(order, { journals, codecs: [errorCodec('CardDeclined', CardDeclined)] })
 */
export const errorCodec = (name: string, Class: Class<Error>): ErrorCodec => ({
  name,
  is: (value) => value instanceof Error && Object.getPrototypeOf(value) === Class.prototype,
  encode: membersOf,
  decode: (members) => restored(Reflect.construct(Error, [members['message']], Class) as Error, members),
  isOfErrors: true,
});

/** Reads a member that may be an accessor that throws. */
function read(error: Error, key: string): unknown {
  try {
    return error[key as never];
  } catch {
    return undefined;
  }
}

/** Returns what is stored of an error. Stacks differ from run to run. */
function membersOf(error: Error): Record<string, unknown> {
  const members: Record<string, unknown> = {
    name: textOf(read(error, 'name')),
    message: textOf(read(error, 'message')),
  };
  // `errors` of an `AggregateError` and `code` of a `DOMException` are not enumerated, either.
  for (const key of ['cause', 'errors', 'code']) if (read(error, key) !== undefined) members[key] = read(error, key);
  for (const key of Object.keys(error))
    if (!Object.hasOwn(members, key) && key !== 'stack') addMember(members, key, read(error, key));
  return members;
}

function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return '';
  }
}

function restored(error: Error, members: Readonly<Record<string, unknown>>): Error {
  for (const [key, value] of Object.entries(members)) {
    if (key in error && read(error, key) === value) continue;
    addMember(error, key, value, !isHidden(key, error));
  }
  // The stack would be that of this code, which did not throw the error.
  addMember(error, 'stack', Error.prototype.toString.call(error), false);
  return error;
}

/** The codecs of the errors of the runtime and of this package, by prototype. */
const ERRORS: ReadonlyMap<object, ErrorCodec> = new Map<object, ErrorCodec>([
  ...[Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError, AggregateError].map(
    (Class) => [Class.prototype, errorCodec(Class.name, Class)] as const,
  ),
  [
    DOMException.prototype,
    {
      ...errorCodec('DOMException', DOMException),
      decode: ({ message, name, ...members }) => restored(new DOMException(message as string, name as string), members),
    },
  ],
  [
    PostChainError.prototype,
    {
      ...errorCodec('PostChainError', PostChainError),
      decode: ({ code, message, ...members }) =>
        restored(new PostChainError(code as never, message as string), members),
    },
  ],
]);

export const ERROR_CODECS: readonly ErrorCodec[] = [...ERRORS.values()];

/** Returns the codec of the nearest class of an error that every runtime has. */
export function nearestErrorCodec(error: Error): ErrorCodec {
  let prototype: object = PostChainError.isInstance(error) ? PostChainError.prototype : error;
  while (!ERRORS.has(prototype)) prototype = Object.getPrototypeOf(prototype) ?? Error.prototype;
  return ERRORS.get(prototype) as ErrorCodec;
}

/** Whether an error keeps its class with that codec. Node's own errors have prototypes between theirs and the class that they name. */
export function keepsClass(error: Error): boolean {
  const prototype = Object.getPrototypeOf(error) as object;
  const above = Object.getPrototypeOf(prototype) as object;
  const Named = Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value as Class | undefined;
  return ERRORS.has(Named?.prototype as object) || (PostChainError.isInstance(error) && above === Error.prototype);
}

/** `Reflect.ownKeys` takes several times as long. */
export function ownKeys(value: object): readonly (string | symbol)[] {
  const symbols = Object.getOwnPropertySymbols(value);
  const names = Object.getOwnPropertyNames(value);
  return symbols.length === 0 ? names : [...names, ...symbols];
}

/**
 * Returns the first own member that would not be restored; undefined if there is none. Plain objects and errors have members; other
 * instances must not.
 */
export function unstoredMember(value: object, hasMembers: boolean): string | number | symbol | undefined {
  if (Array.isArray(value)) {
    // Listing all members of a large array would take longer than storing it.
    const isPlain = Object.keys(value).length === value.length && Object.getOwnPropertySymbols(value).length === 0;
    if (isPlain) return undefined;
    const gap = value.findIndex((_, at) => !Object.hasOwn(value, at));
    return gap < 0 ? ownKeys(value).find((key) => !/^(?:\d+|length)$/u.test(String(key))) : gap;
  }
  if (value instanceof URL || value instanceof URLSearchParams) return undefined;
  if (ArrayBuffer.isView(value)) return Object.getOwnPropertySymbols(value)[0];
  return ownKeys(value).find((key) => {
    if (!hasMembers) return !(value instanceof RegExp && key === 'lastIndex');
    const { enumerable, get, set } = Object.getOwnPropertyDescriptor(value, key) as PropertyDescriptor;
    if (value instanceof Error && isHidden(key, value)) return enumerable;
    return typeof key === 'symbol' || !enumerable || get !== undefined || set !== undefined;
  });
}
