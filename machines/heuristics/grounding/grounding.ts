import type { EvidenceText } from '../../contracts/evidence-text.ts';
import { isGeneral, termWeights } from '../../text/terms.ts';
import { type RequestKind, requestKind } from '../answer-fit/request-kind.ts';
import { readGathered } from './gathered.ts';
import { isTerse, type Reading, readStart, type Word } from './reading.ts';

/**
 * How far an answer stands in what was gathered.
 * `support`: the share of its content found there, 0..1, by weight; null where there is nothing to hold (a bare yes or no, an
 * empty answer) or nothing to hold it against (nothing gathered). `span`: it stands in one text word for word.
 * `unsupported`: its words that stand nowhere, as written, in order.
 */
export interface Grounding {
  readonly support: number | null;
  readonly span: boolean;
  readonly unsupported: readonly string[];
}

/** The words of an answer that are held against the texts: about its first so many different ones. */
const MAX_TERMS = 400;
/** Numbers and names say more than other words: they are what an answer gets wrong. */
const NUMBER_FACTOR = 2;
const NAME_FACTOR = 1.5;

/**
 * How far an answer stands in what was gathered [Y1, Y12]: its content words by their stems, weighed by how rare they are
 * (K. Spärck Jones, 1972), numbers and names more; numbers are compared by value ("25 million" is 25,000,000). Words that the
 * request has are not counted where the answer has others. A sentence stands word for word where the stretch does that holds
 * what it adds to the request. Reads the first 20,000 characters of answer and request and the first 50,000 of each text, the
 * texts once for each object; linear in them.
 */
export function groundingOf(answer: string, gathered: readonly EvidenceText[], request: string): Grounding {
  return ground(readStart(answer), readStart(request), readGathered(gathered), requestKind(request));
}

/** The same from readings, and the kind of thing that the request asks for. */
export function ground(said: Reading, asked: Reading, texts: readonly Reading[], kind: RequestKind): Grounding {
  const sought = core(said, asked.stems);
  const span = texts.some((text) => standsIn(text, sought, kind !== 'place', asked.stems));
  const terms = heldTerms(said, asked.stems);
  if (terms.length === 0 || texts.length === 0) return { support: null, span, unsupported: [] };
  return { ...supportOf(terms, texts), span };
}

interface HeldTerm {
  readonly stem: string;
  readonly word: Word;
}

/** A yes or a no does not stand in a text as an answer does. */
const BARE: ReadonlySet<string> = new Set(['yes', 'no']);

/** The different content words of an answer: those that the request does not have, or all where it has them all. */
function heldTerms(said: Reading, asked: ReadonlySet<string>): readonly HeldTerm[] {
  const added = new Map<string, HeldTerm>();
  const restated = new Map<string, HeldTerm>();
  for (const word of said.words) {
    if (BARE.has(word.folded)) continue;
    for (const stem of word.stems) {
      const into = asked.has(stem) ? restated : added;
      if (!into.has(stem)) into.set(stem, { stem, word });
    }
    if (added.size >= MAX_TERMS) break;
  }
  return [...(added.size > 0 ? added : restated).values()];
}

function supportOf(terms: readonly HeldTerm[], texts: readonly Reading[]): Omit<Grounding, 'span'> {
  const holders = new Map(terms.map(({ stem }) => [stem, countHolders(stem, texts)]));
  const weigh = termWeights(texts.length, (stem) => holders.get(stem) ?? 0);
  const unsupported = new Set<string>();
  let found = 0;
  let all = 0;
  for (const { stem, word } of terms) {
    const weight = weigh(stem) * factorOf(word);
    all += weight;
    if (holders.get(stem) !== 0) found += weight;
    else if (!isGeneral(stem)) unsupported.add(word.surface);
  }
  return { support: found / all, unsupported: [...unsupported] };
}

function countHolders(stem: string, texts: readonly Reading[]): number {
  let holders = 0;
  for (const { stems } of texts) if (stems.has(stem)) holders += 1;
  return holders;
}

function factorOf({ numeral, capital, opens }: Word): number {
  if (numeral) return NUMBER_FACTOR;
  return capital && !opens ? NAME_FACTOR : 1;
}

/** The words that must stand together: of a terse answer all but the function words at its ends, of a sentence what it adds. */
function core(said: Reading, asked: ReadonlySet<string>): readonly Word[] {
  const { words } = said;
  const terse = isTerse(said);
  const counts = ({ stems }: Word) => stems.length > 0 && (terse || stems.some((stem) => !asked.has(stem)));
  return words.slice(words.findIndex(counts), words.findLastIndex(counts) + 1);
}

/** At most so many places of one text are looked at. */
const MAX_PLACES = 64;
/** Written before a name without being part of it: the forms of address and office. */
const TITLES: ReadonlySet<string> = new Set(
  `mr mrs ms miss dr sir dame lady lord king queen prince princess emperor pope saint president chancellor minister senator governor
  mayor judge justice professor doctor captain colonel general major admiral director chairman coach`.split(/\s+/),
);

/**
 * Whether words stand in a text one after another. With `names`, a name that the text only ever has within a longer one ("Helena
 * Marsh" in "Helena Marsh Institute") does not. Titles make no name longer, nor do words whose stems are all `known`.
 */
function standsIn(text: Reading, sought: readonly Word[], names: boolean, known: ReadonlySet<string>): boolean {
  if (sought.length === 0) return false;
  const needle = ` ${sought.map(({ folded }) => folded).join(' ')} `;
  const named = names && sought.length > 1 && sought.some(({ capital }) => capital);
  let place = text.plain.indexOf(needle);
  for (let seen = 0; place !== -1 && seen < MAX_PLACES; seen += 1) {
    if (!named) return true;
    const first = wordAt(text.starts, place + 1);
    if (!precedes(text.words, first, known) && !follows(text.words, first + sought.length, known)) return true;
    place = text.plain.indexOf(needle, place + 1);
  }
  return false;
}

/** Whether the word before the one at `at` belongs to the same name. */
function precedes(words: readonly Word[], at: number, known: ReadonlySet<string>): boolean {
  const before = words[at - 1];
  if (before === undefined || words[at]?.joined !== true) return false;
  return !before.opens && !TITLES.has(before.folded) && isName(before, known);
}

function follows(words: readonly Word[], at: number, known: ReadonlySet<string>): boolean {
  const word = words[at];
  return word?.joined === true && isName(word, known);
}

function isName(word: Word, known: ReadonlySet<string>): boolean {
  return word.capital && word.stems.length > 0 && !word.stems.every((stem) => known.has(stem));
}

/** The word that begins at a place, by bisection. */
function wordAt(starts: readonly number[], place: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) < place) low = middle + 1;
    else high = middle;
  }
  return low;
}
