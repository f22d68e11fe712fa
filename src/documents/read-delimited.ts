import type { Steps } from '../internal/async.ts';
import { isDelimiterRow } from './blocks.ts';
import type { Block } from './document.ts';
import { BlockBuilder, type TableRow } from './parts.ts';

/** Ordered by how certainly they separate cells: a comma may also separate decimals. */
const DELIMITERS = ['\t', ';', '|', ','] as const;
const SEPARATOR_LINE = /^sep=(.)\r?\n/iu;
const SAMPLE_ROWS = 50;
/** Each part of a long table has the header. */
const ROWS_PER_STEP = 200;

interface Cells {
  readonly line: number;
  readonly cells: readonly string[];
}

/**
 * Returns the rows of a text with delimiters (RFC 4180: a cell in quotes may contain them, and line breaks), with their lines, without empty
 * ones. A quote that is not closed ends with its line. Linear in the text.
 */
function* rowsOf(text: string, delimiter: string, firstLine: number): Generator<Cells> {
  const escaped = delimiter === '|' ? '\\|' : delimiter;
  const cell = new RegExp(
    `[^\\S\\n${escaped}]*(?:"((?:[^"]|"")*)"(?=[^\\S\\n]*(?:[${escaped}\\n]|$))[^\\S\\n${escaped}]*|([^${escaped}\\n]*))([${escaped}\\n]|$)`,
    'uy',
  );
  let [line, cells]: [number, string[]] = [firstLine, []];
  let start = line;
  while (cell.lastIndex < text.length || cells.length > 0) {
    const [whole = '', quoted, plain = '', end = ''] = cell.exec(text) ?? [];
    cells.push((quoted?.replaceAll('""', '"') ?? plain).replace(/\s+/gu, ' ').trim());
    for (const sign of whole) if (sign === '\n') line += 1;
    if (end === delimiter && cell.lastIndex < text.length) continue;
    if (end === delimiter) cells.push('');
    // Rows with a bar at both ends, as in Markdown.
    const shown = delimiter === '|' && cells[0] === '' && cells.at(-1) === '' ? cells.slice(1, -1) : cells;
    if (shown.some((text) => text !== '')) yield { line: start, cells: shown };
    [start, cells] = [line, []];
    if (cell.lastIndex >= text.length) return;
  }
}

/** Returns the delimiter with which most of the first rows have the same number of cells, at least two; null if there is none. */
function delimiterOf(
  text: string,
): { readonly delimiter: string; readonly share: number; readonly columns: number } | null {
  let best: ReturnType<typeof delimiterOf> = null;
  for (const delimiter of DELIMITERS) {
    const counts = new Map<number, number>();
    let rows = 0;
    for (const { cells } of rowsOf(text, delimiter, 1)) {
      counts.set(cells.length, (counts.get(cells.length) ?? 0) + 1);
      rows += 1;
      if (rows === SAMPLE_ROWS) break;
    }
    const [columns, times] = [...counts].reduce((most, one) => (one[1] > most[1] ? one : most), [0, 0]);
    const share = times / rows;
    const isBetter = best === null || share > best.share || (share === best.share && columns > best.columns);
    if (columns > 1 && isBetter) best = { delimiter, share, columns };
  }
  return best;
}

/** Names of columns have no numbers. */
const isHeader = ({ cells }: Cells): boolean =>
  cells.every((cell) => cell === '' || !/\p{N}/u.test(cell)) && cells.filter((cell) => cell !== '').length > 1;

/**
 * Returns the blocks of a table with delimiters (comma, semicolon, tab or bar), in steps of 200 rows: tables whose header is the first row, if
 * it has no numbers. A first line `sep=;` names the delimiter. Text without any delimiter has a row per line.
 */
export function* readDelimited(given: string): Steps<Block[]> {
  const named = SEPARATOR_LINE.exec(given);
  const text = given.slice(named?.[0].length ?? 0);
  return yield* tableBlocks(text, named?.[1] ?? delimiterOf(text)?.delimiter ?? ',', named === null ? 1 : 2);
}

function* tableBlocks(text: string, delimiter: string, firstLine: number): Steps<Block[]> {
  const builder = new BlockBuilder();
  let [header, rows]: [TableRow | null | undefined, TableRow[]] = [undefined, []];
  const add = (): void => {
    if (rows.length > 0) builder.add([{ kind: 'table', rows: header == null ? rows : [header, ...rows] }]);
    rows = [];
  };
  for (const row of rowsOf(text, delimiter, firstLine)) {
    const cells = row.cells.map((text) => ({ text, columns: 1, rows: 1 }));
    const isFirst = header === undefined;
    if (isFirst) header = isHeader(row) ? { line: row.line, section: 0, isHeader: true, cells } : null;
    if (isDelimiterRow(`| ${row.cells.join(' | ')} |`) || (isFirst && header !== null)) continue;
    rows.push({ line: row.line, section: 0, isHeader: false, cells });
    if (rows.length % ROWS_PER_STEP !== 0) continue;
    add();
    yield;
  }
  add();
  const blocks = builder.finish();
  if (blocks.length > 0 || header == null) return blocks;
  builder.add([{ kind: 'table', rows: [header] }]);
  return builder.finish();
}

/** Prose has spaces after these signs, and code has one at the end of lines, or is indented. */
const NO_TABLE = /[,;][^\S\n]|;$|^\t/mu;

/** Returns the blocks of lines within other text if they are a table: all have the same number of cells. */
export function tableIn(lines: readonly string[], firstLine: number): Block[] | null {
  const text = lines.join('\n');
  const found = lines.length > 1 && !NO_TABLE.test(text) ? delimiterOf(text) : null;
  if (found === null || found.share < 1 || (found.delimiter === ',' && found.columns < 3)) return null;
  const steps = tableBlocks(text, found.delimiter, firstLine);
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
}
