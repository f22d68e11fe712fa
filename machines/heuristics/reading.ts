import type { EvidenceText } from '../contracts/grading.ts';
import { withPlainDates } from '../text/dates.ts';
import { memoize } from '../text/memoize.ts';
import {
  characterPairs,
  eachRun,
  foldWord,
  isComparison,
  isUnspaced,
  stemOfFolded,
  wordsOfRun,
} from '../text/words.ts';

/** A word of a text, or one character of a script that is written without spaces. */
export interface Word {
  /** In lower case, without accents. */
  readonly folded: string;
  /** The stem; of a character, the character. */
  readonly stem: string;
  /** A number, or a capital letter that no sentence start explains. */
  readonly named: boolean;
  /** Only a space or a hyphen separates it from the previous word. */
  readonly joined: boolean;
  readonly opensLine: boolean;
}

/** A text prepared for comparison. Nothing in it depends on the language. */
export interface Reading {
  readonly words: readonly Word[];
  /** The number of words, also in scripts without spaces. */
  readonly length: number;
  /** Every folded word with one space before and after it; the same of the stems. */
  readonly plain: string;
  readonly sequence: string;
  /** The terms: stems, and in scripts without spaces pairs of characters. */
  readonly terms: ReadonlySet<string>;
  /** The stems of the first line in order, without what is in parentheses; empty if that line is not a title. */
  readonly title: readonly string[];
  readonly names: ReadonlySet<string>;
  /** Adjacent stems, separated by a space. */
  readonly pairs: ReadonlySet<string>;
  /** The terms of each sentence; a title is the first. */
  readonly sentences: readonly ReadonlySet<string>[];
}

const TITLE = /^[^\n]{1,120}(?=\n)/;
const PARENTHESES = /\([^()]*\)/g;
/** Bounded, because it is tried at every character. */
const SENTENCE_END = /(?<=[.!?…]["”’')\]]{0,8})\s+|(?<=[。！？])|\n+/;
const OPENS = /[.!?:;·|\n"“«(。！？]/;
/** Characters to check between two words. */
const GAP_CHARS = 8;

/** Reads a text. Linear: the caller bounds its length. */
export function read(raw: string): Reading {
  const text = withPlainDates(raw);
  const words: Word[] = [];
  const [terms, names] = [new Set<string>(), new Set<string>()];
  let [length, end] = [0, 0];
  eachRun(text, (run, start, signed) => {
    if (isComparison(run)) return;
    const gap = text.slice(Math.max(end, start - GAP_CHARS), start);
    const joined = end > 0 && /^[\s-]?$/.test(gap);
    const opens = end === 0 || OPENS.test(gap);
    const opensLine = gap.includes('\n');
    end = start + run.length;
    if (isUnspaced(run)) {
      length += wordsOfRun(run).length;
      for (const [at, character] of [...foldWord(run)].entries())
        words.push({
          folded: character,
          stem: character,
          named: false,
          joined: at > 0 || joined,
          opensLine: at === 0 && opensLine,
        });
      for (const pair of characterPairs(run)) terms.add(pair);
      return;
    }
    const folded = signed?.only === true ? signed.form : foldWord(run);
    if (!joined || gap !== '-') length += 1;
    const named = /\p{N}/u.test(run) || (!opens && /^\p{Lu}/u.test(run));
    const stem = stemOfFolded(folded);
    words.push({ folded, stem, named, joined, opensLine });
    terms.add(stem);
    if (named || /^\p{Sc}/u.test(run)) names.add(stem);
    if (signed?.only !== false) return;
    terms.add(signed.form);
    names.add(signed.form);
  });
  // Of a request and an answer, none of these is needed.
  let title: Reading['title'] | null = null;
  let pairs: Reading['pairs'] | null = null;
  let sentences: Reading['sentences'] | null = null;
  return {
    words,
    length,
    plain: spaced(words.map(({ folded }) => folded)),
    sequence: spaced(words.map(({ stem }) => stem)),
    terms,
    names,
    get title() {
      title ??= titleOf(text);
      return title;
    },
    get pairs() {
      pairs ??= new Set(words.slice(1).map(({ stem }, at) => `${words[at]?.stem} ${stem}`));
      return pairs;
    },
    get sentences() {
      sentences ??= sentencesOf(text);
      return sentences;
    },
  };
}

function titleOf(text: string): Reading['title'] {
  const title = (TITLE.exec(text)?.[0] ?? '').replace(PARENTHESES, ' ');
  return title === '' ? [] : read(title).words.map(({ stem }) => stem);
}

function sentencesOf(text: string): Reading['sentences'] {
  const sentences = text.split(SENTENCE_END).filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));
  return sentences.map((sentence) => new Set(termsIn(sentence)));
}

/** Returns the words with one space before and after each. */
export const spaced = (words: readonly string[]): string => ` ${words.join(' ')} `;

function termsIn(text: string): readonly string[] {
  const terms: string[] = [];
  eachRun(text, (run, _, signed) => {
    if (signed !== null) terms.push(signed.form);
    if (isUnspaced(run)) terms.push(...characterPairs(run));
    else if (signed?.only !== true && !isComparison(run)) terms.push(stemOfFolded(foldWord(run)));
  });
  return terms;
}

/** Characters to read of an answer or a request, and of each evidence text, from its start. */
export const START_CHARS = 20_000;
const TEXT_CHARS = 50_000;

export const readStart = (text: string): Reading => read(text.slice(0, START_CHARS));

/** Many answers are compared with the same evidence. */
const readText = memoize(({ content }: EvidenceText) => read(content.slice(0, TEXT_CHARS)));

/** Reads the first 50,000 characters of each distinct evidence text, without empty ones; each object only once. */
export function readEvidence(texts: readonly EvidenceText[]): readonly Reading[] {
  const distinct = new Map(texts.map((text) => [text.content, text]));
  return Array.from(distinct.values(), readText).filter(({ words }) => words.length > 0);
}

export type Features<Name extends string> = Readonly<Record<Name, number>>;

/** How informative a term is, above 0. */
export type Weight = (term: string) => number;

/** Short words are frequent in every language (G. Zipf, 1935); words of this length and more count in full. */
const FULL_LENGTH = 6;

/**
 * Returns the inverse document frequency (K. Spärck Jones, 1972) over the sentences of texts, in place of lists of stop
 * words: words that most sentences have weigh almost nothing. A term that no sentence has weighs the most, unless it is
 * a short word that is not a name of `asked`: it is probably a question word. With `allShort`, short words that
 * sentences have weigh less, too: few texts do not show how frequent those are.
 */
export function weightIn(texts: readonly Reading[], asked: Reading, allShort = false): Weight {
  const having = new Map<string, number>();
  let sentences = 0;
  for (const text of texts)
    for (const terms of text.sentences) {
      sentences += 1;
      for (const term of terms) having.set(term, (having.get(term) ?? 0) + 1);
    }
  return (term) => {
    const texts = having.get(term) ?? 0;
    const rarity = Math.log(1 + (sentences + 0.5) / (texts + 0.5));
    const isShort = term.length < FULL_LENGTH && !asked.names.has(term) && !isUnspaced(term);
    return isShort && (texts === 0 || allShort) ? rarity * (term.length / FULL_LENGTH) ** 2 : rarity;
  };
}

/** Returns the share of the weight of terms that a predicate accepts, 0..1; 0 without terms. */
export type Share = (accepts: (term: string) => boolean) => number;

export function shareOf(terms: Iterable<string>, weight: Weight): Share {
  const weighted = Array.from(terms, (term) => ({ term, own: weight(term) }));
  const all = weighted.reduce((sum, { own }) => sum + own, 0);
  return (accepts) => {
    let found = 0;
    for (const { term, own } of weighted) if (accepts(term)) found += own;
    return all === 0 ? 0 : Math.min(1, found / all);
  };
}
