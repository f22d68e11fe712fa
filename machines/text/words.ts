import { stemmer } from 'stemmer';

/**
 * A run of letters and digits; a number with its separators is one run. Invisible characters (soft hyphens, joiners, variation selectors)
 * do not end it.
 */
const RUN = /\p{N}+(?:[.,٫٬]\p{N}+)+|[\p{L}\p{N}][\p{L}\p{N}\p{M}\p{Cf}]*(?:['’׳＇]\p{L}[\p{L}\p{M}\p{Cf}]*)*/gu;
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
const APOSTROPHES = /['’ʼ׳＇]/gu;
const UNSPACED = /(?!\p{Nd})[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
const ASCII = /^[a-zA-Z0-9]+$/;

/** Created on first use: the first segmenter of a process takes about 10 ms. */
let segmenter: Intl.Segmenter | undefined;

/** Splits a text into words in any script. It is about a hundred times slower than a regular expression. */
export function wordSegmentsOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('und', { granularity: 'word' });
  return segmenter.segment(text);
}

/** Visits the runs of letters and digits of a text in order, with their positions in UTF-16 units. */
export function eachRun(text: string, visit: (run: string, start: number) => void): void {
  const runs = new RegExp(RUN);
  for (let match = runs.exec(text); match !== null; match = runs.exec(text)) visit(match[0], match.index);
}

/** Whether a run contains letters of a script that is written without spaces, such as Han, Kana, or Thai. */
export const isUnspaced = (run: string): boolean => !ASCII.test(run) && UNSPACED.test(run);

/** The segmenter's time grows with the square of its input, so it gets at most this many characters at once. */
const WINDOW_CHARS = 200;

/** Returns the words of a run: several if it is in a script without spaces (by Intl.Segmenter). Linear. */
export function wordsOfRun(run: string): readonly string[] {
  if (!isUnspaced(run)) return [run];
  const words: string[] = [];
  for (let from = 0; from < run.length; from += WINDOW_CHARS)
    for (const { segment } of wordSegmentsOf(run.slice(from, from + WINDOW_CHARS))) words.push(segment);
  return words;
}

/** Marks that readers of the script leave out: accents, vowel points. In other scripts, marks are letters of their own. */
const MARKS = /[\u0300-\u036f\u0640]|(?=\p{M})[\p{scx=Arabic}\p{scx=Hebrew}\p{scx=Syriac}]/gu;
/** Characters and their normal form: letters that vary by position, language or keyboard, and separators of numbers. */
const FORMS = new Map(
  'ىي یي ېي ےي ںن ةه ۀه ہه ۂه ەه ۃه ھه کك ڪك ٱا ךכ םמ ןנ ףפ ץצ װוו ױוי ײיי ςσ ßss œoe æae øo łl đd ıi ٫. ٬,'
    .split(' ')
    .map((pair) => [pair.charAt(0), pair.slice(1)]),
);
const FORM = new RegExp(`[${[...FORMS.keys()].join('')}]`, 'gu');

const DIGIT = /[^\P{Nd}\d]/gu;

/** Each script's ten digits are consecutive, so a digit's value is its distance from the script's zero. */
function digitOf(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let value = 0;
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value += 1;
  return String(value);
}

/**
 * Returns a word in lower case, in the plain form of its letters and digits, without marks that may be left out, invisible characters,
 * apostrophes, a possessive ending, or separators of thousands. Decimals follow a point.
 */
export function foldWord(word: string): string {
  if (ASCII.test(word)) return word.toLowerCase();
  const plain = word
    .normalize('NFKD')
    .replace(INVISIBLE, '')
    .replace(MARKS, '')
    .replace(DIGIT, digitOf)
    .toLowerCase()
    .replace(FORM, (form) => FORMS.get(form) ?? form)
    .replace(/['’ʼ＇]s$/, '')
    .replace(APOSTROPHES, '');
  return /^[\d.,]+$/.test(plain) ? plainNumber(plain) : plain;
}

/** A comma before three digits separates thousands; before any other number of digits, at the end, decimals. */
const DECIMAL_COMMA = /^(\d{1,3}(?:\.\d{3})+|\d+),(\d{1,2}|\d{4,})$/;

function plainNumber(number: string): string {
  const [, whole, decimals] = DECIMAL_COMMA.exec(number) ?? [];
  if (whole !== undefined) return `${whole.replaceAll('.', '')}.${decimals}`;
  return number.replace(/,(?=\d{3}(?!\d))/g, '');
}

/** Returns the English stem (M. Porter, 1980) of a folded word in basic Latin letters; any other word unchanged. */
export const stemOfFolded = (word: string): string => (/^[a-z]+$/.test(word) ? stemmer(word) : word);

/** Returns the overlapping pairs of characters of a run, each once: they match whatever surrounds a word. */
export function characterPairs(run: string): readonly string[] {
  const characters = [...run.normalize('NFKC').replace(INVISIBLE, '').replace(DIGIT, digitOf).toLowerCase()];
  if (characters.length < 2) return characters;
  const pairs = new Set<string>();
  for (let at = 0; at + 1 < characters.length; at += 1) pairs.add(`${characters[at]}${characters[at + 1]}`);
  return [...pairs];
}

const WORD = /[\p{L}\p{N}\p{M}]+(?:['’-][\p{L}\p{N}\p{M}]+|(?<=\p{N})[.,]\p{N}+)*/gu;

/** Only the beginning of a longer text is read: a word of many millions of letters would overload the expression. */
const MAX_CHARS = 2_000_000;

const visible = (text: string): string => text.slice(0, MAX_CHARS).replace(INVISIBLE, '');

/**
 * Returns the distinct words of a text in lower case: letters with their marks, digits, inner apostrophes and hyphens,
 * decimals. A run of a script without spaces yields its pairs of characters.
 */
export function wordSet(text: string): ReadonlySet<string> {
  const words = visible(text).toLowerCase().match(WORD) ?? [];
  return new Set(words.flatMap((word) => (isUnspaced(word) ? characterPairs(word) : [word])));
}

/** Signs that change the meaning: "C++" and "C#", "-5" and "5", "x < y" and "x > y". */
const SIGN = /[\p{S}#%&@*/\\]|-(?=\p{N})/gu;
const PART = new RegExp(`[\\p{L}\\p{N}\\p{M}]+|${SIGN.source}`, 'gu');

/** Returns the signs of a text in order: symbols, and the minus before a number; no punctuation. */
export function signsOf(text: string): readonly string[] {
  return text.slice(0, MAX_CHARS).match(SIGN) ?? [];
}

/**
 * Returns the runs of letters and digits of a text in lower case, and its signs, in order, regardless of case, spacing
 * and punctuation.
 */
export function partsOf(text: string): readonly string[] {
  return visible(text).toLowerCase().match(PART) ?? [];
}
