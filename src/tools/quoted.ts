import { oneLine } from '../../machines/text/clip.ts';

const MAX_QUOTED_CHARS = 60;
const MAX_SEGMENTS = 8;

/** A foreign name within a sentence. */
export function quoted(name: string): string {
  return JSON.stringify(oneLine(name, MAX_QUOTED_CHARS));
}

/** Where in a value: `places.0.city`. Of a long path the end says most. */
export function pathText(path: readonly (string | number)[]): string {
  const shown = path.slice(-MAX_SEGMENTS).map((segment) => oneLine(String(segment), MAX_QUOTED_CHARS));
  return (path.length > MAX_SEGMENTS ? ['…', ...shown] : shown).join('.');
}

/** The first of the names, and how many more there are. */
export function listed(names: readonly string[], max: number): string {
  const shown = names.slice(0, max).map((name) => oneLine(name, 2 * MAX_QUOTED_CHARS));
  if (names.length > max) shown.push(`${names.length - max} more`);
  return shown.length === 0 ? 'none' : shown.join(', ');
}
