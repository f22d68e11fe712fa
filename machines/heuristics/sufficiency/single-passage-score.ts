import { stemsOf } from '../../text/terms.ts';
import type { Asked, WordSet } from './asked.ts';
import type { Covered } from './coverage.ts';
import { isCalendar, type Reading } from './reading.ts';

const NUMBER_WORDS = new Set(
  stemsOf(
    `two three four five six seven eight nine ten eleven twelve dozen twenty thirty forty fifty sixty seventy eighty ninety
    hundred thousand million billion half twice century today yesterday tomorrow`,
  ),
);

/**
 * How well one passage answers alone, 0..1: the square of the share of the request that one sentence has with its title, so
 * that what is missing counts twice. A request for a number or a time takes a sentence with one that is not its own.
 */
export function singlePassageScore(texts: readonly Covered[], asked: Asked): number {
  let best = 0;
  for (const { reading, bySentence } of texts) {
    const title: WordSet = reading.titleLength > 0 ? (bySentence[0] ?? 0) : 0;
    for (const [sentence, words] of bySentence.entries()) {
      const share = asked.share(words | title);
      if (share > best && (!asked.wantsFigure || hasFigure(reading, sentence, asked))) best = share;
    }
  }
  return best ** 2;
}

function hasFigure({ stems, begins }: Reading, sentence: number, asked: Asked): boolean {
  const words = stems.slice(begins[sentence], begins[sentence + 1]);
  return words.some((stem) => !asked.has(stem) && (/^\p{N}/u.test(stem) || NUMBER_WORDS.has(stem) || isCalendar(stem)));
}
