import type { EvidenceText } from '../contracts/grading.ts';
import { newestDateIn } from '../text/dates.ts';
import { memoize } from '../text/memoize.ts';
import type { GroundingCheck } from './grounding.ts';
import { type Reading, readEvidence } from './reading.ts';

/** Two texts that state the same with different numbers. */
export interface Conflict {
  /** The text with the number of the answer, and the other one. */
  readonly ids: readonly [string, string];
  readonly numbers: readonly [string, string];
  /** The id of the newer text; null if their titles and ids have no dates. */
  readonly newer: string | null;
}

/** Sentences with at least this share of common words, apart from numbers, state the same. */
const SAME_SHARE = 0.8;
/** Shorter sentences are labels and headings, which many texts share. */
const FEWEST_WORDS = 3;
/** A time of day has two numbers. */
const MAX_NUMBERS = 2;
const MAX_STATEMENTS = 20;

/** A sentence with numbers, and its other words. */
interface Statement {
  readonly text: Reading;
  readonly words: ReadonlySet<string>;
  readonly numbers: ReadonlySet<string>;
}

const statementsOf = memoize((text: Reading): readonly Statement[] =>
  text.sentences.flatMap((terms) => {
    const [words, numbers] = [new Set<string>(), new Set<string>()];
    for (const term of terms) (isNumber(term) ? numbers : words).add(term);
    return numbers.size === 0 || words.size < FEWEST_WORDS ? [] : [{ text, words, numbers }];
  }),
);

const isNumber = (term: string): boolean => /^\p{N}/u.test(term);

/**
 * Returns where two texts state the same with different numbers, one of them a number of the answer. If an answer has both, it does not
 * hide the conflict. Linear in the sentences for each number of the answer.
 */
export function conflictsIn({ answer, request, texts }: GroundingCheck, evidence: readonly EvidenceText[]) {
  const all = texts.flatMap(statementsOf);
  const found = new Map<string, Conflict>();
  for (const number of answer.terms) {
    if (!isNumber(number) || request.terms.has(number)) continue;
    const own = all.filter(({ numbers }) => numbers.has(number)).slice(0, MAX_STATEMENTS);
    for (const other of own.length === 0 ? [] : all) {
      if (other.text.terms.has(number)) continue;
      const one = own.find((statement) => isSameExcept(number, statement, other, answer));
      if (one === undefined || !coversRequest(request, one, other)) continue;
      const [first, second] = [evidenceOf(evidence, one.text), evidenceOf(evidence, other.text)];
      const [replaced = ''] = without(other.numbers, one.numbers);
      const numbers = [number, replaced] as const;
      const ids = [first.id, second.id] as const;
      const pair = JSON.stringify(ids.toSorted());
      if (!found.has(pair)) found.set(pair, { ids, numbers, newer: newerOf(first, second) });
    }
  }
  return [...found.values()];
}

const without = (terms: ReadonlySet<string>, others: ReadonlySet<string>): readonly string[] =>
  [...terms].filter((term) => !others.has(term));

/** Whether two statements have the same words, and another number in place of this one. */
function isSameExcept(number: string, one: Statement, other: Statement, answer: Reading): boolean {
  const [missing, replaced] = [without(one.numbers, other.numbers), without(other.numbers, one.numbers)];
  if (missing.length !== replaced.length || missing.length > MAX_NUMBERS || !missing.includes(number)) return false;
  if (replaced.some((term) => answer.terms.has(term))) return false;
  const dropped = without(one.words, other.words).length;
  const shared = one.words.size - dropped;
  return shared / (other.words.size + dropped) >= SAME_SHARE;
}

/** Whether the second statement, with its title, has each term of the request that the first has: otherwise it is about something else. */
function coversRequest(request: Reading, one: Statement, other: Statement): boolean {
  const has = ({ words, numbers, text }: Statement, term: string) =>
    words.has(term) || numbers.has(term) || text.title.includes(term);
  return [...request.terms].every((term) => !has(one, term) || has(other, term));
}

const evidenceOf = (evidence: readonly EvidenceText[], text: Reading): EvidenceText =>
  evidence.find((one) => readEvidence([one])[0] === text) ?? { id: '', content: '' };

function newerOf(one: EvidenceText, other: EvidenceText): string | null {
  const [first, second] = [one, other].map(({ id, content }) => newestDateIn(`${id}\n${content.split('\n', 1)[0]}`));
  if (first == null || second == null || first === second) return null;
  return first > second ? one.id : other.id;
}
