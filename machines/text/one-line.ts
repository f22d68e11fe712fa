import { clipped, ownText } from './clipped.ts';

/** What is far beyond the end of the line is not looked at: an error's message may have megabytes. */
const LOOKED_AT = 20;

/** Foreign text as one line that can be shown: no control or format character, and at most so many characters. */
export function oneLine(text: string, maxChars = 400): string {
  const line = text
    .slice(0, LOOKED_AT * maxChars)
    .replaceAll(/[\s\p{C}]+/gu, ' ')
    .trim();
  return line.length <= maxChars ? ownText(line) : clipped(line, maxChars);
}
