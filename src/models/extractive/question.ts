import type { Message } from '../../../machines/contracts/message.ts';
import { numberedNames, unspacedPattern, wordsOf } from '../../../machines/text/numbered-words.ts';
import { stemsOf, termWeights } from '../../../machines/text/terms.ts';
import { isUnspaced } from '../../../machines/text/words.ts';
import { MAX_CHARS, withoutCode } from '../../documents/units.ts';
import type { Steps } from '../../internal/async.ts';

/** A message, or a passage as one. */
export type Text = Pick<Message, 'id' | 'role' | 'content'>;

/** The words of a question that say what it is about. A set of them is a number with a bit for each. */
export interface Question {
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
  mein meine meinen mir mich wer wen wem wo wohin woher wann warum wie viel viele lange oft welche welcher welches welchen gibt bitte danke
  hallo heißt bedeutet nicht unterschied zwischen als auch 的 了 是 在 有 吗 呢 吧 我 你 您 请 请问 可以 能 要 需要 多少 几 几点 什么 哪 哪里 哪些
  哪个 谁 怎么 怎样 如何 为什么 多 多久 多长 时间 时候 你好 谢谢 个 和 与 到 从 里 中`.match(/\S+/g),
);

export function* questionOf(request: string, texts: readonly Pick<Text, 'content'>[]): Steps<Question> {
  const asked = wordsOf(request).filter((word) => !ASKING.has(word.toLowerCase()));
  const stemmed = asked.flatMap((word): [string, string][] =>
    isUnspaced(word) ? [[word, word]] : stemsOf(word.toLowerCase()).map((stem) => [stem, word]),
  );
  const words = [...new Map(stemmed)].slice(0, 30);
  const bits = new Map(words.map(([stem], at) => [stem, 1 << at]));
  const unspaced = [...bits].filter(([word]) => isUnspaced(word));
  const patterns = unspaced.map(([word, bit]) => ({ pattern: unspacedPattern(word), bit }));
  const contents = texts.map(({ content }) => content.slice(0, MAX_CHARS));
  const numbers = numberedNames(asked.slice(0, 30), contents).map(({ number, pattern }) => {
    return { pattern, mask: stemsOf(number).reduce((set, stem) => set | (bits.get(stem) ?? 0), 0) };
  });
  const wordsIn = (text: string): number => {
    const found = stemsOf(text).reduce((set, stem) => set | (isUnspaced(stem) ? 0 : (bits.get(stem) ?? 0)), 0);
    const all = patterns.reduce((set, { pattern, bit }) => (pattern.test(text) ? set | bit : set), found);
    return numbers.reduce((set, { pattern, mask }) => (pattern.test(text) ? set : set & ~mask), all);
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
