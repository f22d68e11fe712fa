import { GrowingText } from './part-source.ts';

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
 * A growing text without its reasoning and without blanks at its start. Removes the text between two marks, and the text before an end mark
 * without a start mark, because several chat templates put the start mark into the prompt. A start mark without an end mark counts only at
 * the start of the text. Each character is read once.
 */
export class TextWithoutThought {
  readonly #marks = new ThoughtMarks();
  #kept = new GrowingText();
  /** Reasoning whose end has not arrived, with its mark. */
  #thought: { readonly family: number; readonly text: GrowingText } | null = null;
  /** The last characters, which may be the beginning of a mark. */
  #rest = '';
  #chars = 0;

  add(chunk: string): void {
    this.#chars += chunk.length;
    this.#rest += chunk;
    for (const { from, to, family, isEnd } of this.#marks.in(chunk)) {
      const start = this.#chars - this.#rest.length;
      if (!isEnd && this.#thought === null) {
        this.#keep(from - start);
        this.#thought = { family, text: new GrowingText() };
      } else if (isEnd && (this.#thought === null || this.#thought.family === family)) {
        if (this.#thought === null) this.#kept = new GrowingText();
        this.#thought = null;
        this.#rest = this.#rest.slice(to - start);
      }
    }
    this.#keep(this.#rest.length - MAX_MARK_CHARS);
  }

  get text(): string {
    const kept = this.#kept.text;
    if (this.#thought === null) return kept === '' ? this.#rest.trimStart() : kept + this.#rest;
    return kept === '' ? '' : kept + this.#thought.text.text + this.#rest;
  }

  #keep(count: number): void {
    if (count <= 0) return;
    const piece = this.#rest.slice(0, count);
    this.#rest = this.#rest.slice(count);
    if (this.#thought !== null) this.#thought.text.add(piece);
    else this.#kept.add(this.#kept.text === '' ? piece.trimStart() : piece);
  }
}

export function withoutThought(text: string): string {
  const reply = new TextWithoutThought();
  reply.add(text);
  return reply.text;
}
