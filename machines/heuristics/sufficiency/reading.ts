import { stemsOf, termsOf } from '../../text/terms.ts';
import { COMPOSING, layoutOf, type NameRun, partsOf } from './layout.ts';

/** A gathered text as it is searched: where its words stand, what it is about, whom and what it names. */
export interface Reading {
  readonly stems: readonly string[];
  /** The places of each stem in `stems`. */
  readonly places: ReadonlyMap<string, readonly number[]>;
  /** The sentence of each stem; the title, where there is one, is sentence 0. */
  readonly sentences: readonly number[];
  /** The place at which each sentence begins. */
  readonly begins: readonly number[];
  /** How many stems the title has; 0 without a title. */
  readonly titleLength: number;
  /** What the title says that the text is about: "Springfield, Ohio" is called that and "Springfield". */
  readonly heads: readonly (readonly string[])[];
  /** What the text names, and how sure it is that the whole of it was meant, 0..1. Keys are stems joined by a space. */
  readonly names: ReadonlyMap<string, number>;
}

const MAX_TEXT_CHARS = 100_000;
/** A first line that is longer is no title. */
const MAX_TITLE_CHARS = 120;
const MAX_NAME_WORDS = 8;
/** How sure a piece of a name is: two neighbouring words of it, or one. */
const PAIR = 0.8;
const SINGLE = 0.5;
const CALENDAR = new Set(
  stemsOf(
    `January February March April May June July August September October November December
    Monday Tuesday Wednesday Thursday Friday Saturday Sunday`,
  ),
);

const wordSets = new WeakMap<object, ReadonlySet<string>>();
const readings = new WeakMap<object, Reading>();

/** The stems of a gathered text: all that is looked at to see whether a closer reading is worth it. */
export function stemSetOf(text: { readonly content: string }): ReadonlySet<string> {
  const known = wordSets.get(text);
  if (known !== undefined) return known;
  const stems = new Set(stemsOf(text.content.slice(0, MAX_TEXT_CHARS)));
  wordSets.set(text, stems);
  return stems;
}

/** A gathered text never changes, so it is read once. Linear; what stands beyond 100,000 characters is not read. */
export function readingOf(text: { readonly content: string }): Reading {
  const known = readings.get(text);
  if (known !== undefined) return known;
  const reading = read(text.content.slice(0, MAX_TEXT_CHARS));
  readings.set(text, reading);
  return reading;
}

function read(content: string): Reading {
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

/** A single word that opens a sentence has its capital letter from there. */
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
  for (const part of partsOf({ ...run, stems }, COMPOSING)) add(part, 1);
  for (const [at, stem] of stems.entries()) {
    if (at > 0) add(stems.slice(at - 1, at + 1), PAIR);
    add([stem], SINGLE);
  }
}

/** Months and days are written as names, and name nothing that a text could be about. */
export function isCalendar(stem: string): boolean {
  return CALENDAR.has(stem);
}

function headsOf(title: string): readonly (readonly string[])[] {
  const bare = title.replace(/\([^()]{0,120}\)/g, ' ');
  const full = stemsOf(bare);
  const short = stemsOf(bare.split(', ')[0] ?? '');
  return (short.length < full.length ? [full, short] : [full]).filter((head) => head.length > 0);
}

/** The places at which these stems follow one another. */
export function placesOf(reading: Reading, words: readonly string[]): readonly number[] {
  const [first, ...rest] = words;
  if (first === undefined) return [];
  const starts = reading.places.get(first) ?? [];
  return starts.filter((place) => rest.every((word, at) => reading.stems[place + at + 1] === word));
}

/** Whether a text is about this by its title. */
export function isHead({ heads }: Reading, words: readonly string[]): boolean {
  return heads.some((head) => head.length === words.length && head.every((word, at) => word === words[at]));
}
