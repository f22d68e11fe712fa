/** Escapes a text for a regular expression. */
const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/gu, '\\$&');

/** How families of models mark their reasoning if the server leaves it in the text: patterns of the beginning and the end. */
const FAMILIES: readonly (readonly [begin: string, end: string])[] = [
  ...['think', 'thinking', 'thought', 'reasoning', 'mm:think', 'seed:think', 'longcat_think'].map(
    (tag) => [`<${tag}>`, `</${tag}>`] as const,
  ),
  ...[
    ['[THINK]', '[/THINK]'],
    ['◁think▷', '◁/think▷'],
    ['<|START_THINKING|>', '<|END_THINKING|>'],
    ['<|begin_of_thought|>', '<|end_of_thought|>'],
    ['<|channel>thought', '<channel|>'],
  ].map(([begin = '', end = '']) => [literal(begin), literal(end)] as const),
  // The channels of gpt-oss, with and without special tokens.
  [
    String.raw`<\|channel\|>analysis`,
    String.raw`<\|channel\|>final[^<]{0,16}(?:<\|constrain\|>[^<]{0,16})?<\|message\|>|assistantfinal`,
  ],
];

const MARK = new RegExp(FAMILIES.map(([begin, end]) => `(${begin})|(${end})`).join('|'), 'giu');

/** No mark is longer. */
const MAX_MARK_CHARS = 80;

/** A mark in a text, and the number of the family that it belongs to. */
export interface ThoughtMark {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  readonly family: number;
  readonly isEnd: boolean;
}

/** Finds the marks of reasoning in a text that arrives in chunks. */
export class ThoughtMarks {
  #before = 0;
  /** The last characters, which may be the beginning of a mark. */
  #tail = '';

  /** Returns the marks that end in the next chunk. Their positions are those in the whole text. */
  in(chunk: string): readonly ThoughtMark[] {
    const text = this.#tail + chunk;
    const offset = this.#before - this.#tail.length;
    const marks: ThoughtMark[] = [];
    let end = 0;
    for (const match of text.matchAll(MARK)) {
      const { index } = match;
      end = index + match[0].length;
      const group = match.findIndex((one, at) => at > 0 && one !== undefined) - 1;
      marks.push({ from: offset + index, to: offset + end, family: group >> 1, isEnd: group % 2 === 1 });
    }
    this.#before += chunk.length;
    this.#tail = text.slice(Math.max(end, text.length - MAX_MARK_CHARS));
    return marks;
  }
}

/**
 * Returns a text without reasoning: without what is between two marks, and without what precedes the mark of an end alone, because
 * several chat templates put the beginning into the prompt. A beginning without an end counts only at the start of the text.
 */
export function withoutThought(text: string): string {
  let kept = '';
  let from = 0;
  let begun: ThoughtMark | null = null;
  for (const mark of new ThoughtMarks().in(text)) {
    if (!mark.isEnd) begun ??= mark;
    else if (begun === null || begun.family === mark.family) {
      kept = begun === null ? '' : kept + text.slice(from, begun.from);
      from = mark.to;
      begun = null;
    }
  }
  const isOpen = begun !== null && (kept + text.slice(from, begun.from)).trim() === '';
  return isOpen ? '' : kept + text.slice(from);
}
