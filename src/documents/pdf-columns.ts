/** A piece of text in a PDF, as the package `unpdf` finds it. */
export interface PdfItem {
  readonly str: string;
  readonly x: number;
  /** From the bottom of the page. */
  readonly y?: number;
  readonly width: number;
  readonly fontSize: number;
  readonly hasEOL: boolean;
}

type Line = readonly PdfItem[];

/** In font sizes: a wider gap in a line separates columns, or words of justified text. */
const GAP = 1;
/** Where the second column may start, as a share of the width of the page's text. */
const [FIRST_START, LAST_START] = [0.35, 0.7];
/** A column of text has at least this many lines, of this many characters on average, most of them nearly full; most tables do not. */
const [MIN_LINES, MIN_CHARS, FULL, MOSTLY] = [6, 20, 0.75, 0.6];

/** A part of a line between wide gaps, and where it is. */
interface Part {
  readonly items: PdfItem[];
  readonly start: number;
  end: number;
  chars: number;
}

function partsOf(line: Line): Part[] {
  const parts: Part[] = [];
  for (const item of line) {
    const { str, x, width, fontSize } = item;
    const last = parts.at(-1);
    const chars = str.trim().length;
    if (last !== undefined && (chars === 0 || x - last.end <= GAP * fontSize)) {
      last.items.push(item);
      last.chars += chars;
      if (chars > 0) last.end = x + width;
    } else if (chars > 0) parts.push({ items: [item], start: x, end: x + width, chars });
  }
  return parts;
}

/** Returns where most lines of a second column start; null if there is none. */
function secondColumn(parts: readonly Part[]): number | null {
  const from = parts.reduce((least, { start }) => Math.min(least, start), Number.POSITIVE_INFINITY);
  const width = parts.reduce((most, { end }) => Math.max(most, end), 0) - from;
  const counts = new Map<number, number>();
  for (const { start } of parts)
    if (start > from + FIRST_START * width && start < from + LAST_START * width)
      counts.set(Math.round(start), (counts.get(Math.round(start)) ?? 0) + 1);
  const [best] = [...counts].sort(([, one], [, other]) => other - one);
  return best === undefined || best[1] < MIN_LINES ? null : best[0] - 1;
}

function isText(column: readonly Part[]): boolean {
  const most = column.reduce((width, { start, end }) => Math.max(width, end - start), 0);
  const chars = column.reduce((sum, part) => sum + part.chars, 0);
  const full = column.filter(({ start, end }) => end - start >= FULL * most).length;
  return column.length >= MIN_LINES && chars >= MIN_CHARS * column.length && full >= MOSTLY * column.length;
}

/**
 * Returns the lines of a page. If it has two columns of text that are written row by row, the first column comes before the second. Tables,
 * and pages that are written column by column, stay as they are.
 */
export function inColumns(lines: readonly Line[]): readonly Line[] {
  const parts = lines.map(partsOf);
  const second = secondColumn(parts.flat());
  if (second === null) return lines;
  const isLeft = (part: Part | undefined): boolean => part !== undefined && part.start < second;
  const runs: (readonly Line[])[] = [];
  let from = 0;
  for (let at = 0; at <= lines.length; at += 1) {
    const isAcross = parts[at]?.some(({ start, end }) => start < second && end > second) ?? true;
    if (!isAcross) continue;
    const run = parts.slice(from, at).flat();
    const [left, right] = [run.filter(isLeft), run.filter((part) => !isLeft(part))];
    const turns = run.filter((part, place) => !isLeft(part) && isLeft(run[place - 1])).length;
    const isByRow = turns > Math.min(left.length, right.length) / 2 && isText(left) && isText(right);
    runs.push(isByRow ? [...left, ...right].map(({ items }) => items) : lines.slice(from, at), lines.slice(at, at + 1));
    from = at + 1;
  }
  return runs.flat();
}
