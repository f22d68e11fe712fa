import { signal } from '@preact/signals';

/** The runs that the chosen one is held against, by their ids: at most two. */
export const comparedWith = signal<readonly string[]>([]);

/** What the columns of a comparison are called. */
const LETTERS = ['A', 'B', 'C'] as const;
export const letterOf = (place: number): string => LETTERS[place] ?? String(place + 1);

/** A value as it stands beside another: on one line. */
export function told(value: unknown): string {
  if (value === undefined) return '–';
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '–');
}
