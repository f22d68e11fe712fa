import { clippedLine } from '../../machines/text/clip.ts';

const MAX_NAME_CHARS = 60;
const MAX_SEGMENTS = 8;

/** Returns an untrusted name in quotes, cut to 60 characters, for use in an error message. */
export function quoted(name: string): string {
  return JSON.stringify(clippedLine(name, MAX_NAME_CHARS));
}

/** Returns a path as text, for example `places.0.city`. A long path keeps its end, which is the most specific part. */
export function pathText(path: readonly (string | number)[]): string {
  const shown = path.slice(-MAX_SEGMENTS).map((segment) => clippedLine(String(segment), MAX_NAME_CHARS));
  return (path.length > MAX_SEGMENTS ? ['…', ...shown] : shown).join('.');
}

/** Returns the first `max` names and the number of others, or "none". */
export function listed(names: readonly string[], max: number): string {
  const shown = names.slice(0, max).map((name) => clippedLine(name, 2 * MAX_NAME_CHARS));
  if (names.length > max) shown.push(`${names.length - max} more`);
  return shown.length === 0 ? 'none' : shown.join(', ');
}
