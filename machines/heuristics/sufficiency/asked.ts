import { ASKING_WORDS, isGeneral, requestTerms, stemsOf, type Term, termsOf } from '../../text/terms.ts';
import { LISTING, layoutOf, partsOf } from './layout.ts';
import { isCalendar } from './reading.ts';

/** A set of a request's content words, one bit each. */
export type WordSet = number;

/** A request as the gathered texts are held against it. */
export interface Asked {
  /** Its distinct content words, at most 30. */
  readonly terms: readonly Term[];
  /** The things that it names, as stems, at most 16. */
  readonly names: readonly (readonly string[])[];
  /** How many texts it seems to take: one, and one for each thing that it describes instead of naming it; at most 4. */
  readonly steps: number;
  /** Whether it asks for a number or a time. */
  readonly wantsFigure: boolean;
  readonly has: (stem: string) => boolean;
  /** The share of the request's weight that a set of its words has, 0..1. */
  readonly share: (words: WordSet) => number;
}

/** As many as fit into the bits of a small integer. */
const MAX_TERMS = 30;
const MAX_NAMES = 16;
const MAX_REQUEST_CHARS = 20_000;
/** What a general word ("handle", "kind") counts beside one that tells: a text can answer without it. */
const GENERAL_WEIGHT = 0.3;
const ASKS_FIGURE =
  /\b(?:when|how (?:many|much|long|often|far|old|large|big|tall|high)|(?:what|which) (?:year|date|day|month|century|decade|number|percentage|amount))\b/i;
const QUOTED = /["“]([^"“”\n]{2,80})["”]/g;
/** Words that may open a sentence with a capital, and name nothing. */
const OPENERS = new Set(
  `besides except despite among amongst unlike like according along although though unless whereas throughout toward towards beside
  behind beneath beyond near concerning regarding following including following given known based located named`.split(
    /\s+/,
  ),
);

/** Reads a request. Linear; what stands beyond 20,000 characters is not read. */
export function askedOf(request: string): Asked {
  const text = request.slice(0, MAX_REQUEST_CHARS);
  const terms = requestTerms(text, MAX_TERMS).slice(0, MAX_TERMS);
  const weights = terms.map(({ stem }) => (isGeneral(stem) ? GENERAL_WEIGHT : 1));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const stems = new Set(stemsOf(text));
  return {
    terms,
    names: namesIn(text),
    steps: stepsWanted(text.replace(QUOTED, ' Quoted ')),
    wantsFigure: ASKS_FIGURE.test(text),
    has: (stem) => stems.has(stem),
    share: (words) => (words === 0 ? 0 : weightOf(words, weights) / total),
  };
}

function weightOf(words: WordSet, weights: readonly number[]): number {
  let weight = 0;
  for (let rest = words; rest !== 0; rest &= rest - 1) weight += weights[31 - Math.clz32(rest & -rest)] ?? 0;
  return weight;
}

/** Quoted titles and capitalised words, each thing once. */
function namesIn(text: string): readonly (readonly string[])[] {
  const names = new Map<string, readonly string[]>();
  const add = (stems: readonly string[]): void => {
    if (stems.length === 0 || stems.every((stem) => isCalendar(stem) || /^\d+$/.test(stem))) return;
    if (names.size < MAX_NAMES) names.set(stems.join(' '), stems);
  };
  const unquoted = text.replace(QUOTED, (_, title: string) => {
    add(stemsOf(title));
    return ' , ';
  });
  const terms = termsOf(unquoted);
  const firstWords = new Map(terms.map(({ start, surface }) => [start, surface.toLowerCase()]));
  for (const run of layoutOf(unquoted, terms).runs) {
    const opener = run.opens && opens(firstWords.get(run.start) ?? '');
    const parts = partsOf(run, LISTING);
    for (const [at, part] of parts.entries()) add(opener && at === 0 ? part.slice(1) : part);
  }
  return [...names.values()];
}

const opens = (word: string): boolean => OPENERS.has(word) || ASKING_WORDS.has(word);

/** More things described than this ask for no more steps. */
const MOST_STEPS = 4;
/** Between "the" and what tells a description there are its nouns: "the live album that …". */
const MOST_NOUNS = 4;
const WORD_OR_MARK = /[\p{L}\p{N}][\p{L}\p{N}\p{M}'’.-]*|[^\s\p{L}\p{N}]/gu;
const RELATION = new Set('of where which that who whose whom when by for from in with'.split(' '));
const COPULA = new Set(['is', 'are', 'was', 'were']);
const ASKS_FOR = new Set(['who', 'what', 'which']);
const LOWER = /^\p{Ll}/u;
const UPPER = /^\p{Lu}/u;
const OWNER = /^\p{Lu}.*['’]s?$/u;

/**
 * How many texts an answer seems to take, 1..4: one, and one more for each thing that the request describes instead of naming
 * it ("the country where …", "the author of …", "Ann Lee's birthplace"). What it asks for itself ("Who is the wife of …") is
 * no step. After the decomposition of questions into steps (Wolfson and others, BREAK, 2020), by their form alone.
 */
export function stepsWanted(request: string): number {
  const words = request.match(WORD_OR_MARK) ?? [];
  let steps = 1;
  for (let at = 0; at < words.length && steps < MOST_STEPS; at += 1) {
    if (OWNER.test(words[at] ?? '') && LOWER.test(words[at + 1] ?? '')) steps += 1;
    if (words[at] !== 'the' || isAskedFor(words, at)) continue;
    const nouns = nounsOfDescription(words, at + 1);
    if (nouns > 0) steps += 1;
    at += nouns;
  }
  return steps;
}

/** "Who is the wife of …": a request that opens so asks for that very thing. */
function isAskedFor(words: readonly string[], at: number): boolean {
  return at === 2 && COPULA.has(words[1] ?? '') && ASKS_FOR.has(words[0]?.toLowerCase() ?? '');
}

/** How many words there are before the one that makes it a description; 0 if it is none. */
function nounsOfDescription(words: readonly string[], from: number): number {
  for (let nouns = 1; nouns <= MOST_NOUNS; nouns += 1) {
    if (!LOWER.test(words[from + nouns - 1] ?? '')) return 0;
    const next = words[from + nouns] ?? '';
    if (RELATION.has(next) || UPPER.test(next)) return nouns;
  }
  return 0;
}
