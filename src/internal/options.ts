import * as z from 'zod/mini';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { ChatModel } from '../../machines/contracts/model.ts';
import { setSchemaLanguage } from '../../machines/contracts/schema-language.ts';
import { isThenable } from './async.ts';
import { describeValue } from './describe-value.ts';

setSchemaLanguage();

/** `what` names the value. Throws `invalid_option`. */
export function parseOption<Schema extends z.ZodMiniType>(
  schema: Schema,
  given: unknown,
  what: string,
): z.output<Schema> {
  const read = schema.safeParse(given);
  if (!read.success) throw invalidOption(what, given, read.error, schema);
  // To a schema whose members are all optional, a promise is an empty object.
  if (!isThenable(given)) return read.data;
  throw new PostChainError('invalid_option', `${what}: expected an object; received ${describeValue(given)}.`);
}

/**
 * Returns the `invalid_option` error for a value that its schema rejects, in one line: where, what is expected, what was received.
 * `schema` lets the error list the known options when one is unknown.
 */
export function invalidOption(
  what: string,
  given: unknown,
  error: z.core.$ZodError,
  schema?: z.ZodMiniType,
): PostChainError {
  const issue = issueInside(error.issues[0]);
  const path = issue?.path ?? [];
  if (issue?.code === 'unrecognized_keys' && schema !== undefined)
    return unknownOption(path, issue.keys, schema, given);
  const received = path.reduce<unknown>(
    (value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key],
    given,
  );
  const where = path.length === 0 ? what : path.join('.');
  return new PostChainError(
    'invalid_option',
    `${where}: ${expectation(issue?.message ?? 'invalid value')}; received ${describeValue(received)}.`,
  );
}

/** Returns the issue inside the only member of a union that has the value's type: it is more specific than that of the union. */
function issueInside(issue: z.core.$ZodIssue | undefined): z.core.$ZodIssue | undefined {
  if (issue?.code !== 'invalid_union') return issue;
  const inside = issue.errors.flatMap(([first]) => (first === undefined || isAboutType(first) ? [] : [first]));
  const [only, ...others] = inside.map((one) => ({ ...one, path: [...issue.path, ...one.path] }));
  return only === undefined || others.length > 0 ? issue : issueInside(only);
}

const isAboutType = ({ code, path }: z.core.$ZodIssue): boolean => code === 'invalid_type' && path.length === 0;

/** Returns what zod's message expects, as a phrase: zod names neither articles nor the value itself. */
function expectation(message: string): string {
  return message
    .replace(/^(?:Invalid input|Invalid option|Too small|Too big): /u, '')
    .replace(/, received .*$/u, '')
    .replace(/^expected int\b/u, 'expected integer')
    .replace(/"\|"/gu, '" or "')
    .replace(
      /^expected (\w+) to (?:be|have) ([<>]=?) ?/u,
      (_, type: string, sign: string) => `expected ${type} ${BOUNDS[sign]} `,
    )
    .replace(/^expected (?=(?:object|array|integer)\b)/u, 'expected an ')
    .replace(/^expected (?=(?:string|number|boolean|function|record|bigint|date)\b)/u, 'expected a ')
    .replace(/^./u, (first) => first.toLowerCase());
}

const BOUNDS: Readonly<Record<string, string>> = {
  '>': 'above',
  '>=': 'of at least',
  '<': 'below',
  '<=': 'of at most',
};

function unknownOption(
  path: readonly PropertyKey[],
  [name = '']: readonly string[],
  schema: z.ZodMiniType,
  given: unknown,
) {
  let value = given;
  let node = unwrapped(schema as unknown as SchemaNode, value);
  for (const key of path) {
    value = Object(value)[key];
    node = unwrapped(node.shape?.[key] ?? node.def?.valueType ?? {}, value);
  }
  const known = Object.keys(node.shape ?? node.def?.keyType?.def?.entries ?? {}).join(', ');
  const where = [...path, name].join('.');
  return new PostChainError('invalid_option', `${where}: unknown option; expected one of ${known}.`);
}

/** The part of a zod schema that lists its options. */
interface SchemaNode {
  readonly shape?: Readonly<Record<PropertyKey, SchemaNode>>;
  readonly def?: {
    readonly innerType?: SchemaNode;
    readonly valueType?: SchemaNode;
    readonly keyType?: { readonly def?: { readonly entries?: object } };
    readonly options?: readonly SchemaNode[];
    readonly values?: readonly unknown[];
  };
}

/** Returns the schema inside defaults and optionals; for a union, the object schema whose `type` matches the value. */
function unwrapped(node: SchemaNode, value: unknown): SchemaNode {
  const inner =
    node.def?.innerType ??
    node.def?.options?.find(({ shape }) => shape && (shape['type']?.def?.values?.includes(Object(value).type) ?? true));
  return inner === undefined ? node : unwrapped(inner, value);
}

const hasMethods = <Type>(names: readonly string[], hint: string) =>
  z.custom<Type>(
    (value) =>
      Object(value) === value && names.every((name) => typeof (value as Record<string, unknown>)[name] === 'function'),
    hint,
  );

export const hasMethod = <Type>(name: string, hint: string) => hasMethods<Type>([name], hint);

export const functionSchema = z.custom((value) => typeof value === 'function', 'expected a function');

export const clockSchema = hasMethods(
  ['now', 'setTimeout', 'clearTimeout'],
  'expected a clock with now, setTimeout and clearTimeout',
);

export const signalSchema = hasMethod<AbortSignal>('addEventListener', 'expected an AbortSignal');

export const modelSchema = hasMethod(
  'stream',
  'expected a model with a stream method, for example openaiModel({ model })',
).check(
  z.refine((model) => ((model as ChatModel).contextWindowTokens ?? 0) > 0, 'expected a model with contextWindowTokens'),
  z.refine(
    (model) => Array.isArray((model as ChatModel).accepts ?? []),
    'expected a model whose accepts is an array of media types',
  ),
);

export const acceptsSchema = z.array(
  z.string().check(z.regex(/^(?:\*\/\*|[a-z]+\/(?:\*|[\w.+-]+))$/iu, 'expected a media type, for example "image/*"')),
);

/** Throws `invalid_option`, naming the first header that HTTP cannot send. */
export function requireValidHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    try {
      new Headers([[name, value]]);
    } catch {
      const message = `headers: expected valid HTTP headers; ${JSON.stringify(name)} has an invalid name or value.`;
      throw new PostChainError('invalid_option', message);
    }
  }
}
