import type { ContinueDecision } from '../contracts/chain-state.ts';
import type { AnswerSketch } from '../contracts/decision.ts';
import { fnv1a } from '../text/hash.ts';
import { eachStem } from '../text/terms.ts';

/** Only the beginning of a longer answer is read, so that a decision stays fast. */
const MAX_CHARS = 20_000;
/** Terms in a sketch. A text with more keeps those with the lowest hashes: a uniform sample (A. Broder, 1997). */
const MAX_TERMS = 64;
/** Two answers with at least this share of common terms say the same in other words. */
const SAME_SHARE = 0.8;

/** Answers that differ in a negation make different statements. Content words leave negations out. */
const NEGATION = /\b(?:no|not|never|none|nobody|nothing|nor|neither|without|cannot)\b|n['’]t\b/iu;
const NEGATED = fnv1a('\u0000not');
const HAS_DIGIT = /\p{N}/u;
const STARTS_UPPER = /^\p{Lu}/u;
/** The text before the first word of a sentence, which is capitalized whether it is a name or not. */
const SENTENCE_START = /(?:^|[.!?:;\n])[\s"'“”‘’()*_-]*$/u;

/**
 * Returns what loop detection compares of an answer: hashes of its content words, and of those that make it a different statement
 * if they differ (numbers, names and negation).
 */
export function sketchOf(answer: string): AnswerSketch {
  const text = answer.slice(0, MAX_CHARS);
  const terms = new Set<number>();
  const facts = new Set<number>();
  eachStem(text, (stem, surface, start) => {
    const hash = fnv1a(stem);
    terms.add(hash);
    const isName = STARTS_UPPER.test(surface) && !SENTENCE_START.test(text.slice(Math.max(0, start - 8), start));
    if (isName || HAS_DIGIT.test(stem)) facts.add(hash);
  });
  if (NEGATION.test(text)) for (const set of [terms, facts]) set.add(NEGATED);
  const lowest = [...terms].sort((one, other) => one - other).slice(0, MAX_TERMS);
  return { terms: lowest, facts: lowest.filter((hash) => facts.has(hash)) };
}

/** Returns how often the run has already continued with the same phase and nearly the same answer. */
export function countRepeats(
  history: readonly ContinueDecision[],
  next: Pick<ContinueDecision, 'target' | 'fingerprint' | 'sketch'>,
): number {
  return history.filter(
    ({ target, fingerprint, sketch }) =>
      target === next.target && (fingerprint === next.fingerprint || isReworded(sketch, next.sketch)),
  ).length;
}

/**
 * Whether the later answer says the same as the earlier one in other words: at least 0.8 of the terms in common, the same numbers,
 * names and negation, and no more new terms than it leaves out. An answer that only adds something has progressed.
 */
function isReworded(earlier: AnswerSketch | null, later: AnswerSketch | null): boolean {
  if (earlier === null || later === null || earlier.terms.length === 0) return false;
  const end = Math.min(endOf(earlier), endOf(later));
  const { shared, dropped, added } = compareTerms(earlier.terms, later.terms, end);
  const isSame = added <= dropped && shared / (shared + added + dropped) >= SAME_SHARE;
  return isSame && hasFacts(earlier, end, later.terms) && hasFacts(later, end, earlier.terms);
}

const hasFacts = ({ facts }: AnswerSketch, end: number, terms: readonly number[]): boolean =>
  facts.every((fact) => fact > end || terms.includes(fact));

/** Returns the hash up to which a sketch is complete: a full one leaves out higher hashes. */
const endOf = ({ terms }: AnswerSketch): number =>
  terms.length < MAX_TERMS ? Number.POSITIVE_INFINITY : (terms.at(-1) ?? 0);

/** Counts the terms up to a hash that two ascending lists share, and those that only the first or only the second has. */
function compareTerms(first: readonly number[], second: readonly number[], end: number) {
  const counts = { shared: 0, dropped: 0, added: 0 };
  let at = 0;
  let other = 0;
  for (;;) {
    const one = first[at] ?? Number.POSITIVE_INFINITY;
    const two = second[other] ?? Number.POSITIVE_INFINITY;
    const lowest = Math.min(one, two);
    if (lowest > end || lowest === Number.POSITIVE_INFINITY) return counts;
    if (one === two) counts.shared += 1;
    else if (one < two) counts.dropped += 1;
    else counts.added += 1;
    if (one === lowest) at += 1;
    if (two === lowest) other += 1;
  }
}
