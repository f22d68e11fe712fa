import { isGeneral, termWeights } from '../text/terms.ts';
import { type RequestKind, requestKind } from './answer-fit.ts';
import {
  type EvidenceText,
  isTerse,
  type ParsedText,
  parseEvidence,
  parseStart,
  parseText,
  type Word,
} from './parsed-text.ts';

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
 * How far an answer stands in what was gathered: its content words by their stems, weighed by how rare they are
 * (K. Spärck Jones, 1972), numbers and names more; numbers are compared by value ("25 million" is 25,000,000). Words that the
 * request has are not counted where the answer has others. A sentence stands word for word where the stretch does that holds
 * what it adds to the request. Reads the first 20,000 characters of answer and request and the first 50,000 of each text, the
 * texts once for each object; linear in them.
 */
export function groundingOf(answer: string, gathered: readonly EvidenceText[], request: string): Grounding {
  return ground(parseStart(answer), parseStart(request), parseEvidence(gathered), requestKind(request));
}

/** The same from readings, and the kind of thing that the request asks for. */
export function ground(
  said: ParsedText,
  asked: ParsedText,
  texts: readonly ParsedText[],
  kind: RequestKind,
): Grounding {
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
function heldTerms(said: ParsedText, asked: ReadonlySet<string>): readonly HeldTerm[] {
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

function supportOf(terms: readonly HeldTerm[], texts: readonly ParsedText[]): Omit<Grounding, 'span'> {
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

function countHolders(stem: string, texts: readonly ParsedText[]): number {
  let holders = 0;
  for (const { stems } of texts) if (stems.has(stem)) holders += 1;
  return holders;
}

function factorOf({ numeral, capital, opens }: Word): number {
  if (numeral) return NUMBER_FACTOR;
  return capital && !opens ? NAME_FACTOR : 1;
}

/** The words that must stand together: of a terse answer all but the function words at its ends, of a sentence what it adds. */
function core(said: ParsedText, asked: ReadonlySet<string>): readonly Word[] {
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
function standsIn(text: ParsedText, sought: readonly Word[], names: boolean, known: ReadonlySet<string>): boolean {
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

/** Only so much of an answer is searched for where its words stand. */
const ENTITY_CHARS = 20_000;
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
  const text = answer.slice(0, ENTITY_CHARS);
  return unsupported.filter((word) => {
    if (/\p{N}/u.test(word)) return kind !== 'number';
    return /^\p{Lu}/u.test(word) && WITHIN_A_SENTENCE.test(text.slice(0, Math.max(0, text.indexOf(word))).slice(-8));
  });
}

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
export function bearingOf(subject: readonly string[], said: readonly string[], texts: readonly ParsedText[]): Bearing {
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

/** What is read of a request, from its end, and of an answer, in characters. */
const DATED_CHARS = 1_000;
/** A text is about what it names among its first words; its year stands not far behind the name. */
const OPENING_WORDS = 12;
const YEAR_WITHIN_WORDS = 80;
const EARLIER = /\b(?:first|earlier|earliest|older|oldest|before)\b/i;
const LATER = /\b(?:last|later|latest|younger|youngest|newer|newest|more recent|more recently)\b/i;
const OPTIONS = /(?:[,:;]|\bbetween\b|\bof\b)\s+([^,:;]{1,120}?),?\s+(?:or|and)\s+([^,:;]{1,120})$/i;

/**
 * Whether an answer to "which was first, A or B?" goes against the years that the texts about A and B give: the first year behind the
 * name, in the first text that opens with it. False where either year is missing, where both are the same, or where the answer
 * names neither or both.
 */
export function againstDates(request: string, answer: string, texts: readonly ParsedText[]): boolean {
  const question = request
    .slice(-DATED_CHARS)
    .trim()
    .replace(/[?.!"'”\s]+$/, '');
  const earlier = EARLIER.test(question);
  if (earlier === LATER.test(question)) return false;
  const options = OPTIONS.exec(question)
    ?.slice(1)
    .map((option) => parseText(option));
  const [one, other] = options ?? [];
  if (one === undefined || other === undefined) return false;
  const said = parseText(answer.slice(0, DATED_CHARS)).plain;
  const namesOne = names(said, one.plain);
  if (namesOne === names(said, other.plain)) return false;
  const years = [one, other].map(({ plain }) => yearOf(plain, texts));
  const [first, second] = years;
  if (first == null || second == null || first === second) return false;
  return first < second !== (namesOne === earlier);
}

const names = (said: string, option: string): boolean =>
  said.trim() !== '' && (said.includes(option) || option.includes(said));

function yearOf(option: string, texts: readonly ParsedText[]): number | null {
  for (const { plain, starts, words } of texts) {
    const place = plain.indexOf(option);
    const at = place === -1 ? -1 : starts.indexOf(place + 1);
    if (at === -1 || at > OPENING_WORDS) continue;
    const year = words.slice(at, at + YEAR_WITHIN_WORDS).find(isYear);
    if (year !== undefined) return Number(year.folded);
  }
  return null;
}

const isYear = ({ folded }: Word): boolean => /^(?:1\d{3}|20\d{2})$/.test(folded);
