import { clipped } from '../../machines/text/clip.ts';
import type { Line } from './lines.ts';

export interface Cell {
  readonly text: string;
  readonly columns: number;
  readonly rows: number;
}

export interface Row {
  readonly line: number;
  /** Cells do not extend from one section of a table into the next. */
  readonly section: number;
  readonly isHeader: boolean;
  readonly cells: readonly Cell[];
}

/** A place in the grid. The first place of a cell has its text; the places that it also takes have it only below the first. */
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
export function tableLines(rows: readonly Row[]): Line[] {
  const grid = gridOf(rows);
  const used = grid.reduce((most, places) => Math.max(most, places.findLastIndex(({ isFirst }) => isFirst) + 1), 0);
  const headers = rows.findIndex(({ isHeader }) => !isHeader);
  // A table of header cells alone has one header, and rows.
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

/** A small table can ask for millions of places, so they may take about as many characters as its cells, and some more. */
const SPARE_CHARS = 10_000;

function gridOf(rows: readonly Row[]): (readonly Place[])[] {
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
