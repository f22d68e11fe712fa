import { clipped } from '../../machines/text/clip.ts';
import { fenced, joinLeadIns, LIST_ITEM } from './blocks.ts';
import { unwrapped } from './divided-words.ts';
import type { Block } from './document.ts';
import { blockOf, type Line } from './lines.ts';

export interface Cell {
  readonly text: string;
  readonly columns: number;
  readonly rows: number;
}

export interface TableRow {
  readonly line: number;
  /** Cells do not extend from one section of a table into the next. */
  readonly section: number;
  readonly isHeader: boolean;
  readonly cells: readonly Cell[];
}

/** A place in the grid. A cell that spans several places has its text in the first one and those below it. */
interface Place {
  readonly text: string;
  readonly origin: string;
  readonly isFirst: boolean;
}

const MAX_COLUMNS = 100;

const MAX_REPEATED_CHARS = 100;

/**
 * Returns the rows of a table as in Markdown, with bars in cells escaped, and with one header and a delimiter row if there are header
 * rows. The text of a cell that takes several rows is in each; a cell that takes several columns is followed by empty cells.
 */
function tableLines(rows: readonly TableRow[]): Line[] {
  const grid = gridOf(rows);
  const used = grid.reduce((most, places) => Math.max(most, places.findLastIndex(({ isFirst }) => isFirst) + 1), 0);
  const headers = rows.findIndex(({ isHeader }) => !isHeader);
  // If all cells are header cells, the first row is the header.
  const heads = grid.slice(0, headers === -1 ? 1 : headers);
  const body = grid.slice(heads.length).map((places, at) => {
    const cells = places.slice(0, used).map((place) => place.text);
    return { text: rowOf(cells), line: rows[heads.length + at]?.line ?? 1 };
  });
  if (heads.length === 0) return body;
  const columns = Array.from({ length: used }, (_, at) => headerAt(heads, at));
  const line = rows[heads.length - 1]?.line ?? 1;
  return [{ text: rowOf(columns), line }, { text: `|${' --- |'.repeat(used)}`, line }, ...body];
}

/** Several header rows become one: "2025" above "Q1" and "Q2" becomes "2025 Q1" and "2025 Q2". */
function headerAt(heads: readonly (readonly Place[])[], column: number): string {
  if (heads.length === 1) return heads[0]?.[column]?.text ?? '';
  return [...new Set(heads.map((places) => places[column]?.origin ?? ''))].join(' ').trim();
}

const rowOf = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** A small table can span millions of places, so the places may take only about as many characters as the cells, plus these. */
const SPARE_CHARS = 10_000;

function gridOf(rows: readonly TableRow[]): (readonly Place[])[] {
  let spare =
    SPARE_CHARS + rows.reduce((sum, { cells }) => cells.reduce((all, { text }) => all + 8 + text.length, sum), 0);
  let below: { left: number; place: Place }[] = [];
  let section = -1;
  return rows.map((row) => {
    if (row.section !== section) below = [];
    section = row.section;
    const places: Place[] = [];
    const next: typeof below = [];
    const carry = (): void => {
      for (let from = below[places.length]; from !== undefined && spare > 0; from = below[places.length]) {
        const { left, place } = from;
        spare -= place.text.length + 3;
        if (left > 1) next[places.length] = { left: left - 1, place };
        places.push(place);
      }
    };
    for (const { text, columns, rows: down } of row.cells) {
      carry();
      const origin = text.replace(/\\?\|/g, '\\|');
      for (let at = 0; at === 0 || (at < columns && places.length < MAX_COLUMNS && spare > 0); at += 1) {
        if (at > 0) spare -= 3;
        const short = clipped(origin, MAX_REPEATED_CHARS);
        const repeated = { text: at === 0 ? short : '', origin: short, isFirst: false };
        if (down > 1) next[places.length] = { left: down - 1, place: repeated };
        places.push({ ...repeated, text: at === 0 ? origin : '', isFirst: at === 0 });
      }
    }
    carry();
    below = next;
    return places;
  });
}

/** A part of a syntax tree, of any markup language. */
export type Part =
  | { readonly kind: 'heading'; readonly depth: number; readonly lines: readonly Line[] }
  | { readonly kind: 'prose'; readonly lines: readonly Line[] }
  | { readonly kind: 'code'; readonly lines: readonly Line[]; readonly language: string }
  | { readonly kind: 'list'; readonly items: readonly Item[] }
  | { readonly kind: 'table'; readonly rows: readonly TableRow[] };

interface Item {
  /** `-` or, for example, `3.` */
  readonly marker: string;
  readonly line: number;
  readonly parts: readonly Part[];
}

/** A longer title is read as text, because a heading is repeated with each of its passages. */
export const MAX_TITLE_CHARS = 300;

/** Converts the parts of a document to blocks, with the path of the headings above them. */
export class BlockBuilder {
  readonly #blocks: Block[] = [];
  #headings: { depth: number; title: string; line: number; used: boolean }[] = [];
  /** Used if no heading is open, for example a page's title. */
  fallback: readonly string[] = [];

  add(parts: readonly Part[]): void {
    for (const part of parts) {
      if (part.kind === 'heading') this.#enter(part.depth, part.lines);
      else if (part.kind === 'list') this.#write(new ListLines().written(part.items, 0));
      else this.#write([part]);
    }
  }

  finish(): Block[] {
    this.#close(0);
    return joinLeadIns(this.#blocks);
  }

  get #path(): readonly string[] {
    return this.#headings.length === 0 ? this.fallback : this.#headings.map(({ title }) => title);
  }

  #write(parts: readonly Leaf[]): void {
    for (const part of parts) {
      const lines = part.kind === 'table' ? tableLines(part.rows) : part.lines;
      const made = blockOf(lines, this.#path, part.kind, part.kind === 'code' ? part.language : '');
      if (made.length > 0) for (const heading of this.#headings) heading.used = true;
      this.#blocks.push(...made);
    }
  }

  #enter(depth: number, lines: readonly Line[]): void {
    const [{ text: title, line } = { text: '', line: 1 }] = blockOf(lines, [], 'prose').map((made) => ({
      text: unwrapped(made.text.split('\n')).replace(/\s+/g, ' '),
      line: made.startLine,
    }));
    this.#close(depth);
    for (const heading of this.#headings) heading.used = true;
    if (title.length > MAX_TITLE_CHARS) this.#write([{ kind: 'prose', lines: [{ text: title, line }] }]);
    else if (title !== '') this.#headings.push({ depth, title, line, used: false });
  }

  /** Closes the headings of this depth or deeper. One without content becomes a block. */
  #close(depth: number): void {
    while ((this.#headings.at(-1)?.depth ?? -1) >= depth) {
      const last = this.#headings.pop();
      if (last?.used === false)
        this.#blocks.push(...blockOf([{ text: last.title, line: last.line }], this.#path, 'prose'));
    }
  }
}

type Leaf =
  | Extract<Part, { kind: 'prose' | 'code' | 'table' }>
  | { readonly kind: 'list'; readonly lines: readonly Line[] };

const MAX_INDENTS = 20;

/** Returns the spaces before an item of a list inside `depth` others: two per level, up to 20 levels. */
const indentOf = (depth: number): string => '  '.repeat(Math.min(depth, MAX_INDENTS));

/** A bullet without text is not shown: DOCX lists that begin at a deeper level have such items. */
const BULLET = '-';

/** The lines of a list: one per item, or more if it is wrapped. Nested items are indented; a table interrupts the list. */
class ListLines {
  #leaves: Leaf[] = [];
  #lines: Line[] = [];

  written(items: readonly Item[], depth: number): Leaf[] {
    this.#items(items, depth);
    this.#flush();
    return this.#leaves;
  }

  #items(items: readonly Item[], depth: number): void {
    for (const { marker, line, parts } of items) {
      // A marker such as "Article 1" would look like wrapped text.
      const shown = LIST_ITEM.test(`${marker} x`) || marker === '' ? marker : `- ${marker}`;
      let before = shown === '' ? '' : `${indentOf(depth)}${shown} `;
      // Text below a nested list would look like a part of its last item.
      let afterList = '';
      for (const part of parts) {
        if (part.kind === 'list' || part.kind === 'table') {
          if (before !== '' && marker !== BULLET) this.#lines.push({ text: before, line });
          before = '';
          afterList = part.kind === 'list' ? `${indentOf(depth + 1)}- ` : '';
          if (part.kind === 'list') this.#items(part.items, depth + 1);
          else {
            this.#flush();
            this.#leaves.push(part);
          }
          continue;
        }
        const [first, ...rest] = part.kind === 'code' ? fencedLines(part.lines, part.language) : part.lines;
        if (first === undefined) continue;
        const mark = before === '' && part.kind !== 'code' ? afterList : before;
        this.#lines.push({ text: mark + first.text, line: first.line });
        for (const one of rest) this.#lines.push(one);
        [before, afterList] = ['', ''];
      }
      if (before !== '' && marker !== BULLET) this.#lines.push({ text: before, line });
    }
  }

  #flush(): void {
    if (this.#lines.length > 0) this.#leaves.push({ kind: 'list', lines: this.#lines });
    this.#lines = [];
  }
}

/** Returns fenced code within a list: the fences keep its lines from looking like wrapped text. */
function fencedLines(lines: readonly Line[], language: string): Line[] {
  const [first, last] = [lines[0]?.line ?? 1, lines.at(-1)?.line ?? 1];
  const code = fenced(
    lines
      .map(({ text }) => text)
      .join('\n')
      .trimEnd(),
    language,
  ).split('\n');
  return code.map((text, at) => ({ text, line: at === 0 ? first : Math.min(lines[at - 1]?.line ?? last, last) }));
}
