import { stemmer } from 'stemmer';

/** A number before a unit is a word of its own: "5kg" is "5 kg", but "2nd" and "10a" are one word. */
const UNIT = String.raw`(?=(?!(?:st|nd|rd|th|er|re|ère|ème)(?!\p{L}))(?:[\p{Lu}\p{Ll}]{2,3}|[gmlhsWVL])(?![\p{L}\p{N}\p{M}]))`;
const POWER = String.raw`(?:\^[-−]?\p{N}+|⁻\p{No}+)?`;
/** Signs that are words: "5 %" is "5 percent". */
const UNIT_SIGN = String.raw`[\p{Sc}%％‰°§]`;
const COMPARISON = '[<>≤≥⩽⩾±]';
/**
 * A run of letters and digits, or a sign that stands alone. A number with its separators is one run. Invisible characters (soft hyphens,
 * joiners, variation selectors) do not end it.
 */
const RUN = new RegExp(
  [
    String.raw`\p{N}+(?:[.,٫٬]\p{N}+|[\u00A0\u2009\u202F'’]\p{N}{3}(?!\p{N}))+${POWER}`,
    String.raw`\p{N}+${UNIT}`,
    String.raw`[\p{L}\p{N}][\p{L}\p{N}\p{M}\p{Cf}]*(?:['’׳＇]\p{L}[\p{L}\p{M}\p{Cf}]*)*${POWER}`,
    UNIT_SIGN,
    String.raw`(?<=\s)${COMPARISON}(?=\s)`,
  ].join('|'),
  'gu',
);
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
const APOSTROPHES = /['’ʼ׳＇]/gu;
const UNSPACED = /(?!\p{Nd})[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
const ASCII = /^[a-zA-Z0-9]+$/;

/** Created on first use: the first segmenter of a process takes about 10 ms. */
let segmenter: Intl.Segmenter | undefined;

/** Splits a text into words in any script. It is about a hundred times slower than a regular expression. */
function wordSegmentsOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('und', { granularity: 'word' });
  return segmenter.segment(text);
}

/** A word with the signs that belong to it. `only`: without them, it is another word, as "C++" and "C", or "-5" and "5". */
interface Signed {
  readonly form: string;
  readonly only: boolean;
}

type Visit = (run: string, start: number, signed: Signed | null) => void;

/** The words of recently read short texts, because the phases of a cycle read the same ones several times. Emptied when full. */
const recent = new Map<string, Parameters<Visit>[]>();
const MOST_RECENT = { texts: 64, chars: 1_000 };

/**
 * Visits the words of a text in order: runs of letters and digits, and signs that stand alone, with their positions in UTF-16 units, and with
 * the signs that belong to them.
 */
export function eachRun(text: string, visit: Visit): void {
  const known = recent.get(text);
  if (known !== undefined) return void known.forEach((run) => void visit(...run));
  const found: Parameters<Visit>[] | null = text.length > MOST_RECENT.chars ? null : [];
  for (const match of text.matchAll(RUN)) {
    const signed = signedAt(text, match[0], match.index);
    found?.push([match[0], match.index, signed]);
    visit(match[0], match.index, signed);
  }
  if (recent.size >= MOST_RECENT.texts) recent.clear();
  if (found !== null) recent.set(text, found);
}

const DASHES = String.raw`\-−–‑‐﹣－`;
const BEFORE_NUMBER = new RegExp(
  [
    String.raw`(?:(?<![\p{L}\p{M}\p{N})\]}\p{Pd}−])(?<minus>[${DASHES}])(?:\p{Sc}\s?)?`,
    String.raw`(?<![\p{L}\p{N}])(?<word>minus)\s`,
    String.raw`(?<![-=<>])(?<compares><=|>=|=<|\+\/?-|${COMPARISON})\s?`,
    String.raw`(?<![\p{L}\p{N}&#])(?<other>#)`,
    String.raw`(?<![\p{L}\p{N}.])(?<point>\.))$`,
  ].join('|'),
  'iu',
);
const BEFORE_WORD = /(?<![^\s([{"'“‘«„`|,;:=>])(?:[@#$]|--?|\.)$/u;
/** Signs after a word: "C++", "F#", "Na+", and after one or two letters "A-" and "A*". */
const AFTER_WORD = new RegExp(
  String.raw`(?:(?<=(?<![\p{L}\p{N}*])\p{L}{1,2})[${DASHES}*](?![\p{L}\p{M}\p{N}${DASHES}*])|[−⁺⁻](?![\p{L}\p{N}])|\+\+|[+#](?![\p{L}\p{N}]))`,
  'uy',
);
/** Words that signs join: "X-100", "R&D", "24/7", "km/h". */
const JOINED = [
  new RegExp(String.raw`[\p{Lu}\p{N}]{1,12}(?:[${DASHES}/+_.:#][\p{Lu}\p{N}]{1,12})+[+#]?(?![\p{L}\p{N}])`, 'uy'),
  /\p{L}{1,3}\s?[&+]\s?\p{L}{1,3}(?![\p{L}\p{N}])/uy,
  /(?<!\p{N}\/)\p{N}{1,2}\/\p{N}{1,2}(?![\p{L}\p{N}/])/uy,
  /\p{L}{1,3}\/\p{L}{1,3}(?![\p{L}\p{N}/])/uy,
];
const BEFORE_CHARS = 10;

function signedAt(text: string, run: string, start: number): Signed | null {
  const [before = '', after = ''] = [text[start - 1], text[start + run.length]];
  const isNumber = /^\p{N}/u.test(run);
  // Most words have only spaces and punctuation around them.
  if (
    !isNumber &&
    /^[\s,;()]?$/.test(before) &&
    /^[\s.,;:()?!|"]?$/.test(after) &&
    !/[&+]/.test(text[start + run.length + 1] ?? '')
  )
    return null;
  if (isUnspaced(run) || !/[\p{L}\p{N}]/u.test(run)) return null;
  const plain = foldWord(run);
  const at = (pattern: RegExp, index: number): string => {
    pattern.lastIndex = index;
    return pattern.exec(text)?.[0] ?? '';
  };
  const suffix = isNumber ? '' : at(AFTER_WORD, start + run.length);
  if (suffix !== '') return { form: plain + plainSigns(suffix), only: true };
  for (const [place, pattern] of JOINED.entries()) {
    const joined = at(pattern, start);
    if (joined.length > run.length && (place > 0 || (/\p{Lu}/u.test(joined) && /\p{N}/u.test(joined))))
      return { form: plainSigns(joined).toLowerCase(), only: false };
  }
  return withPrefix(text.slice(Math.max(0, start - BEFORE_CHARS), start), plain, isNumber, after);
}

function withPrefix(before: string, plain: string, isNumber: boolean, after: string): Signed | null {
  if (!isNumber) {
    const [sign = ''] = BEFORE_WORD.exec(before) ?? [];
    return sign === '' ? null : { form: sign + plain, only: sign === '.' };
  }
  const { minus, word, compares, other, point } = BEFORE_NUMBER.exec(before)?.groups ?? {};
  if ((minus ?? word) !== undefined) return { form: `-${plain}`, only: true };
  if (point !== undefined) return { form: `0.${plain}`, only: true };
  const sign = compares === undefined ? (other ?? '') : plainSigns(compares);
  if (sign !== '') return { form: sign + plain, only: false };
  return after === '+' ? { form: `${plain}+`, only: false } : null;
}

/** Returns text without spaces, with one form of each sign. */
const plainSigns = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(new RegExp(`[${DASHES}]`, 'gu'), '-')
    .replace(/\s+/gu, '')
    .replace(/^(?:<=|=<|⩽)$/u, '≤')
    .replace(/^(?:>=|⩾)$/u, '≥')
    .replace(/^\+\/?-$/u, '±');

/** Whether a run is a comparison sign, which means nothing on its own. */
export const isComparison = (run: string): boolean => run.length === 1 && COMPARISON.includes(run);

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

/** Marks that readers of the script leave out: accents, vowel points, the nukta of Hindi. In other scripts, marks are letters of their own. */
const MARKS = /[\u0300-\u036f\u0640\u093C]|(?=\p{M})[\p{scx=Arabic}\p{scx=Hebrew}\p{scx=Syriac}]/gu;
/** Characters and their normal form: letters that vary by position, language or keyboard, and separators of numbers. */
const FORMS = new Map(
  'ىي یي ېي ےي ںن ةه ۀه ہه ۂه ەه ۃه ھه کك ڪك ٱا ךכ םמ ןנ ףפ ץצ װוו ױוי ײיי ςσ ßss œoe æae øo łl đd ıi ٫. ٬,'
    .split(' ')
    .map((pair) => [pair.charAt(0), pair.slice(1)]),
);
const FORM = new RegExp(`[${[...FORMS.keys()].join('')}]`, 'gu');

const DIGIT = /[^\P{Nd}\d]/gu;

/** Signs, abbreviations and words that mean the same. */
const SAME = new Map(
  '% percent|prozent percent|° degree|€ euro|eur euro|$ dollar|usd dollar|£ pound|gbp pound|¥ yen|jpy yen|₹ rupee|inr rupee'
    .split('|')
    .map((pair): [string, string] => [pair.slice(0, pair.indexOf(' ')), pair.slice(pair.indexOf(' ') + 1)]),
);

/** Each script's ten digits are consecutive, so a digit's value is its distance from the script's zero. */
function digitOf(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let value = 0;
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value += 1;
  return String(value);
}

/**
 * Returns a word in lower case, in the plain form of its letters and digits, without marks that may be left out, invisible characters,
 * apostrophes, a possessive ending, or separators of thousands. Decimals follow a point. "m²" is "m2", "10²" is "10^2", and the number of a
 * note after a word is left out.
 */
export function foldWord(word: string): string {
  if (ASCII.test(word)) {
    const lower = word.toLowerCase();
    return SAME.get(lower) ?? lower;
  }
  const plain = word
    .replace(/(\p{L}{4})(?:[⁰¹²³⁴-⁹]+|\^\p{N}+)$/u, '$1')
    .replace(/(?<=\p{N})⁻?[⁰¹²³⁴-⁹]+$/u, (power) => `^${power}`)
    .normalize('NFKD')
    .replace(/[−⁻]/gu, '-')
    .replace(/(?<=\p{L})\^|[\s'’](?=\d{3})/gu, '')
    .replace(INVISIBLE, '')
    .replace(MARKS, '')
    .replace(DIGIT, digitOf)
    .toLowerCase()
    .replace(FORM, (form) => FORMS.get(form) ?? form)
    .replace(/['’ʼ＇]s$/, '')
    .replace(APOSTROPHES, '');
  return /^[\d.,]+$/.test(plain) ? plainNumber(plain) : (SAME.get(plain) ?? plain);
}

/** A comma before three digits separates thousands; before any other number of digits, at the end, decimals. */
const DECIMAL_COMMA = /^(\d{1,3}(?:\.\d{3})+|\d+),(\d{1,2}|\d{4,})$/;

function plainNumber(number: string): string {
  const [, whole, decimals] = DECIMAL_COMMA.exec(number) ?? [];
  if (whole !== undefined) return `${whole.replaceAll('.', '')}.${decimals}`;
  return number.replace(/,(?=\d{3}(?!\d))/g, '');
}

/** The particles of Korean, which are written together with the noun before them, longest first. */
const PARTICLES = new RegExp(
  `(?<=[가-힣]{2})(?:${'으로부터 에서는 에게서 으로 에서 에게 까지 부터 에는 은 는 이 가 을 를 에 의 도 로 와 과 만'.split(' ').join('|')})$`,
  'u',
);

/** Returns the English stem (M. Porter, 1980) of a folded word in basic Latin letters, a Korean word without its particle, any other unchanged. */
export function stemOfFolded(word: string): string {
  if (/^[a-z]+$/.test(word)) return stemmer(word);
  return /^\p{sc=Hangul}/u.test(word) ? word.normalize('NFC').replace(PARTICLES, '') : word;
}

/** Returns the overlapping pairs of characters of a run, each once: they match whatever surrounds a word. */
export function characterPairs(run: string): readonly string[] {
  const characters = [...run.normalize('NFKC').replace(INVISIBLE, '').replace(DIGIT, digitOf).toLowerCase()];
  if (characters.length < 2) return characters;
  const pairs = new Set<string>();
  for (let at = 0; at + 1 < characters.length; at += 1) pairs.add(`${characters[at]}${characters[at + 1]}`);
  return [...pairs];
}

/** Only the beginning of a longer text is read. */
const MAX_CHARS = 2_000_000;

/**
 * Returns the words of a text in order, in their plain form and with their signs, regardless of case, spacing and punctuation. Includes the
 * signs of comparison between two words.
 */
export function partsOf(text: string): readonly string[] {
  const parts: string[] = [];
  eachRun(text.slice(0, MAX_CHARS), (run, _, signed) => parts.push(signed?.form ?? foldWord(run)));
  return parts;
}

/** Returns the distinct words of a text, as `partsOf` does. A run of a script without spaces yields its pairs of characters. */
export const wordSet = (text: string): ReadonlySet<string> =>
  new Set(partsOf(text).flatMap((word) => (isUnspaced(word) ? characterPairs(word) : [word])));
