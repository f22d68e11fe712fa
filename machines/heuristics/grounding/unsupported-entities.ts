import type { RequestKind } from '../answer-fit/request-kind.ts';

/** Only so much of an answer is searched for where its words stand. */
const WINDOW_CHARS = 20_000;
const WITHIN_A_SENTENCE = /[\p{Ll}\p{N},;:]["'“‘(]?\s+["'“‘(]?$/u;

/**
 * Of the words of an answer that stand nowhere in what was gathered, the names and numbers: what an answer claims, and what it gets
 * wrong. A capital letter at the beginning of a sentence makes no name; a number that was asked for may be counted or summed.
 */
export function unsupportedEntities(
  answer: string,
  unsupported: readonly string[],
  kind: RequestKind,
): readonly string[] {
  const text = answer.slice(0, WINDOW_CHARS);
  return unsupported.filter((word) => {
    if (/\p{N}/u.test(word)) return kind !== 'number';
    return /^\p{Lu}/u.test(word) && WITHIN_A_SENTENCE.test(text.slice(0, Math.max(0, text.indexOf(word))).slice(-8));
  });
}
