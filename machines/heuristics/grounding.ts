import { isUnspaced } from '../text/words.ts';
import { type Features, FULL_LENGTH, type Reading, shareOf, spaced, type Word, weightIn } from './reading.ts';

/** How evidence supports an answer. */
interface Grounding {
  /** The share of what the answer adds to the request that the evidence has, 0..1; null if there is nothing to check. */
  readonly support: number | null;
  /** Whether a text has the answer, or every name and number of a longer one, word by word. */
  readonly verbatim: boolean;
  /** Whether a name or number of the answer is in no text. */
  readonly inventsName: boolean;
}

/** A longer answer is a sentence: its names and numbers must be verbatim, not all of its words. */
const TERSE_WORDS = 5;
/** Numbers and names weigh more than other words: answers get them wrong most often. */
const NAME_FACTOR = 2;
/** Words of at most this length that no text has, and that are not names, say nothing that can be checked: "It is so". */
const SLIGHT_LENGTH = 3;
/** Words that answer a question and cannot be looked up. */
const BARE = new Set('yes no ja nein oui non si sim nao да нет'.split(' '));
const BARE_PHRASE = /^(?:是|不是|对|不|はい|いいえ|네|아니요)$/u;

/** Whether an answer is only a yes or no, in one of several languages. */
function isBare(answer: Reading): boolean {
  const text = answer.plain.replaceAll(' ', '');
  return (answer.words.length === 1 && BARE.has(text)) || BARE_PHRASE.test(text);
}

/**
 * Returns how evidence supports an answer: the share of its words that the request does not have (of all words if it
 * has no others), weighted by how few sentences have them, names and numbers more, short
 * words less. Linear in the texts.
 */
export function groundingOf(answer: Reading, request: Reading, texts: readonly Reading[]): Grounding {
  const nothing = { support: null, verbatim: false, inventsName: false };
  if (texts.length === 0 || answer.words.length === 0 || isBare(answer)) return nothing;
  const added = [...answer.terms].filter((term) => !request.terms.has(term));
  const checked = added.length > 0 ? added : [...answer.terms];
  const { names } = answer;
  const isFound = (term: string) => texts.some(({ terms }) => terms.has(term));
  const isSlight = (term: string) =>
    term.length <= SLIGHT_LENGTH && !names.has(term) && !isUnspaced(term) && !isFound(term);
  if (checked.every(isSlight)) return nothing;
  const rarity = weightIn(texts, answer, true);
  const weight = (term: string) => rarity(term) * (names.has(term) ? NAME_FACTOR : 1);
  return {
    support: shareOf(checked, weight)(isFound),
    verbatim: isVerbatim(answer, request, texts),
    inventsName: checked.some((term) => names.has(term) && !isFound(term)),
  };
}

function isVerbatim(answer: Reading, request: Reading, texts: readonly Reading[]): boolean {
  if (answer.length <= TERSE_WORDS) return texts.some((text) => has(text, withoutEnds(answer.words, texts)));
  const runs = namesIn(answer.words).filter((run) => run.some(({ stem }) => !request.terms.has(stem)));
  return runs.length > 0
    ? runs.every((run) => texts.some((text) => has(text, run)))
    : texts.some((text) => has(text, answer.words));
}

/** Returns the words without those at the start that no text has, if they are short and not names: "by John Bradfield". */
function withoutEnds(words: readonly Word[], texts: readonly Reading[]): readonly Word[] {
  const counts = ({ named, folded }: Word) =>
    named || folded.length >= FULL_LENGTH || texts.some(({ plain }) => plain.includes(` ${folded} `));
  const first = words.findIndex(counts);
  return first === -1 ? words : words.slice(first);
}

/** Returns the names, each with all of its adjacent words, and the numbers. */
export function namesIn(words: readonly Word[]): readonly (readonly Word[])[] {
  const runs: Word[][] = [];
  for (const [at, word] of words.entries()) {
    if (!word.named) continue;
    const before = words[at - 1];
    const isName = before?.named === true && !/^\p{N}/u.test(before.folded) && !/^\p{N}/u.test(word.folded);
    if (word.joined && isName) runs.at(-1)?.push(word);
    else runs.push([word]);
  }
  return runs;
}

/** Whether a text has the words one after another. */
function has(text: Reading, words: readonly Word[]): boolean {
  return words.length > 0 && text.plain.includes(spaced(words.map(({ folded }) => folded)));
}

/** What speaks against a claim that the task is complete; each 0 or 1, all 0 without evidence. */
export type CompletionFeature = 'long' | 'recombined' | 'repeatedResults';

/** With less support than this, the evidence has only words of the answer that occur everywhere. */
const INCIDENTAL = 0.1;

/**
 * Returns the features of an answer whose model claims completion.
 * - `long`: more than five words.
 * - `recombined`: the evidence has words of the answer, but not together: it was combined or changed.
 * - `repeatedResults`: the search returned the same text more than once.
 *
 * An answer that a text has verbatim, a yes or no, and a choice from the request have none of these.
 */
export function completionFeatures(
  answer: Reading,
  request: Reading,
  grounding: Grounding,
  repeated: boolean,
): Features<CompletionFeature> {
  const fromRequest = request.plain.includes(answer.plain);
  const open = grounding.support !== null && !grounding.verbatim && !isBare(answer) && !fromRequest;
  const flag = (holds: boolean) => (open && holds ? 1 : 0);
  return {
    long: flag(answer.length > TERSE_WORDS),
    recombined: flag((grounding.support ?? 0) > INCIDENTAL),
    repeatedResults: flag(repeated),
  };
}
