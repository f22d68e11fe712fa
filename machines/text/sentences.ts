/** A trimmed sentence: `text === whole.slice(start, end)`, in UTF-16 units. */
interface Sentence {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Created on first use: the first segmenter of a process takes about 10 ms. */
let segmenter: Intl.Segmenter | undefined;
const ABBREVIATION =
  /(?:^|[\s("'])(?:(?:\p{Lu}\.)*\p{Lu}|e\.g|i\.e|cf|vs|Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|Gen|Col|Sen|Rep|No|Nos|Fig|Figs|Eq|Sec|Ch|Vol|pp|approx|ca|Inc|Ltd|Co|Corp|al)\.\s*$/u;
const SENTENCE_END = /[.!?…。！？]["'”’)\]]*\s*$/;
/** The segmenter's time grows with the square of its input, so it gets at most this many characters at once. */
const WINDOW_CHARS = 2_000;

/**
 * Splits a text into sentences (Unicode UAX 29 by Intl.Segmenter, rejoined after English abbreviations and initials). A
 * line break ends a sentence: join hard-wrapped lines first. Linear in the text.
 */
export function sentencesOf(text: string): Sentence[] {
  const sentences: Sentence[] = [];
  let offset = 0;
  for (const line of text.split('\n')) {
    addLine(line, offset, sentences);
    offset += line.length + 1;
  }
  return sentences;
}

function addLine(line: string, offset: number, sentences: Sentence[]): void {
  let start = 0;
  for (let from = 0; from < line.length; ) {
    const to = windowEnd(line, from);
    segmenter ??= new Intl.Segmenter('en', { granularity: 'sentence' });
    let end = from;
    for (const { segment } of segmenter.segment(line.slice(from, to))) {
      end += segment.length;
      const cutOff = end === to && to < line.length && !SENTENCE_END.test(segment);
      if (!(cutOff && end - start < WINDOW_CHARS) && !continues(line, start, end)) {
        push(line, start, end, offset, sentences);
        start = end;
      }
    }
    from = to;
  }
  push(line, start, line.length, offset, sentences);
}

/** Whether the sentence continues after `end`, although the segmenter ended it there. */
function continues(line: string, start: number, end: number): boolean {
  if (end >= line.length || end - start >= WINDOW_CHARS) return false;
  const isName = /(?:^|\s)\.$/.test(line.slice(Math.max(0, end - 2), end)) && /[\p{L}\p{N}]/u.test(line.charAt(end));
  return isName || ABBREVIATION.test(line.slice(Math.max(start, end - 16), end)) || /\p{Ll}/u.test(line.charAt(end));
}

/** Returns the end of the next window, preferably at a space and never within a surrogate pair. */
function windowEnd(line: string, from: number): number {
  const most = from + WINDOW_CHARS;
  if (most >= line.length) return line.length;
  const space = line.lastIndexOf(' ', most);
  if (space > from + WINDOW_CHARS / 2) return space + 1;
  return /[\uD800-\uDBFF]/.test(line.charAt(most - 1)) ? most - 1 : most;
}

function push(line: string, start: number, end: number, offset: number, sentences: Sentence[]): void {
  const text = line.slice(start, end);
  const trimmed = text.trim();
  if (trimmed === '') return;
  const first = offset + start + (text.length - text.trimStart().length);
  sentences.push({ text: trimmed, start: first, end: first + trimmed.length });
}
