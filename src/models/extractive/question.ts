import type { Message } from '../../../machines/contracts/message.ts';
import { eachStem, stemsOf, termWeights } from '../../../machines/text/terms.ts';
import { eachRun, isUnspaced, wordsOfRun } from '../../../machines/text/words.ts';
import { MAX_CHARS, withoutCode } from '../../documents/units.ts';
import { compoundsOf, otherSpelling, partsOfCompound } from '../../documents/word-forms.ts';
import type { Steps } from '../../internal/async.ts';

/** A message, or a passage as one. */
export type Text = Pick<Message, 'id' | 'role' | 'content' | 'source'>;

/** The words of a question that say what it is about. A set of them is a number with a bit for each. */
export interface Query {
  readonly all: number;
  readonly count: number;
  readonly wordsIn: (text: string) => number;
  /** Returns the weight of a set of words relative to the whole question, 0..1: the rarer a word, the more it weighs. */
  readonly share: (set: number) => number;
  readonly written: (set: number) => string[];
  /** The words in each text without its code blocks, in order. */
  readonly inTexts: readonly number[];
}

/**
 * Words that questions and greetings are made of, besides English stop words. A question in a language other than English, German and
 * Chinese has more words that an answer must contain, so its answers get a lower confidence.
 */
const ASKING: ReadonlySet<string> = new Set(
  `please tell show explain describe give list compare difference versus vs hi hello hey thanks thank ok okay yes mean means happens happen
  need needs use der die das den dem des ein eine einen einem einer eines und oder von vom zu zum zur im am auf aus bei mit für nach über um
  ist sind war waren sein wird werden wurde wurden hat haben hatte kann können darf dürfen muss müssen soll sollen ich du er sie es wir ihr man
  mein meine meinen mir mich wer wen wem wo wohin woher wann warum wie viel viele lang lange oft welche welcher welches welchen gibt bitte danke
  hallo heißt bedeutet nicht unterschied zwischen als auch 的 了 是 在 有 吗 呢 吧 我 你 您 请 请问 可以 能 要 需要 多少 几 几点 什么 哪 哪里 哪些
  哪个 谁 怎么 怎样 如何 为什么 多 多久 多长 时间 时候 你好 谢谢 个 和 与 到 从 里 中`.match(/\S+/g),
);

export function* questionOf(request: string, texts: readonly Pick<Text, 'content'>[]): Steps<Query> {
  const asked = wordsOf(plainDigits(request)).filter((word) => !ASKING.has(word.toLowerCase()));
  const contents = texts.map(({ content }) => content.slice(0, MAX_CHARS));
  const words = withoutSpellings(termsIn(request), contents).slice(0, 30);
  const bits = new Map(words.map(([stem], at) => [stem, 1 << at]));
  const unspaced = [...bits].filter(([word]) => isUnspaced(word));
  const patterns = unspaced.map(([word, bit]) => ({ pattern: unspacedPattern(word), bit }));
  const numbers = numberedNames(asked.slice(0, 30), contents.map(plainDigits)).map(({ number, pattern }) => {
    return { pattern, mask: stemsOf(number).reduce((set, stem) => set | (bits.get(stem) ?? 0), 0) };
  });
  const known = new Set<string>();
  for (const content of contents) {
    for (const stem of stemsOf(content)) known.add(stem);
    yield;
  }
  const { forms, divided } = formsOf(words, known);
  const wordsIn = (text: string): number => {
    const stems = new Set<string>();
    let found = 0;
    eachStem(text, (stem, word) => {
      stems.add(stem);
      found |= forms.get(stem) ?? forms.get(otherSpelling(word, stem) ?? stem) ?? 0;
    });
    for (const { parts, bit } of divided) if (parts.every((part) => stems.has(part))) found |= bit;
    const all = patterns.reduce((set, { pattern, bit }) => (pattern.test(text) ? set | bit : set), found);
    return numbers.reduce((set, { pattern, mask }) => (pattern.test(plainDigits(text)) ? set : set & ~mask), all);
  };
  const inTexts: number[] = [];
  for (const { content } of texts) {
    inTexts.push(wordsIn(withoutCode(content.slice(0, MAX_CHARS))));
    yield;
  }
  const weight = termWeights(texts.length, (at) => inTexts.filter((set) => set & (1 << Number(at))).length);
  const weights = words.map((_, at) => weight(String(at)));
  const weightOf = (set: number): number => weights.reduce((sum, one, at) => sum + (set & (1 << at) ? one : 0), 0);
  const all = 2 ** words.length - 1;
  const share = (set: number): number => (all === 0 ? 0 : weightOf(set) / weightOf(all));
  const wordAt = (set: number): string[] => words.flatMap(([, word], at) => (set & (1 << at) ? [word] : []));
  const written = (set: number): string[] => [...new Set(wordAt(set))];
  return { all, count: written(all).length, wordsIn, share, written, inTexts };
}

/**
 * Returns `forms`, the question's words (as bits) that a stem in a text stands for: a word itself, its other spelling, or a compound of two;
 * and `divided`, the compounds in the question that a text may write as two words.
 */
function formsOf(words: readonly Term[], known: ReadonlySet<string>) {
  const stems = words.map(([stem]) => (isUnspaced(stem) ? '' : stem));
  const exists = (stem: string): boolean => known.has(stem);
  const forms = new Map<string, number>();
  for (const [compound, first, last] of compoundsOf(stems, exists))
    forms.set(compound, (forms.get(compound) ?? 0) | (1 << first) | (1 << last));
  for (const [at, [stem, word]] of words.entries())
    for (const form of [otherSpelling(word, stem) ?? stem, stem]) if (stems[at] !== '') forms.set(form, 1 << at);
  const divided = stems.flatMap((stem, at) => partsOfCompound(stem, exists).map((parts) => ({ parts, bit: 1 << at })));
  return { forms, divided };
}

/** Returns the text with full-width digits replaced by ASCII digits: "１２" becomes "12". */
const plainDigits = (text: string): string => text.replace(/[０-９]/g, (digit) => digit.normalize('NFKC'));

/** Digits and Chinese numerals. */
const NUMERAL = String.raw`[\p{N}零〇一二三四五六七八九十百千万两]`;
/** The start of a word that continues after its number, which may be ordinal. */
const COUNTS = new RegExp(`^第?${NUMERAL}*$`, 'u');

/** A stem, or a word of a script without spaces, and the word as the question writes it. */
type Term = readonly [stem: string, word: string];

/** Returns the terms of a question that say what it is about, each once, in order. */
function termsIn(request: string): readonly Term[] {
  const terms = new Map<string, string>();
  const add = (stem: string, word: string): void => {
    if (!ASKING.has(word.toLowerCase())) terms.set(stem, word);
  };
  const text = request.slice(0, MAX_CHARS);
  eachStem(text, (stem, run) => {
    if (!isUnspaced(run)) add(stem, SIGN.test(stem) ? withSigns(run, stem) : run);
  });
  for (const word of wordsOf(text)) if (isUnspaced(word)) add(word, word);
  return [...terms];
}

const SIGN = /[^\p{L}\p{M}\p{N}.,]/u;
/** A word with signs in the case of its letters: "C#". */
function withSigns(run: string, form: string): string {
  const at = form.indexOf(run.toLowerCase());
  return at === -1 ? form : form.slice(0, at) + run + form.slice(at + run.length);
}

const BETWEEN_PARTS = /(?<=[\p{L}\p{N}])[^\p{L}\p{N}]+(?=[\p{L}\p{N}])/gu;

/** Leaves out words joined by signs ("X-100") that no text has with any sign: the texts write their parts ("X 100"). */
function withoutSpellings(terms: readonly Term[], texts: readonly string[]): readonly Term[] {
  const isJoined = ([stem]: Term): boolean => SIGN.test(stem) && stem.search(BETWEEN_PARTS) !== -1;
  if (!terms.some(isJoined)) return terms;
  const parts = (stem: string): string => stem.split(BETWEEN_PARTS).sort().join(' ');
  const written = new Set(
    texts
      .flatMap(stemsOf)
      .filter((stem) => SIGN.test(stem))
      .map(parts),
  );
  return terms.filter((term) => !isJoined(term) || written.has(parts(term[0])));
}

/** Returns the words of a text, in order; a number and the next word of a script without spaces are one word: "3号", "第三章". */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  eachRun(text.slice(0, MAX_CHARS), (run) => {
    for (const [at, word] of wordsOfRun(run).entries()) {
      const last = words.at(-1);
      if (at > 0 && last !== undefined && isUnspaced(word) && COUNTS.test(last)) words[words.length - 1] += word;
      else words.push(word);
    }
  });
  return words;
}

/** Returns the pattern of a text that contains a word of a script without spaces; "三号" is not in "十三号". */
const unspacedPattern = (word: string): RegExp => new RegExp(`(?<!${NUMERAL}(?=${NUMERAL}))${word}`, 'u');

const BETWEEN = String.raw`[^\p{L}\p{N}\n|]{1,3}`;
/** What may be between a word and its number: "lines 1, 2 and 3", "version no. 4". */
const LISTED = String.raw`(?:(?:\d+|and|or|und|oder|to|bis|version|no|nr)${BETWEEN}){0,8}`;

/** A number that names something, like 3 in "line 3", and the pattern of a text that has the name, or the number alone in a cell or entry. */
interface NumberedName {
  readonly number: string;
  readonly pattern: RegExp;
}

/**
 * Returns the numbers among the words of a question that are part of a name, because they come after a word that the texts number as well.
 * A text about "Line 2" that has a 3 somewhere is not about "line 3".
 */
function numberedNames(words: readonly string[], texts: readonly string[]): NumberedName[] {
  return words.flatMap((number, at) => {
    const word = (words[at - 1] ?? '').replace(/s$/u, '').replace(/[^\p{L}\p{N}]/gu, '.');
    if (!/^\d[\d.,]*$/u.test(number) || !/^\p{L}/u.test(word) || stemsOf(word).length === 0) return [];
    const named = String.raw`(?<![\p{L}\p{N}])${word}\p{L}{0,2}${BETWEEN}`;
    const numbered = new RegExp(String.raw`${named}\d`, 'iu');
    if (!texts.some((text) => numbered.test(text))) return [];
    const exact = String.raw`${number.replaceAll('.', '\\.')}(?![\p{L}\p{N}]|[.,:]\d)`;
    const alone = String.raw`(?:^|[|\n])[\s*#-]{0,6}${exact}\s{0,3}(?:[|:]|$)`;
    return [{ number, pattern: new RegExp(`${named}${LISTED}${exact}|${alone}`, 'iu') }];
  });
}
