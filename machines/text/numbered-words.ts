import { isUnspaced, wordSegmentsOf } from './words.ts';

const MAX_CHARS = 20_000;
/** Digits and Chinese numerals. */
const NUMERAL = String.raw`[\p{N}零〇一二三四五六七八九十百千万两]`;
/** The start of a word that continues after its number, which may be ordinal. */
const COUNTS = new RegExp(`^第?${NUMERAL}*$`, 'u');

/** Returns the words of a text, in order; a number and the next word of a script without spaces are one word: "3号", "第三章". */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  let end = 0;
  for (const { segment, isWordLike, index } of wordSegmentsOf(text.slice(0, MAX_CHARS))) {
    if (!isWordLike) continue;
    const last = words.at(-1);
    if (last !== undefined && index === end && isUnspaced(segment) && COUNTS.test(last))
      words[words.length - 1] += segment;
    else words.push(segment);
    end = index + segment.length;
  }
  return words;
}

/** Returns the pattern of a text that contains a word of a script without spaces; "三号" is not in "十三号". */
export const unspacedPattern = (word: string): RegExp => new RegExp(`(?<!${NUMERAL}(?=${NUMERAL}))${word}`, 'u');

const BETWEEN = String.raw`[^\p{L}\p{N}\n|]{1,3}`;
/** What may be between a word and its number: "lines 1, 2 and 3", "version no. 4". */
const LISTED = String.raw`(?:(?:\d+|and|or|und|oder|to|bis|version|no|nr)${BETWEEN}){0,8}`;

/** A number that names something, like 3 in "line 3", and the pattern of a text that has the name, or the number alone in a cell or entry. */
interface NumberedName {
  readonly number: string;
  readonly pattern: RegExp;
}

/**
 * Returns the numbers among the words of a question that are part of a name, because they come after a word that the texts number as well.
 * A text about "Line 2" that has a 3 somewhere is not about "line 3".
 */
export function numberedNames(words: readonly string[], texts: readonly string[]): NumberedName[] {
  return words.flatMap((number, at) => {
    const word = (words[at - 1] ?? '').replace(/s$/u, '').replace(/[^\p{L}\p{N}]/gu, '.');
    if (!/^\d[\d.,]*$/u.test(number) || !/^\p{L}/u.test(word)) return [];
    const named = String.raw`(?<![\p{L}\p{N}])${word}\p{L}{0,2}${BETWEEN}`;
    const numbered = new RegExp(String.raw`${named}\d`, 'iu');
    if (!texts.some((text) => numbered.test(text))) return [];
    const exact = String.raw`${number.replaceAll('.', '\\.')}(?![\p{L}\p{N}]|[.,:]\d)`;
    const alone = String.raw`(?:^|[|\n])[\s*#-]{0,6}${exact}\s{0,3}(?:[|:]|$)`;
    return [{ number, pattern: new RegExp(`${named}${LISTED}${exact}|${alone}`, 'iu') }];
  });
}
