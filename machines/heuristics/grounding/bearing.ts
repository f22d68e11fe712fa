import type { Reading } from './reading.ts';

/** What gathered texts have to do with a request, and with an answer to it. */
export interface Bearing {
  /** The share of the request's content words that stand somewhere, 0..1; 1 where it has none. */
  readonly coverage: number;
  /** A text that has all the words of the answer shares a content word with the request. */
  readonly linked: boolean;
  /** How many of the texts say the same, word for word, as one before them. */
  readonly repeats: number;
}

/** How far texts bear on a request: `subject` are the request's stems, `said` the answer's. */
export function bearingOf(subject: readonly string[], said: readonly string[], texts: readonly Reading[]): Bearing {
  const covered = subject.filter((stem) => texts.some(({ stems }) => stems.has(stem))).length;
  const linked = texts.some(
    ({ stems }) => said.every((stem) => stems.has(stem)) && subject.some((stem) => stems.has(stem)),
  );
  const different = new Set(texts.map(({ plain }) => plain));
  return {
    coverage: subject.length === 0 ? 1 : covered / subject.length,
    linked,
    repeats: texts.length - different.size,
  };
}
