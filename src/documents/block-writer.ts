import type { Block, BlockKind } from './document.ts';

/** Collects the text of one block while it keeps, for every line of text, the line of the file that it came from. */
export class BlockWriter {
  readonly #texts: string[] = [];
  readonly #lines: number[] = [];

  /** Writes text that begins in `line` of the file; every line break in the text is one in the file. */
  write(text: string, line: number): void {
    this.#write(text, line, 1);
  }

  /** Writes text that stands in `line` of the file as a whole, whatever line breaks it has. */
  writeWithin(text: string, line: number): void {
    this.#write(text, line, 0);
  }

  /** Begins a new line of text in `line` of the file, though that line may hold the one before it, too. */
  breakLine(line: number): void {
    if (this.#texts.length > 0 && this.#texts.at(-1) !== '') this.#open(line);
  }

  /** Whether more text can follow without a space between. */
  get atSpace(): boolean {
    return /(?:^|\s)$/.test(this.#texts.at(-1) ?? '');
  }

  /** The block of what was written, or null if that is blank. Blank lines and spaces at line ends are left out. */
  finish(heading: readonly string[], kind: BlockKind): Block | null {
    const kept = this.#texts.map((text) => text.trimEnd());
    const texts: string[] = [];
    const lines: number[] = [];
    for (const [at, text] of kept.entries()) {
      if (text.trim() === '' && (kind !== 'code' || texts.length === 0)) continue;
      texts.push(text);
      lines.push(this.#lines[at] ?? 1);
    }
    while (texts.at(-1) === '') {
      texts.pop();
      lines.pop();
    }
    const [startLine, endLine] = [lines[0], lines.at(-1)];
    if (startLine === undefined || endLine === undefined) return null;
    return { text: texts.join('\n'), heading, startLine, endLine, kind, lines };
  }

  #write(text: string, line: number, linesPerBreak: 0 | 1): void {
    for (const [at, part] of text.split('\n').entries()) {
      const here = Math.max(line + at * linesPerBreak, this.#lines.at(-1) ?? 1);
      if (at > 0 || this.#lines.at(-1) !== here) this.#open(here);
      this.#texts[this.#texts.length - 1] += part;
    }
  }

  #open(line: number): void {
    this.#texts.push('');
    this.#lines.push(Math.max(line, this.#lines.at(-1) ?? 1));
  }
}
