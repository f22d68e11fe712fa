import { unwrapped } from './divided-words.ts';
import type { Line } from './lines.ts';

/**
 * Collects the text of a paragraph, title or cell: white space becomes one space, or a new line where the file has one. It never reads
 * what it has collected, so it takes linear time.
 */
export class InlineText {
  readonly lines: { text: string; line: number }[] = [];
  /** The last character, before any space. */
  end = '';
  #spaceDue = false;
  #breakDue = false;
  /** Marks that are written before the next text. */
  #marks = '';

  /** Adds text. Its line breaks are those of the file, up to `lastLine`. */
  add(text: string, line: number, lastLine = Number.POSITIVE_INFINITY): void {
    for (const [at, part] of text.split('\n').entries()) {
      if (at > 0) this.space();
      const words = part.trim();
      if (words !== '') {
        if (/^\s/.test(part)) this.space();
        this.#write(words.replace(/\s+/g, ' '), Math.min(line + at, lastLine));
      }
      if (part !== part.trimEnd()) this.space();
    }
  }

  /** Adds the text of an image, which no word runs into. */
  addApart(text: string, line: number): void {
    if (text.trim() !== '') this.add(` ${text} `, line);
  }

  #write(words: string, line: number): void {
    const last = this.lines.at(-1);
    const text = this.#marks + words;
    if (last === undefined || (this.#spaceDue && line > last.line)) this.lines.push({ text, line });
    else if (this.#breakDue) last.text = unwrapped([last.text, text]);
    else last.text += (this.#spaceDue ? ' ' : '') + text;
    this.#spaceDue = false;
    this.#breakDue = false;
    this.#marks = '';
    this.end = text.slice(-1);
  }

  space(): void {
    this.#spaceDue = this.lines.length > 0;
  }

  /** Ends a line within a line of the file. */
  break(): void {
    this.space();
    this.#breakDue = this.#spaceDue;
  }

  open(mark: string): void {
    this.#marks += mark;
  }

  /** Closes an open mark; one without text disappears. */
  close(mark: string): void {
    const last = this.lines.at(-1);
    if (this.#marks.endsWith(mark)) this.#marks = this.#marks.slice(0, -mark.length);
    else if (last !== undefined) last.text += mark;
  }

  /** The text on one line. */
  get line(): string {
    return unwrapped(this.lines.map(({ text }: Line) => text));
  }
}
