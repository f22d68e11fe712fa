import type { z } from 'zod';
import { PostChainError } from '../machines/contracts/error.ts';

/** The error for a value that does not fit, in one line: where, what was got, what is wanted. */
export function refuse(what: string, given: unknown, error: z.ZodError): PostChainError {
  const [issue] = error.issues;
  const path = issue?.path ?? [];
  const got = path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key], given);
  const where = path.length === 0 ? what : path.join('.');
  const wanted = (issue?.message ?? 'wanted something else').replace(/^./, (first) => first.toLowerCase());
  return new PostChainError('invalid_option', `${where}: got ${spell(got)}; ${wanted}.`);
}

/** A value in a few words, for an error. */
export function spell(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 60));
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null)
    return `an object with ${Object.keys(value).slice(0, 5).join(', ') || 'nothing'}`;
  return String(value);
}
