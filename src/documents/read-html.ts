import { Parser } from 'htmlparser2';
import type { Steps } from '../internal/async.ts';
import { BlockWriter, HeadingPath } from './block-writer.ts';
import { indentOf, joinLeadIns } from './blocks.ts';
import type { Block, BlockKind } from './document.ts';

const SKIPPED = new Set(['script', 'style', 'template', 'noscript', 'svg', 'nav', 'iframe', 'object', 'select']);
const INLINE = new Set(
  `a abbr acronym b bdi bdo big cite data del dfn em font i img ins kbd label mark q s samp small span strike strong sub
  sup time tt u var wbr input button code`.split(/\s+/),
);
const HEADING = /^h[1-6]$/;
/** The parser's cost is quadratic in the depth, so it starts again below this one. No real page is as deep. */
const MAX_DEPTH = 500;
const CHARS_PER_STEP = 16_000;

/**
 * Returns the blocks of HTML text, which may be malformed, in steps of 16,000 characters. Omits scripts, styles and navigation; collapses
 * white space. Headings form the heading path, with the page's title as fallback. Each list item and table row is a line.
 */
export function* readHtml(html: string): Steps<Block[]> {
  const reader = new HtmlReader(html);
  for (let from = 0; from < html.length; ) {
    from = yield* readNested(html, from, reader);
    reader.closeAll();
  }
  return reader.finish();
}

/** Reads from an index on. Returns the index after the first tag that is too deep, or the end. */
function* readNested(html: string, start: number, reader: HtmlReader): Steps<number> {
  let depth = 0;
  let end: number | null = null;
  const parser = new Parser(
    {
      onopentag: (name) => {
        reader.open(name, start + parser.startIndex);
        depth += 1;
        if (depth <= MAX_DEPTH) return;
        end = start + parser.endIndex + 1;
        parser.pause();
      },
      ontext: (text) => reader.text(text, start + parser.startIndex),
      onclosetag: (name) => {
        depth -= 1;
        reader.close(name, start + parser.startIndex);
      },
    },
    { decodeEntities: true, lowerCaseTags: true },
  );
  for (let at = start; at < html.length; at += CHARS_PER_STEP) {
    parser.write(html.slice(at, at + CHARS_PER_STEP));
    if (end !== null) return end;
    yield;
  }
  parser.end();
  return html.length;
}

class HtmlReader {
  readonly #blocks: Block[] = [];
  readonly #headings = new HeadingPath();
  readonly #lineAt: (index: number) => number;
  #writer = new BlockWriter();
  #kind: BlockKind = 'prose';
  #skipDepth = 0;
  #pre = 0;
  /** The tags of the cells in the open row. */
  #cells: string[] = [];
  #lists: { ordered: boolean; items: number }[] = [];
  /** The open heading or title, or null. */
  #title: { text: string; line: number } | null = null;
  #spaceDue = false;

  constructor(html: string) {
    this.#lineAt = lineCounter(html);
  }

  open(name: string, index: number): void {
    const line = this.#lineAt(index);
    if (SKIPPED.has(name)) this.#skipDepth += 1;
    if (this.#skipDepth > 0) return;
    if (name === 'title' || HEADING.test(name)) {
      if (this.#lists.length === 0) this.#flush();
      this.#title = { text: '', line };
    } else if (name === 'ul' || name === 'ol') {
      if (this.#lists.length === 0) this.#flush('list');
      this.#lists.push({ ordered: name === 'ol', items: 0 });
    } else if (name === 'li') this.#beginItem(line);
    else if (name === 'table' && this.#lists.length === 0) this.#flush('table');
    else if (name === 'tr' && this.#kind === 'table') this.#beginRow(line);
    else if ((name === 'td' || name === 'th') && this.#kind === 'table') this.#beginCell(name, line);
    else if (name === 'pre') {
      if (this.#kind === 'prose') this.#flush('code');
      this.#pre += 1;
    } else if (name === 'br') this.#spaceDue = true;
    else if (!INLINE.has(name)) this.#boundary();
  }

  text(text: string, index: number): void {
    if (this.#skipDepth > 0) return;
    if (this.#title !== null) this.#title.text += text;
    else if (this.#pre > 0 && this.#kind === 'code') this.#writer.write(text, this.#lineAt(index));
    else this.#writeFolded(text, this.#lineAt(index));
  }

  close(name: string, index: number): void {
    if (SKIPPED.has(name)) this.#skipDepth = Math.max(0, this.#skipDepth - 1);
    if (this.#skipDepth > 0) return;
    if (name === 'title' || HEADING.test(name)) this.#endTitle(name);
    else if (name === 'ul' || name === 'ol') {
      this.#lists.pop();
      if (this.#lists.length === 0 && this.#kind === 'list') this.#flush();
    } else if (name === 'tr' && this.#kind === 'table') this.#endRow(this.#lineAt(index));
    else if (name === 'table' && this.#kind === 'table') this.#flush();
    else if (name === 'pre') {
      this.#pre = Math.max(0, this.#pre - 1);
      if (this.#kind === 'code') this.#flush();
    } else if (!INLINE.has(name)) this.#boundary();
  }

  /** Closes all open elements. The text of an open heading becomes prose. */
  closeAll(): void {
    const title = this.#title;
    this.#title = null;
    if (title !== null) this.#writeFolded(title.text, title.line);
    this.#flush();
    this.#skipDepth = 0;
    this.#pre = 0;
    this.#lists = [];
  }

  finish(): Block[] {
    this.#flush();
    this.#blocks.push(...this.#headings.close());
    return joinLeadIns(this.#blocks);
  }

  #endTitle(name: string): void {
    const title = this.#title;
    this.#title = null;
    const text = title?.text.replace(/\s+/g, ' ').trim() ?? '';
    if (title === null || text === '') return;
    if (name === 'title') this.#headings.fallback = [text];
    else if (this.#lists.length > 0 || this.#kind === 'table') this.#writeFolded(text, title.line);
    else this.#blocks.push(...this.#headings.enter(Number(name.slice(1)), text, title.line));
  }

  #beginItem(line: number): void {
    const list = this.#lists.at(-1);
    if (list === undefined) {
      this.#boundary();
      return;
    }
    list.items += 1;
    this.#writer.breakLine(line);
    const marker = list.ordered ? `${list.items}. ` : '- ';
    this.#writer.writeWithin(`${indentOf(this.#lists.length - 1)}${marker}`, line);
    this.#spaceDue = false;
  }

  #beginRow(line: number): void {
    this.#writer.breakLine(line);
    this.#cells = [];
    this.#spaceDue = false;
  }

  #beginCell(name: string, line: number): void {
    this.#writer.writeWithin(this.#cells.length === 0 ? '| ' : ' | ', line);
    this.#cells.push(name);
    this.#spaceDue = false;
  }

  /** Closes the row. A row of header cells is followed by a delimiter row, as in Markdown. */
  #endRow(line: number): void {
    if (this.#cells.length === 0) return;
    this.#writer.writeWithin(' |', line);
    if (this.#cells.every((cell) => cell === 'th')) {
      this.#writer.breakLine(line);
      this.#writer.writeWithin(`|${' --- |'.repeat(this.#cells.length)}`, line);
    }
    this.#cells = [];
  }

  /** Handles the start or end of a block element: it ends prose, but not a line of a list or table. */
  #boundary(): void {
    if (this.#kind === 'prose') this.#flush();
    else this.#spaceDue = true;
  }

  /** Collapses white space to one space, but keeps track of the file's lines. */
  #writeFolded(text: string, line: number): void {
    for (const [at, part] of text.split('\n').entries()) {
      if (at > 0) this.#spaceDue = true;
      const folded = part.replace(/\s+/g, ' ');
      if (folded.trim() === '') {
        this.#spaceDue ||= folded !== '';
        continue;
      }
      const spaced = (this.#spaceDue || folded.startsWith(' ')) && !this.#writer.atSpace;
      const lead = spaced ? ' ' : '';
      this.#writer.writeWithin(lead + folded.trim(), line + at);
      this.#spaceDue = folded.endsWith(' ');
    }
  }

  #flush(next: BlockKind = 'prose'): void {
    const block = this.#writer.finish(this.#headings.current, this.#kind);
    if (block !== null) {
      this.#headings.use();
      this.#blocks.push(block);
    }
    this.#writer = new BlockWriter();
    this.#kind = next;
    this.#spaceDue = false;
    this.#cells = [];
  }
}

/** Returns a function from an index in the text to its line, counted from 1, by binary search. */
function lineCounter(text: string): (index: number) => number {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (index) => {
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= index) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  };
}
