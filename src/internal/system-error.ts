import { firstLineOf } from './printable.ts';

/**
 * Returns the reason of a failed system call, for example `no such file or directory (ENOENT)`, without its path and system call, or the
 * first line of any other error.
 */
export function describeSystemError(error: unknown): string {
  const { getSystemErrorMap } = process.getBuiltinModule('node:util');
  const { errno, code } = Object(error) as { readonly errno?: number; readonly code?: string };
  const [, reason] = (errno !== undefined && getSystemErrorMap().get(errno)) || [];
  return reason === undefined ? firstLineOf(error) : `${reason} (${code})`;
}
