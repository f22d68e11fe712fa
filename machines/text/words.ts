const WORD = /[\p{L}\p{N}\p{M}]+(?:['’-][\p{L}\p{N}\p{M}]+|(?<=\p{N})[.,]\p{N}+)*/gu;

/** The distinct words of a text, in lower case: letters with their marks, digits, inner apostrophes and hyphens, decimals. */
export function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(WORD) ?? []);
}

/** Words that carry no topic. Short on purpose: it only keeps them from counting as a match. */
const COMMON = new Set(
  'a an and are as at be by do does did for from has have how i in is it its not of on or so that the their there these they this to was we were what when where which who why will with you your'.split(
    ' ',
  ),
);

/** The words of a text that carry its topic. */
export function topicWords(text: string): ReadonlySet<string> {
  const words = wordSet(text);
  return new Set([...words].filter((word) => !COMMON.has(word)));
}

/** The same for two texts with the same words in the same order, whatever their case and punctuation. */
export function wordKey(text: string): string {
  return (text.toLowerCase().match(WORD) ?? []).join(' ');
}
