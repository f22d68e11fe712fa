import type { Block, BlockKind } from './document.ts';

/** Collects the text of one block and, for each line of text, the line of the file that it comes from. */
export class BlockWriter {
  readonly #texts: string[] = [];
  readonly #lines: number[] = [];

  /** Writes text that starts in `line` of the file. Each line break in the text is one in the file. */
  write(text: string, line: number): void {
    this.#write(text, line, 1);
  }

  /** Writes text that is entirely in `line` of the file, even if it has line breaks. */
  writeWithin(text: string, line: number): void {
    this.#write(text, line, 0);
  }

  /** Starts a new line of text in `line` of the file, which may be the same line as that of the previous text. */
  breakLine(line: number): void {
    if (this.#texts.length > 0 && this.#texts.at(-1) !== '') this.#open(line);
  }

  /** Whether more text can follow without a space. */
  get atSpace(): boolean {
    return /(?:^|\s)$/.test(this.#texts.at(-1) ?? '');
  }

  /** Returns the block, or null if it is blank. Omits blank lines (within code, only leading and trailing ones) and trailing spaces. */
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

/** A longer title is read as text, because a heading is repeated with each of its passages. */
export const MAX_TITLE_CHARS = 300;

/** Tracks the headings above a reader's position. Returns a block for each heading without content, and for a title that is too long. */
export class HeadingPath {
  readonly #open: { depth: number; title: string; line: number; used: boolean }[] = [];
  /** Used if no heading is open, for example a page's title. */
  fallback: readonly string[] = [];

  get current(): readonly string[] {
    return this.#open.length === 0 ? this.fallback : this.#open.map(({ title }) => title);
  }

  /** Marks the open headings as having content. */
  use(): void {
    for (const heading of this.#open) heading.used = true;
  }

  /** Opens a heading. Returns blocks for the headings that it closes and that had no content. */
  enter(depth: number, title: string, line: number): Block[] {
    const empty = this.close(depth);
    this.use();
    if (title.length > MAX_TITLE_CHARS) return [...empty, titleBlock(title, line, this.current)];
    if (title !== '') this.#open.push({ depth, title, line, used: false });
    return empty;
  }

  /** Closes the headings of this depth or deeper; all of them by default. Returns blocks for those without content. */
  close(depth = 0): Block[] {
    const blocks: Block[] = [];
    while (this.#open.length > 0 && (this.#open.at(-1)?.depth ?? 0) >= depth) {
      const last = this.#open.pop();
      if (last === undefined || last.used) continue;
      blocks.push(titleBlock(last.title, last.line, this.current));
    }
    return blocks;
  }
}

function titleBlock(text: string, line: number, heading: readonly string[]): Block {
  return { text, heading, startLine: line, endLine: line, kind: 'prose', lines: [line] };
}
