import { oneLine } from '../internal/printable.ts';

const MAX_CHARS = 500;

/** What went wrong, in one line for a page. */
export function problemOf(error: unknown): string {
  return oneLine(error instanceof Error ? error.message : String(error)).slice(0, MAX_CHARS) || 'It failed.';
}
