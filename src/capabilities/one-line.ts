import { clipped, ownText } from '../../machines/text/clipped.ts';

const MAX_CHARS = 400;
const MAX_QUOTED_CHARS = 60;
const MAX_SEGMENTS = 8;

/** Foreign text as one line that can be shown: no control or format character, and no more than 400 characters. */
export function oneLine(text: string, maxChars: number = MAX_CHARS): string {
  // What is far beyond the end of the line is not looked at: an error's message may have megabytes.
  const line = text
    .slice(0, 20 * maxChars)
    .replaceAll(/[\s\p{C}]+/gu, ' ')
    .trim();
  return line.length <= maxChars ? ownText(line) : clipped(line, maxChars);
}

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
