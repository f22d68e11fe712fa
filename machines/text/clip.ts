/** At most so many characters, the last of them a mark where more was there; never half a character. Holds on to no longer text. */
export function clipped(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const cut = text.slice(0, maxChars - 1);
  return ownText(`${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`);
}

/** The text written anew: a piece cut out of another keeps that whole in memory, as engines do. */
function ownText(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}

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

/** A number to tell in words: three decimals, cut and never rounded up, so that "0.299 is below 0.3" is always true. */
export const roundDown = (value: number): number => Math.floor(value * 1000) / 1000;
