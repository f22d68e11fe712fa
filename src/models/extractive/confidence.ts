/** What is known of how an answer was found. */
export interface AnswerSigns {
  /** The share of the question's weight that the answer and its headings have, 0..1. */
  readonly coverage: number;
  /** How much better the first span is than the best one elsewhere. */
  readonly margin: number;
  /** Whether the kind of thing asked for is there; null if the question does not show it. */
  readonly cueMet: boolean | null;
  /** How many content words the question has. */
  readonly words: number;
}

/** Even an answer with all the words of the question may not be one: on HotpotQA and MuSiQue one in four is none. */
const MOST = 0.95;
const THIN_MARGIN = 0.2;
const MARGIN_SHARE = 0.15;
const UNMET_CUE_FACTOR = 0.9;
const FEW_WORDS = 3;
const FEW_WORDS_STEP = 0.1;

/**
 * How sure an extracted answer is, 0..1: the coverage, less where another place fits nearly as well, where the kind of
 * thing asked for is not there, and where the question has so few words that covering them says little.
 */
export function confidenceOf({ coverage, margin, cueMet, words }: AnswerSigns): number {
  const clear = Math.max(0, Math.min(1, margin / THIN_MARGIN));
  const marginFactor = 1 - MARGIN_SHARE * (1 - clear);
  const cueFactor = cueMet === false ? UNMET_CUE_FACTOR : 1;
  const wordsFactor = 1 - FEW_WORDS_STEP * Math.max(0, FEW_WORDS - words);
  return Math.max(0, Math.min(1, MOST * coverage * marginFactor * cueFactor * wordsFactor));
}
