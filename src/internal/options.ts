import { z } from 'zod';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { ChatModel } from '../../machines/contracts/model.ts';

/**
 * The error for a value that does not fit, in one line: where, what was got, what is wanted. With the schema, an option that there is
 * not is told those that there are.
 */
export function invalidOption(what: string, given: unknown, error: z.ZodError, schema?: z.ZodType): PostChainError {
  const [issue] = error.issues;
  const path = issue?.path ?? [];
  if (issue?.code === 'unrecognized_keys' && schema !== undefined) return unknownOption(path, issue.keys, schema);
  const got = path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key], given);
  const where = path.length === 0 ? what : path.join('.');
  const wanted = (issue?.message ?? 'wanted something else').replace(/^./, (first) => first.toLowerCase());
  return new PostChainError('invalid_option', `${where}: got ${describeValue(got)}; ${wanted}.`);
}

function unknownOption(path: readonly PropertyKey[], [name = '']: readonly string[], schema: z.ZodType) {
  const known = Object.keys(path.reduce(memberOf, bare(schema as unknown as Node)).shape ?? {}).join(', ');
  const where = [...path, name].join('.');
  return new PostChainError('invalid_option', `${where}: there is no such option; wanted one of ${known}.`);
}

/** As much of a zod schema as its options are found by. */
interface Node {
  readonly shape?: Readonly<Record<PropertyKey, Node>>;
  readonly def?: { readonly innerType?: Node };
}

const memberOf = (node: Node, key: PropertyKey): Node => bare(node.shape?.[key] ?? {});

/** Without its defaults and what makes it optional. */
function bare(node: Node): Node {
  return node.def?.innerType === undefined ? node : bare(node.def.innerType);
}

/** A value in a few words, for an error. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 60));
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null)
    return `an object with ${Object.keys(value).slice(0, 5).join(', ') || 'nothing'}`;
  return String(value);
}

/** What options are made of in more than one place: things known by a method of theirs. */
export const having = <Type>(name: string, hint: string) =>
  z.custom<Type>((value) => typeof (value as Record<string, unknown> | null)?.[name] === 'function', hint);

export const aFunction = z.custom((value) => typeof value === 'function', 'wanted a function');

export const aClock = having('now', 'wanted a clock with now, setTimeout and clearTimeout');

export const aSignal = having<AbortSignal>('addEventListener', 'wanted an AbortSignal');

export const aModel = having('stream', 'wanted a model with a stream method, say openaiModel({ model })').refine(
  (model) => ((model as ChatModel).contextWindowTokens ?? 0) > 0,
  'wanted a model that says its contextWindowTokens',
);

/** Throws `invalid_option` for what is no signal. */
export function requireSignal(signal: unknown): void {
  if (signal === undefined || aSignal.safeParse(signal).success) return;
  throw new PostChainError('invalid_option', `signal: got ${describeValue(signal)}; wanted an AbortSignal.`);
}
