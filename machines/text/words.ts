const WORD = /[\p{L}\p{N}\p{M}]+(?:['’-][\p{L}\p{N}\p{M}]+|(?<=\p{N})[.,]\p{N}+)*/gu;

/** Only the beginning of a longer text is read: a word of many millions of letters would overload the expression. */
const MAX_CHARS = 2_000_000;

/**
 * Returns the distinct words of a text in lower case: letters with their marks, digits, inner apostrophes and hyphens,
 * decimals.
 */
export function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.slice(0, MAX_CHARS).toLowerCase().match(WORD) ?? []);
}

/** Signs that change the meaning: "C++" and "C#", "-5" and "5", "x < y" and "x > y". */
const SIGN = /[\p{S}#%&@*/\\]|-(?=\p{N})/gu;
const PART = new RegExp(`[\\p{L}\\p{N}\\p{M}]+|${SIGN.source}`, 'gu');

/** Returns the signs of a text in order: symbols, and the minus before a number; no punctuation. */
export function signsOf(text: string): readonly string[] {
  return text.slice(0, MAX_CHARS).match(SIGN) ?? [];
}

/**
 * Returns the runs of letters and digits of a text in lower case, and its signs, in order, regardless of case, spacing
 * and punctuation.
 */
export function partsOf(text: string): readonly string[] {
  return text.slice(0, MAX_CHARS).toLowerCase().match(PART) ?? [];
}
