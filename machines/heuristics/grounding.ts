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
 * How far the evidence supports an answer. `support`: the weighted share of its content found there, 0..1; null if
 * there is nothing to check (a bare yes or no, an empty answer) or no evidence. `span`: one text has the answer
 * verbatim. `unsupported`: its words that no text has, as written, in order.
 */
export interface Grounding {
  readonly support: number | null;
  readonly span: boolean;
  readonly unsupported: readonly string[];
}

/** The maximum number of distinct words of an answer to check. */
const MAX_TERMS = 400;
/** Numbers and names weigh more than other words: answers get them wrong most often. */
const NUMBER_FACTOR = 2;
const NAME_FACTOR = 1.5;

/**
 * Returns how far the evidence supports an answer: its content words as stems, weighted by rarity (K. Spärck Jones,
 * 1972), numbers and names more; numbers are compared by value ("25 million" is 25,000,000). Words of the request count
 * only if the answer has no others. A sentence is verbatim if the part that it adds to the request is. Reads the first
 * 20,000 characters of answer and request and the first 50,000 of each text, each text once per object; linear in them.
 */
export function groundingOf(answer: string, gathered: readonly EvidenceText[], request: string): Grounding {
  return ground(parseStart(answer), parseStart(request), parseEvidence(gathered), requestKind(request));
}

/** Returns the same as `groundingOf`, from parsed texts and the kind of request. */
export function ground(
  answer: ParsedText,
  request: ParsedText,
  texts: readonly ParsedText[],
  kind: RequestKind,
): Grounding {
  const sought = core(answer, request.stems);
  const span = texts.some((text) => occursIn(text, sought, kind !== 'place', request.stems));
  const terms = termsToCheck(answer, request.stems);
  if (terms.length === 0 || texts.length === 0) return { support: null, span, unsupported: [] };
  return { ...supportOf(terms, texts), span };
}

interface CheckedTerm {
  readonly stem: string;
  readonly word: Word;
}

/** Answers that consist of one of these words cannot be looked up in evidence. */
const BARE: ReadonlySet<string> = new Set(['yes', 'no']);

/**
 * Returns the distinct content words of an answer: those that the request does not have, or all if it has all of them.
 */
function termsToCheck(answer: ParsedText, requestStems: ReadonlySet<string>): readonly CheckedTerm[] {
  const added = new Map<string, CheckedTerm>();
  const restated = new Map<string, CheckedTerm>();
  for (const word of answer.words) {
    if (BARE.has(word.folded)) continue;
    for (const stem of word.stems) {
      const into = requestStems.has(stem) ? restated : added;
      if (!into.has(stem)) into.set(stem, { stem, word });
    }
    if (added.size >= MAX_TERMS) break;
  }
  return [...(added.size > 0 ? added : restated).values()];
}

function supportOf(terms: readonly CheckedTerm[], texts: readonly ParsedText[]): Omit<Grounding, 'span'> {
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

/**
 * Returns the words that must be found together: of a terse answer, all but the stop words at its ends; of a sentence,
 * what it adds to the request.
 */
function core(answer: ParsedText, requestStems: ReadonlySet<string>): readonly Word[] {
  const { words } = answer;
  const terse = isTerse(answer);
  const counts = ({ stems }: Word) => stems.length > 0 && (terse || stems.some((stem) => !requestStems.has(stem)));
  return words.slice(words.findIndex(counts), words.findLastIndex(counts) + 1);
}

/** The maximum number of places to check per text. */
const MAX_PLACES = 64;
/** Titles, which precede a name without being part of it. */
const TITLES: ReadonlySet<string> = new Set(
  `mr mrs ms miss dr sir dame lady lord king queen prince princess emperor pope saint president chancellor minister senator governor
  mayor judge justice professor doctor captain colonel general major admiral director chairman coach`.split(/\s+/),
);

/**
 * Whether the words are in a text, one after another. With `names`, a name that occurs only within a longer one
 * ("Helena Marsh" in "Helena Marsh Institute") does not count. Titles, and words whose stems are all `known`, do not
 * make a name longer.
 */
function occursIn(text: ParsedText, sought: readonly Word[], names: boolean, known: ReadonlySet<string>): boolean {
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

/** Whether the word before `at` belongs to the same name. */
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

/** Returns the word that starts at a place, by bisection. */
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

/** Characters of an answer to search for the positions of words. */
const ENTITY_CHARS = 20_000;
const WITHIN_A_SENTENCE = /[\p{Ll}\p{N},;:]["'“‘(]?\s+["'“‘(]?$/u;

/**
 * Returns the names and numbers among an answer's unsupported words: its claims, and its likely errors. A capital
 * letter at the start of a sentence does not make a name; a requested number may be counted or summed.
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

/** How evidence relates to a request and an answer. */
export interface Bearing {
  /** The share of the request's content words found in any text, 0..1; 1 if it has none. */
  readonly coverage: number;
  /** A text with all words of the answer has a content word of the request. */
  readonly linked: boolean;
  /** How many texts repeat an earlier one verbatim. */
  readonly repeats: number;
}

/** Relates evidence to the stems of a request and of an answer. */
export function bearingOf(
  requestStems: readonly string[],
  answerStems: readonly string[],
  texts: readonly ParsedText[],
): Bearing {
  const covered = requestStems.filter((stem) => texts.some(({ stems }) => stems.has(stem))).length;
  const linked = texts.some(
    ({ stems }) => answerStems.every((stem) => stems.has(stem)) && requestStems.some((stem) => stems.has(stem)),
  );
  const different = new Set(texts.map(({ plain }) => plain));
  return {
    coverage: requestStems.length === 0 ? 1 : covered / requestStems.length,
    linked,
    repeats: texts.length - different.size,
  };
}

/** Characters to read from the end of a request, and of an answer. */
const DATED_CHARS = 1_000;
/** A text is about what it names among its first words; its year follows close behind the name. */
const OPENING_WORDS = 12;
const YEAR_WITHIN_WORDS = 80;
const EARLIER = /\b(?:first|earlier|earliest|older|oldest|before)\b/i;
const LATER = /\b(?:last|later|latest|younger|youngest|newer|newest|more recent|more recently)\b/i;
const OPTIONS = /(?:[,:;]|\bbetween\b|\bof\b)\s+([^,:;]{1,120}?),?\s+(?:or|and)\s+([^,:;]{1,120})$/i;

/**
 * Whether an answer to "which was first, A or B?" contradicts the years in the texts about A and B: the first year
 * after the name, in the first text that opens with it. False if a year is missing, both are equal, or the answer names
 * neither or both.
 */
export function contradictsDates(request: string, answer: string, texts: readonly ParsedText[]): boolean {
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
  const plainAnswer = parseText(answer.slice(0, DATED_CHARS)).plain;
  const mentionsOne = mentions(plainAnswer, one.plain);
  if (mentionsOne === mentions(plainAnswer, other.plain)) return false;
  const years = [one, other].map(({ plain }) => yearOf(plain, texts));
  const [first, second] = years;
  if (first == null || second == null || first === second) return false;
  return first < second !== (mentionsOne === earlier);
}

const mentions = (answer: string, option: string): boolean =>
  answer.trim() !== '' && (answer.includes(option) || option.includes(answer));

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
