/**
 * Clips a text to `maxChars` characters, with an ellipsis if something was cut; never splits a surrogate pair and does
 * not retain the original text.
 */
export function clipped(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return detached(`${firstChars(text, maxChars - 1)}…`);
}

/** Returns the first characters of a text, without half a surrogate pair at the end. */
export function firstChars(text: string, chars: number): string {
  return text.slice(0, Math.max(0, chars)).replace(/[\uD800-\uDBFF]$/u, '');
}

/** Returns the last characters of a text, without half a surrogate pair at the start. */
export function lastChars(text: string, chars: number): string {
  return text.slice(Math.max(0, text.length - chars)).replace(/^[\uDC00-\uDFFF]/u, '');
}

/** Returns a copy of a substring: JavaScript engines keep the entire original in memory for it. */
function detached(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}

/** Bounds the work: an error message may have megabytes. */
const MAX_READ_FACTOR = 20;

/** Returns untrusted text as one printable line of at most `maxChars` characters, without control characters. */
export function clippedLine(text: string, maxChars = 400): string {
  const line = text
    .slice(0, MAX_READ_FACTOR * maxChars)
    .replaceAll(/[\s\p{C}]+/gu, ' ')
    .trim();
  return line.length <= maxChars ? detached(line) : clipped(line, maxChars);
}

/** Rounds down to three decimals, so that "0.299 is below 0.3" is always true. */
export const roundDown = (value: number): number => Math.floor(value * 1000) / 1000;
