import type * as z from 'zod/mini';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { limitsSchema, thresholdsSchema } from '../../../machines/contracts/limits.ts';
import { invalidOption } from '../../internal/options.ts';

const NUMBERS = { limits: limitsSchema.shape, thresholds: thresholdsSchema.shape } as const;

/** Returns the limit or threshold at a path, as an object with its name. Throws `invalid_option` if it is not in the range of a chain. */
export function readNumber(
  root: 'limits' | 'thresholds',
  [name = '', ...more]: readonly string[],
  path: string,
  value: unknown,
): Readonly<Record<string, number>> {
  const shape: Readonly<Record<string, z.ZodMiniType>> = NUMBERS[root];
  const schema = more.length === 0 && Object.hasOwn(shape, name) ? shape[name] : undefined;
  if (schema === undefined)
    throw new PostChainError(
      'invalid_option',
      `"${path}" does not exist; expected one of ${Object.keys(shape).join(', ')}`,
    );
  const read = schema.safeParse(value);
  if (!read.success) throw invalidOption(path, value, read.error);
  return { [name]: value as number };
}
