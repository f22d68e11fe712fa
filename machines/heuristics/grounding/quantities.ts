const SMALL_NUMBERS =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const VALUES: ReadonlyMap<string, number> = new Map([
  ...SMALL_NUMBERS.map((word, value): [string, number] => [word, value]),
  ...TENS.map((word, at): [string, number] => [word, 20 + 10 * at]),
]);
const SCALES: ReadonlyMap<string, number> = new Map([
  ['hundred', 1e2],
  ['thousand', 1e3],
  ['million', 1e6],
  ['billion', 1e9],
  ['trillion', 1e12],
]);
const NUMERAL = /^\d+(?:\.\d+)?$/;

/**
 * A word as its number is written in digits, so that the same number is the same text: thousands without their commas, no
 * ordinal ending, English number words up to ninety. Any other word comes back as it was, null for none.
 */
export function numeralOf(word: string): string | null {
  const value = VALUES.get(word);
  if (value !== undefined) return String(value);
  const plain = word.replace(/,(?=\d{3}(?!\d))/g, '').replace(/^(\d+)(?:st|nd|rd|th)$/, '$1');
  return NUMERAL.test(plain) ? plain : null;
}

/** The numeral of "2.5" and "million" together, "2500000"; null where the second word is no scale. */
export function scaled(numeral: string, word: string): string | null {
  const scale = SCALES.get(word);
  return scale === undefined ? null : String(Math.round(Number(numeral) * scale * 1e6) / 1e6);
}
