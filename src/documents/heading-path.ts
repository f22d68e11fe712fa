import type { Block } from './document.ts';

/** The headings above the place that a reader has come to. Also gives a block to a heading that stands over nothing. */
export class HeadingPath {
  readonly #open: { depth: number; title: string; line: number; used: boolean }[] = [];
  /** Shown where no heading is open, e.g. a page's title. */
  fallback: readonly string[] = [];

  get current(): readonly string[] {
    return this.#open.length === 0 ? this.fallback : this.#open.map(({ title }) => title);
  }

  /** Marks the headings above as having something under them. */
  use(): void {
    for (const heading of this.#open) heading.used = true;
  }

  /** Opens a heading; gives the blocks of those headings that it closes and that had nothing under them. */
  enter(depth: number, title: string, line: number): Block[] {
    const empty = this.close(depth);
    this.use();
    if (title !== '') this.#open.push({ depth, title, line, used: false });
    return empty;
  }

  /** Closes all headings of this depth or deeper (all of them by default). */
  close(depth = 0): Block[] {
    const blocks: Block[] = [];
    while (this.#open.length > 0 && (this.#open.at(-1)?.depth ?? 0) >= depth) {
      const last = this.#open.pop();
      if (last === undefined || last.used) continue;
      const { title: text, line } = last;
      blocks.push({ text, heading: this.current, startLine: line, endLine: line, kind: 'prose', lines: [line] });
    }
    return blocks;
  }
}
