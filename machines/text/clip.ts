/**
 * Clips a text to `maxChars` characters, with an ellipsis if something was cut; never splits a surrogate pair and does
 * not retain the original text.
 */
export function clipped(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const cut = text.slice(0, maxChars - 1);
  return ownText(`${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`);
}

/** A copy of the text: JavaScript engines keep the entire original in memory for a substring. */
function ownText(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}

/** Bounds the work: an error message may have megabytes. */
const MAX_READ_FACTOR = 20;

/** Untrusted text as one printable line: no control or format characters, at most `maxChars` long. */
export function oneLine(text: string, maxChars = 400): string {
  const line = text
    .slice(0, MAX_READ_FACTOR * maxChars)
    .replaceAll(/[\s\p{C}]+/gu, ' ')
    .trim();
  return line.length <= maxChars ? ownText(line) : clipped(line, maxChars);
}

/** Rounds down to three decimals, so that "0.299 is below 0.3" is always true. */
export const roundDown = (value: number): number => Math.floor(value * 1000) / 1000;
