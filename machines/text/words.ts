const WORD = /[\p{L}\p{N}\p{M}]+(?:['’-][\p{L}\p{N}\p{M}]+|(?<=\p{N})[.,]\p{N}+)*/gu;

/** Of a longer text only the beginning is read: one word of many millions of letters would be too much for the expression. */
const MAX_CHARS = 2_000_000;

/** The distinct words of a text, in lower case: letters with their marks, digits, inner apostrophes and hyphens, decimals. */
export function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.slice(0, MAX_CHARS).toLowerCase().match(WORD) ?? []);
}

/** Signs that tell one thing from another: "C++" and "C#", "-5" and "5", "x < y" and "x > y". */
const SIGN = /[\p{S}#%&@*/\\]|-(?=\p{N})/gu;
const PART = new RegExp(`[\\p{L}\\p{N}\\p{M}]+|${SIGN.source}`, 'gu');

/** The signs of a text, in order: symbols, and the minus before a number. Punctuation is none. */
export function signsOf(text: string): readonly string[] {
  return text.slice(0, MAX_CHARS).match(SIGN) ?? [];
}

/** The runs of letters and digits of a text, in lower case, and its signs, in order: the same whatever case, spacing and punctuation. */
export function partsOf(text: string): readonly string[] {
  return text.slice(0, MAX_CHARS).toLowerCase().match(PART) ?? [];
}
