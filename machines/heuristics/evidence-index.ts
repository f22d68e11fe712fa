import { ASKING_WORDS, isGeneral, requestTerms, stemsOf, type Term, termsOf } from '../text/terms.ts';

/** Consecutive capitalized words, such as "Bank of England". */
interface NameRun {
  readonly stems: readonly string[];
  /** What precedes each stem: "", "of", "and", …, or POSSESSIVE if the word before owns it. */
  readonly binders: readonly string[];
  /** Whether it opens a sentence, so its capital letter means little. */
  readonly opens: boolean;
  /** Position in the text, in UTF-16 units from 0. */
  readonly start: number;
}

/** Where the content words of a text are. */
interface Layout {
  /** The sentence of each term, from 0; a line break ends a sentence. */
  readonly sentences: readonly number[];
  readonly runs: readonly NameRun[];
}

const POSSESSIVE = "'s";
const SENTENCE_END = /[.!?…]["”’')\]]*\s|\n/;
const ENDS = /[.!?…\n]/;
const LETTER = /\p{L}/u;
const CAPITAL = /^\p{Lu}/u;
const ABBREVIATIONS = new Set('st dr mr mrs ms jr sr vs prof gen col rev no vol inc ltd co'.split(' '));
/** What may separate the words of one name. */
const BINDERS = new Set([
  '',
  '.',
  '-',
  '&',
  'of the',
  'de la',
  ...'of the and de da di du van von der la le al'.split(' '),
]);
/** Characters to check between two words. */
const MAX_GAP_CHARS = 200;

/** Returns the sentences and names of a text, from the positions of its terms. Linear: one pass. */
export function layoutOf(text: string, terms: readonly Term[]): Layout {
  const sentences: number[] = [];
  const runs: NameRun[] = [];
  let run: { stems: string[]; binders: string[]; opens: boolean; start: number } | null = null;
  let before: Term | null = null;
  let [sentence, end] = [0, 0];
  for (const term of terms) {
    if (before?.start !== term.start) {
      const gap = text.slice(end, Math.min(term.start, end + MAX_GAP_CHARS));
      const ends = before !== null && endsSentence(gap, before.surface);
      if (ends) sentence += 1;
      const binder = gap.trim();
      const capital = CAPITAL.test(term.surface);
      if (run !== null && capital && !ends && BINDERS.has(binder)) {
        run.stems.push(term.stem);
        run.binders.push(/['’]s$/.test(before?.surface ?? '') ? POSSESSIVE : binder);
      } else {
        if (run !== null) runs.push(run);
        const opens = (ends || before === null) && !LETTER.test(gap.split(ENDS).at(-1) ?? '');
        run = capital ? { stems: [term.stem], binders: [''], opens, start: term.start } : null;
      }
      end = term.start + term.surface.length;
      before = term;
    }
    sentences.push(sentence);
  }
  if (run !== null) runs.push(run);
  return { sentences, runs };
}

function endsSentence(gap: string, before: string): boolean {
  if (gap === ' ' || !SENTENCE_END.test(gap)) return false;
  return gap.trim() !== '.' || gap.includes('\n') || !(before.length === 1 || ABBREVIATIONS.has(before.toLowerCase()));
}

/** Binders of a list of names: "Ann Lee and Bo's". */
export const LISTING: ReadonlySet<string> = new Set(['and', '&', POSSESSIVE]);
/** Binders of a name made of names: "Bank of England". */
export const COMPOSING: ReadonlySet<string> = new Set([...LISTING, 'of', 'the', 'of the']);

/** Returns a name split at these binders. */
export function splitName({ stems, binders }: NameRun, at: ReadonlySet<string>): readonly (readonly string[])[] {
  const starts = binders.flatMap((binder, place) => (place === 0 || at.has(binder) ? [place] : []));
  return starts.map((from, part) => stems.slice(from, starts[part + 1]));
}

/** An evidence text prepared for searching: positions of its words, its topic, and the names in it. */
export interface IndexedText {
  readonly stems: readonly string[];
  /** The places of each stem in `stems`. */
  readonly places: ReadonlyMap<string, readonly number[]>;
  /** The sentence of each stem; a title is sentence 0. */
  readonly sentences: readonly number[];
  /** The position at which each sentence starts. */
  readonly begins: readonly number[];
  /** Number of stems in the title; 0 without a title. */
  readonly titleLength: number;
  /** What the title names: "Springfield, Ohio" names that and "Springfield". */
  readonly heads: readonly (readonly string[])[];
  /**
   * The names in the text, and how certain it is that the entire name was meant, 0..1. Keys are stems joined by a
   * space.
   */
  readonly names: ReadonlyMap<string, number>;
}

const MAX_TEXT_CHARS = 100_000;
/** A longer first line is not a title. */
const MAX_TITLE_CHARS = 120;
const MAX_NAME_WORDS = 8;
/** Certainty of a part of a name: two adjacent words, or one. */
const PAIR = 0.8;
const SINGLE = 0.5;
const CALENDAR = new Set(
  stemsOf(
    `January February March April May June July August September October November December
    Monday Tuesday Wednesday Thursday Friday Saturday Sunday`,
  ),
);

const wordSets = new WeakMap<object, ReadonlySet<string>>();
const readings = new WeakMap<object, IndexedText>();

/** Returns the stems of a text: enough to decide whether indexing it is worthwhile. */
export function stemSetOf(text: { readonly content: string }): ReadonlySet<string> {
  const known = wordSets.get(text);
  if (known !== undefined) return known;
  const stems = new Set(stemsOf(text.content.slice(0, MAX_TEXT_CHARS)));
  wordSets.set(text, stems);
  return stems;
}

/** Indexes a text, once per object. Linear; reads the first 100,000 characters. */
export function indexText(text: { readonly content: string }): IndexedText {
  const known = readings.get(text);
  if (known !== undefined) return known;
  const reading = read(text.content.slice(0, MAX_TEXT_CHARS));
  readings.set(text, reading);
  return reading;
}

function read(content: string): IndexedText {
  const terms = termsOf(content);
  const { sentences, runs } = layoutOf(content, terms);
  const places = new Map<string, number[]>();
  for (const [place, { stem }] of terms.entries()) {
    const known = places.get(stem);
    if (known === undefined) places.set(stem, [place]);
    else known.push(place);
  }
  const line = content.indexOf('\n');
  const titled = line > 0 && line <= MAX_TITLE_CHARS && (terms.at(-1)?.start ?? 0) > line;
  const names = new Map<string, number>();
  for (const run of runs) if (!standsOpen(run) || (titled && run.start < line)) addNames(run, names);
  return {
    stems: terms.map(({ stem }) => stem),
    places,
    sentences,
    begins: sentences.flatMap((sentence, place) => (sentence === sentences[place - 1] ? [] : [place])),
    titleLength: titled ? terms.filter(({ start }) => start < line).length : 0,
    heads: titled ? headsOf(content.slice(0, line)) : [],
    names,
  };
}

/** Whether the capital letter may mean nothing: the name is a single word at the start of a sentence. */
const standsOpen = ({ stems, opens }: NameRun): boolean => opens && stems.length === 1;

function addNames(run: NameRun, names: Map<string, number>): void {
  const stems = run.stems.slice(0, MAX_NAME_WORDS);
  const add = (words: readonly string[], sure: number): void => {
    if (words.every((word) => word.length < 2 || isCalendar(word))) return;
    const key = words.join(' ');
    if (sure > (names.get(key) ?? 0)) names.set(key, sure);
  };
  add(stems, 1);
  if (stems.length === 1) return;
  for (const part of splitName({ ...run, stems }, COMPOSING)) add(part, 1);
  for (const [at, stem] of stems.entries()) {
    if (at > 0) add(stems.slice(at - 1, at + 1), PAIR);
    add([stem], SINGLE);
  }
}

/** Months and days are capitalized but name nothing that a text could be about. */
export function isCalendar(stem: string): boolean {
  return CALENDAR.has(stem);
}

function headsOf(title: string): readonly (readonly string[])[] {
  const bare = title.replace(/\([^()]{0,120}\)/g, ' ');
  const full = stemsOf(bare);
  const short = stemsOf(bare.split(', ')[0] ?? '');
  return (short.length < full.length ? [full, short] : [full]).filter((head) => head.length > 0);
}

/** Returns the positions at which these stems follow one another. */
export function placesOf(reading: IndexedText, words: readonly string[]): readonly number[] {
  const [first, ...rest] = words;
  if (first === undefined) return [];
  const starts = reading.places.get(first) ?? [];
  return starts.filter((place) => rest.every((word, at) => reading.stems[place + at + 1] === word));
}

/** Whether the title names this. */
export function isHead({ heads }: IndexedText, words: readonly string[]): boolean {
  return heads.some((head) => head.length === words.length && head.every((word, at) => word === words[at]));
}

/** A set of a request's content words, one bit each. */
export type WordSet = number;

/** A request prepared for comparison with evidence. */
export interface ParsedRequest {
  /** Its distinct content words, at most 30. */
  readonly terms: readonly Term[];
  /** The things that it names, as stems, at most 16. */
  readonly names: readonly (readonly string[])[];
  /**
   * How many texts an answer seems to need: one, plus one for each thing that the request describes instead of naming;
   * at most 4.
   */
  readonly steps: number;
  /** Whether it asks for a number or a time. */
  readonly asksForFigure: boolean;
  readonly has: (stem: string) => boolean;
  /** The weighted share of the request that a set of its words covers, 0..1. */
  readonly share: (words: WordSet) => number;
}

/** As many as fit into the bits of a small integer. */
const MAX_TERMS = 30;
const MAX_NAMES = 16;
const MAX_REQUEST_CHARS = 20_000;
/** Weight of a general word ("handle", "kind"): a text can answer without it. */
const GENERAL_WEIGHT = 0.3;
const ASKS_FIGURE =
  /\b(?:when|how (?:many|much|long|often|far|old|large|big|tall|high)|(?:what|which) (?:year|date|day|month|century|decade|number|percentage|amount))\b/i;
const QUOTED = /["“]([^"“”\n]{2,80})["”]/g;
/** Words that may open a sentence, capitalized, without naming anything. */
const OPENERS = new Set(
  `besides except despite among amongst unlike like according along although though unless whereas throughout toward towards beside
  behind beneath beyond near concerning regarding following including following given known based located named`.split(
    /\s+/,
  ),
);

/** Parses a request. Linear; reads the first 20,000 characters. */
export function parseRequest(request: string): ParsedRequest {
  const text = request.slice(0, MAX_REQUEST_CHARS);
  const terms = requestTerms(text, MAX_TERMS).slice(0, MAX_TERMS);
  const weights = terms.map(({ stem }) => (isGeneral(stem) ? GENERAL_WEIGHT : 1));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const stems = new Set(stemsOf(text));
  return {
    terms,
    names: namesIn(text),
    steps: stepsNeeded(text.replace(QUOTED, ' Quoted ')),
    asksForFigure: ASKS_FIGURE.test(text),
    has: (stem) => stems.has(stem),
    share: (words) => (words === 0 ? 0 : weightOf(words, weights) / total),
  };
}

function weightOf(words: WordSet, weights: readonly number[]): number {
  let weight = 0;
  for (let rest = words; rest !== 0; rest &= rest - 1) weight += weights[31 - Math.clz32(rest & -rest)] ?? 0;
  return weight;
}

/** Returns the quoted titles and capitalized words of a text, each thing once. */
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
    const parts = splitName(run, LISTING);
    for (const [at, part] of parts.entries()) add(opener && at === 0 ? part.slice(1) : part);
  }
  return [...names.values()];
}

const opens = (word: string): boolean => OPENERS.has(word) || ASKING_WORDS.has(word);

/** The maximum number of steps. */
const MAX_STEPS = 4;
/** The nouns of a description are between "the" and a relation: "the live album that …". */
const MAX_NOUNS = 4;
const WORD_OR_MARK = /[\p{L}\p{N}][\p{L}\p{N}\p{M}'’.-]*|[^\s\p{L}\p{N}]/gu;
const RELATION = new Set('of where which that who whose whom when by for from in with'.split(' '));
const COPULA = new Set(['is', 'are', 'was', 'were']);
const ASKS_FOR = new Set(['who', 'what', 'which']);
const LOWER = /^\p{Ll}/u;
const UPPER = /^\p{Lu}/u;
const OWNER = /^\p{Lu}.*['’]s?$/u;

/**
 * Returns how many texts an answer seems to need, 1..4: one, plus one for each thing that the request describes instead
 * of naming ("the country where …", "the author of …", "Ann Lee's birthplace"). The requested thing itself ("Who is the
 * wife of …") does not count. After the decomposition of questions into steps (Wolfson and others, BREAK, 2020), by
 * form alone.
 */
export function stepsNeeded(request: string): number {
  const words = request.match(WORD_OR_MARK) ?? [];
  let steps = 1;
  for (let at = 0; at < words.length && steps < MAX_STEPS; at += 1) {
    if (OWNER.test(words[at] ?? '') && LOWER.test(words[at + 1] ?? '')) steps += 1;
    if (words[at] !== 'the' || isAskedFor(words, at)) continue;
    const nouns = nounsOfDescription(words, at + 1);
    if (nouns > 0) steps += 1;
    at += nouns;
  }
  return steps;
}

/** "Who is the wife of …" asks for that very thing. */
function isAskedFor(words: readonly string[], at: number): boolean {
  return at === 2 && COPULA.has(words[1] ?? '') && ASKS_FOR.has(words[0]?.toLowerCase() ?? '');
}

/** Returns the number of nouns before the relation that makes a phrase a description; 0 if it is not a description. */
function nounsOfDescription(words: readonly string[], from: number): number {
  for (let nouns = 1; nouns <= MAX_NOUNS; nouns += 1) {
    if (!LOWER.test(words[from + nouns - 1] ?? '')) return 0;
    const next = words[from + nouns] ?? '';
    if (RELATION.has(next) || UPPER.test(next)) return nouns;
  }
  return 0;
}
