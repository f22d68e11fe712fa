import { stemsOf } from '../text/terms.ts';

/** A text found for a request, for example a search result. A short first line counts as its title. */
export interface EvidenceText {
  readonly id: string;
  readonly content: string;
}

/** A word of a text: folded (lower case, no accents, numbers as digits), its stems, and how it was written. */
export interface Word {
  readonly folded: string;
  /** Empty for a stop word. */
  readonly stems: readonly string[];
  readonly surface: string;
  readonly capital: boolean;
  readonly numeral: boolean;
  /** Only white space or a hyphen separates it from the previous word. */
  readonly joined: boolean;
  /** It starts a sentence, a quotation or the text, so its capital letter means nothing. */
  readonly opens: boolean;
}

/** A text prepared for searching. */
export interface ParsedText {
  readonly words: readonly Word[];
  /** Number of words separated by white space: "super-regional" is one. */
  readonly length: number;
  /** Every folded word with one space before and after it. */
  readonly plain: string;
  /** Where each word starts in `plain`, in UTF-16 units. */
  readonly starts: readonly number[];
  readonly stems: ReadonlySet<string>;
}

const WORD = /\p{N}+(?:[.,]\p{N}+)+|[\p{L}\p{N}][\p{L}\p{N}\p{M}]*(?:['’]\p{L}+)*/gu;
const JOINS = /^[\s-]$/;
const OPENS = /[.!?:;·|\n"“«(]/;
/** Characters to check between two words. */
const GAP_CHARS = 8;
/** Characters to read of an answer or request, from its start. */
const START_CHARS = 20_000;
/** An answer with more words is a sentence. */
const TERSE_WORDS = 5;

/** Whether a text is only a name, a date, or a number with its unit. */
export const isTerse = ({ length }: ParsedText): boolean => length <= TERSE_WORDS;

/** Parses the first 20,000 characters of an answer or request. */
export const parseStart = (text: string): ParsedText => parseText(startOf(text, START_CHARS));

/** Returns the first characters of a text, preferably without a partial word at the end. */
function startOf(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const space = text.lastIndexOf(' ', chars);
  return text.slice(0, space > chars / 2 ? space : chars);
}

/** Parses a text. Linear: the caller bounds its length. */
export function parseText(text: string): ParsedText {
  const words: Word[] = [];
  let length = 0;
  let end = 0;
  for (const match of text.matchAll(WORD)) {
    const gap = text.slice(Math.max(end, match.index - GAP_CHARS), match.index);
    if (end === 0 || /\s/.test(gap)) length += 1;
    addWord(words, match[0], gap, end === 0);
    end = match.index + match[0].length;
  }
  return { words, length, ...searchable(words) };
}

function addWord(words: Word[], surface: string, gap: string, first: boolean): void {
  const plain = fold(surface);
  const before = words.at(-1);
  const whole = before?.numeral === true ? scaled(before.folded, plain) : null;
  if (before !== undefined && whole !== null) {
    words[words.length - 1] = { ...before, folded: whole, stems: [whole], surface: `${before.surface} ${surface}` };
    return;
  }
  const numeral = numeralOf(plain);
  words.push({
    folded: numeral ?? plain,
    stems: numeral === null ? stemsOf(surface) : [numeral],
    surface,
    capital: /^\p{Lu}/u.test(surface),
    numeral: numeral !== null,
    joined: JOINS.test(gap),
    opens: first || OPENS.test(gap),
  });
}

function searchable(words: readonly Word[]): Pick<ParsedText, 'plain' | 'starts' | 'stems'> {
  const starts: number[] = [];
  const stems = new Set<string>();
  let length = 1;
  for (const word of words) {
    starts.push(length);
    length += word.folded.length + 1;
    for (const stem of word.stems) stems.add(stem);
  }
  return { plain: ` ${words.map(({ folded }) => folded).join(' ')} `, starts, stems };
}

function fold(word: string): string {
  if (/^[a-z0-9]+$/.test(word)) return word;
  const plain = word
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase();
  return plain.replace(/['’]s$/, '').replace(/['’]/g, '');
}

const SMALL_NUMBERS =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const VALUES: ReadonlyMap<string, number> = new Map([
  ...SMALL_NUMBERS.map((word, value): [string, number] => [word, value]),
  ...TENS.map((word, at): [string, number] => [word, 20 + 10 * at]),
]);
const SCALES: ReadonlyMap<string, number> = new Map([
  ['hundred', 1e2],
  ['thousand', 1e3],
  ['million', 1e6],
  ['billion', 1e9],
  ['trillion', 1e12],
]);
const NUMERAL = /^\d+(?:\.\d+)?$/;

/**
 * Returns a number word in digits, so that equal numbers have equal text: thousands without commas, no ordinal ending,
 * English number words up to ninety. Null for any other word.
 */
function numeralOf(word: string): string | null {
  const value = VALUES.get(word);
  if (value !== undefined) return String(value);
  const plain = word.replace(/,(?=\d{3}(?!\d))/g, '').replace(/^(\d+)(?:st|nd|rd|th)$/, '$1');
  return NUMERAL.test(plain) ? plain : null;
}

/** Returns the numeral of "2.5" and "million" together, "2500000"; null if the second word is not a scale. */
function scaled(numeral: string, word: string): string | null {
  const scale = SCALES.get(word);
  return scale === undefined ? null : String(Math.round(Number(numeral) * scale * 1e6) / 1e6);
}

/** Characters to read of each evidence text, from its start. */
const TEXT_CHARS = 50_000;

/** An evidence text never changes, so it is parsed once. */
const readings = new WeakMap<EvidenceText, ParsedText>();

/** Parses evidence texts, without empty ones: the first 50,000 characters of each, once per object. */
export function parseEvidence(gathered: readonly EvidenceText[]): readonly ParsedText[] {
  return gathered.map(readingOfText).filter(({ words }) => words.length > 0);
}

function readingOfText(text: EvidenceText): ParsedText {
  const known = readings.get(text);
  if (known !== undefined) return known;
  const reading = parseText(startOf(text.content, TEXT_CHARS));
  readings.set(text, reading);
  return reading;
}
