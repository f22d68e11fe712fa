import type { Message } from '../../../machines/contracts/message.ts';
import { stemsOf, termWeights } from '../../../machines/text/terms.ts';
import { isTableRow, LIST_ITEM } from '../../documents/blocks.ts';
import { withoutCode } from '../../documents/units.ts';
import type { Steps } from '../../internal/async.ts';

/** A message, or a passage as one. */
export type Text = Pick<Message, 'id' | 'role' | 'content'>;

const MAX_CHARS = 20_000;

/** Splits a search result. A first line that is not a sentence, list item, table row or fence has the path of headings. */
export function splitHeadings(content: string): { headings: string; body: string } {
  const [, mark, first = '', body = ''] = /^(#+ +)?(.*)\n([\s\S]*)$/.exec(content.slice(0, MAX_CHARS)) ?? [];
  const isText = LIST_ITEM.test(first) || isTableRow(first) || /^\s*$|^\s*```|[.:;,…。：；]["'”’)]*$/.test(first);
  const isHeading = mark !== undefined || first.includes(' > ') || !isText;
  return isHeading && body.trim() !== '' && first.length <= 240
    ? { headings: first, body }
    : { headings: '', body: content.slice(0, MAX_CHARS) };
}

/** The words of a question that say what it is about. A set of them is a number with a bit for each. */
export interface Question {
  readonly all: number;
  /** The number of words. */
  readonly count: number;
  /** Returns the words that a text contains. */
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
  mein meine meinen mir mich wer wen wem wo wohin woher wann warum wie viel viele lange oft welche welcher welches welchen gibt bitte danke
  hallo heißt bedeutet nicht unterschied zwischen als auch 的 了 是 在 有 吗 呢 吧 我 你 您 请 请问 可以 能 要 需要 多少 几 几点 什么 哪 哪里 哪些
  哪个 谁 怎么 怎样 如何 为什么 多 多久 多长 时间 时候 你好 谢谢 个 和 与 到 从 里 中`.match(/\S+/g),
);
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
const segmenter = new Intl.Segmenter('und', { granularity: 'word' });

/** Returns the words of a text, in order; a number and the next character of a script without spaces are one word. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const { segment, isWordLike, index } of segmenter.segment(text.slice(0, MAX_CHARS))) {
    if (isWordLike && UNSPACED.test(segment) && /\d/.test(text.charAt(index - 1))) words[words.length - 1] += segment;
    else if (isWordLike) words.push(segment);
  }
  return words;
}

/** Returns the question of a request, in a step per text. */
export function* questionOf(request: string, texts: readonly Pick<Text, 'content'>[]): Steps<Question> {
  const asked = wordsOf(request).filter((word) => !ASKING.has(word.toLowerCase()));
  const stemmed = asked.flatMap((word): [string, string][] =>
    UNSPACED.test(word) ? [[word, word]] : stemsOf(word.toLowerCase()).map((stem) => [stem, word]),
  );
  const words = [...new Map(stemmed)].slice(0, 30);
  const bits = new Map(words.map(([stem], at) => [stem, 1 << at]));
  // A text in a script without spaces contains a word or not; "3号" is not in "13号".
  const unspaced = [...bits].filter(([word]) => UNSPACED.test(word));
  const patterns = unspaced.map(([word, bit]) => ({ pattern: new RegExp(`(?<!\\p{N}(?=\\p{N}))${word}`, 'u'), bit }));
  const wordsIn = (text: string): number => {
    const found = stemsOf(text).reduce((set, stem) => set | (UNSPACED.test(stem) ? 0 : (bits.get(stem) ?? 0)), 0);
    return patterns.reduce((set, { pattern, bit }) => (pattern.test(text) ? set | bit : set), found);
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
  const written = (set: number): string[] => [
    ...new Set(words.filter((_, at) => set & (1 << at)).map(([, word]) => word)),
  ];
  return { all, count: written(all).length, wordsIn, share, written, inTexts };
}
