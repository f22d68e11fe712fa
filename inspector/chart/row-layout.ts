import type { Box } from './drawing.ts';
import { fitScore } from './fit-score.ts';
import { GRID } from './line-router.ts';

const GAP = 32;

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Boxes on shelves, read like a text: in their order, small ones stacked on each other, a new shelf where one is full. */
export interface RowLayout extends Size {
  readonly boxes: readonly Box[];
}

/** All arrangements worth a look, the one that fits a place of these proportions best first. */
export function rowLayoutOf(sizes: readonly Size[], aspect: number): readonly RowLayout[] {
  const heights = [...new Set(sizes.map(({ height }) => height))];
  const stacks = [0, ...heights, ...heights.map((height) => height * 1.25), ...heights.map((height) => height * 1.6)];
  const total = sizes.reduce((sum, { width }) => sum + width + GAP, 0);
  const arranged = stacks.flatMap((stack) =>
    [1, 0.75, 0.6, 0.5, 0.42, 0.36, 0.3, 0.25].map((share) => arrange(sizes, stack, total * share)),
  );
  return arranged.sort((one, other) => fitScore(one, aspect) - fitScore(other, aspect));
}

function arrange(sizes: readonly Size[], stack: number, most: number): RowLayout {
  const shelves: Size[][][] = [[]];
  let width = 0;
  for (const column of columnsOf(sizes, stack)) {
    const wide = Math.max(...column.map((size) => size.width));
    if (width > 0 && width + wide > most) {
      shelves.push([]);
      width = 0;
    }
    shelves.at(-1)?.push([...column]);
    width += wide + GAP;
  }
  const boxes: Box[] = [];
  let y = 0;
  let widest = 0;
  for (const shelf of shelves) {
    const tall = Math.max(...shelf.map(heightOf));
    let bottom = y;
    let x = 0;
    for (const column of shelf) {
      const wide = Math.max(...column.map((size) => size.width));
      // What is much lower than its shelf stands at half its height.
      let top = y + snap((tall - heightOf(column)) / 2);
      for (const size of column) {
        boxes.push({ x: x + snap((wide - size.width) / 2), y: top, width: size.width, height: size.height });
        bottom = Math.max(bottom, top + size.height);
        top = snap(top + size.height + GAP);
      }
      x = snap(x + wide + GAP);
    }
    widest = Math.max(widest, x - GAP);
    y = snap(bottom + GAP);
  }
  const height = Math.max(...boxes.map((box) => box.y + box.height));
  return { width: Math.max(widest, ...boxes.map((box) => box.x + box.width)), height, boxes };
}

function columnsOf(sizes: readonly Size[], stack: number): readonly (readonly Size[])[] {
  const columns: Size[][] = [];
  for (const size of sizes) {
    const column = columns.at(-1);
    if (column !== undefined && heightOf([...column, size]) <= stack) column.push(size);
    else columns.push([size]);
  }
  return columns;
}

const heightOf = (column: readonly Size[]): number => column.reduce((sum, { height }) => sum + height + GAP, -GAP);

const snap = (length: number): number => Math.ceil(length / GRID) * GRID;
