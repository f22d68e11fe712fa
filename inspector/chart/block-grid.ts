import type { Point } from './drawing.ts';

type Size = Readonly<Record<'width' | 'height', number>>;

/** A line from the lower side of a block to the upper side of another; its ends are relative to the blocks. */
export interface Link {
  readonly from: number;
  readonly to: number;
  readonly start: Point;
  readonly end: Point;
}

export interface BlockGrid extends Size {
  readonly places: readonly Point[];
  /** The corners of each link. */
  readonly paths: readonly (readonly Point[])[];
}

/** The distance of lines that are beside each other, and of blocks without lines between them. */
const [TRACK, GAP] = [8, 20];
/** The most that a row of blocks is moved so that no line begins where another ends. */
const MAX_SHIFT = 24;

const sum = (all: readonly number[]): number => all.reduce((total, one) => total + one, 0);
const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at);
const roomFor = (lines: number): number => Math.max(GAP, (lines + 1) * TRACK);

/** Puts blocks into rows, in their order, and each link on tracks of its own in the channels between rows and columns. */
export function blockGrid(sizes: readonly Size[], links: readonly Link[], columns: number): BlockGrid {
  const rows = Math.ceil(sizes.length / columns);
  const [rowOf, columnOf] = [(at: number) => Math.floor(at / columns), (at: number) => at % columns];
  const shifts = shiftsOf(links, rows, columns);
  const plans = links.map(({ from, to, start, end }) => {
    const [left, right] = [columnOf(from), columnOf(to)];
    const isNext = rowOf(to) === rowOf(from) + 1;
    // The channel beside the column on the right; the outermost one to a block above or below.
    return { from, to, start, end, isNext, side: left === right ? left + 1 : Math.max(left, right) };
  });
  const around = plans.filter(({ isNext }) => !isNext);
  const sides = upTo(columns + 1).map((side) => around.filter((plan) => plan.side === side));
  const widths = upTo(columns).map((column) =>
    Math.max(...sizes.map(({ width }, at) => (columnOf(at) === column ? width + (shifts[rowOf(at)] ?? 0) : 0))),
  );
  const heights = upTo(rows).map((row) => Math.max(...sizes.map(({ height }, at) => (rowOf(at) === row ? height : 0))));
  const sideRoom = sides.map(({ length }, side) => (length === 0 && side % columns === 0 ? 0 : roomFor(length)));
  const left = upTo(columns + 1).map((at) => sum(widths.slice(0, at)) + sum(sideRoom.slice(0, at + 1)));
  const xOf = (block: number): number => (left[columnOf(block)] ?? 0) + (shifts[rowOf(block)] ?? 0);
  const trackX = new Map(
    sides.flatMap((all, side) =>
      all.map((plan, at) => [plan, (left[side] ?? 0) - (sideRoom[side] ?? 0) + (at + 1) * TRACK] as const),
    ),
  );
  const ends = plans.map((plan) => {
    const [start, end] = [xOf(plan.from) + plan.start.x, xOf(plan.to) + plan.end.x];
    return { plan, start, end, track: trackX.get(plan) ?? end };
  });
  /** The lines between two rows, from top to bottom: those that leave the upper one, those to the lower one, and those that enter it. */
  const channels = upTo(rows + 1).map((row) => {
    const leaving = ends.filter(({ plan }) => rowOf(plan.from) === row - 1);
    const entering = ends.filter(({ plan }) => !plan.isNext && rowOf(plan.to) === row);
    return [
      ...nested(
        leaving
          .filter(({ plan }) => !plan.isNext)
          .map((one) => ({ one, x: one.start, isRight: one.track > one.start })),
      ),
      ...nested(
        leaving.filter(({ plan }) => plan.isNext).map((one) => ({ one, x: one.start, isRight: one.end > one.start })),
      ),
      ...nested(entering.map((one) => ({ one, x: one.end, isRight: one.end > one.track }))),
    ].map(({ one }) => one);
  });
  const room = channels.map(({ length }, row) => (length === 0 && row % rows === 0 ? 0 : roomFor(length)));
  const top = upTo(rows + 1).map((at) => sum(heights.slice(0, at)) + sum(room.slice(0, at + 1)));
  const trackY = (row: number, one: (typeof ends)[number]): number =>
    (top[row] ?? 0) - (room[row] ?? 0) + ((channels[row]?.indexOf(one) ?? 0) + 1) * TRACK;
  return {
    width: left[columns] ?? 0,
    height: top[rows] ?? 0,
    places: sizes.map((_, at) => ({ x: xOf(at), y: top[rowOf(at)] ?? 0 })),
    paths: ends.map((one) => {
      const { plan, start, end, track } = one;
      const [leave, enter] = [trackY(rowOf(plan.from) + 1, one), trackY(rowOf(plan.to), one)];
      const middle = plan.isNext
        ? [{ x: end, y: leave }]
        : [
            { x: track, y: leave },
            { x: track, y: enter },
            { x: end, y: enter },
          ];
      const first = { x: start, y: (top[rowOf(plan.from)] ?? 0) + plan.start.y };
      return [first, { x: start, y: leave }, ...middle, { x: end, y: (top[rowOf(plan.to)] ?? 0) + plan.end.y }];
    }),
  };
}

/** Lines that turn to the same side, in the order in which they do not cross. */
const nested = <Line extends { readonly x: number; readonly isRight: boolean }>(
  all: readonly Line[],
): readonly Line[] => {
  const order = ({ x, isRight }: Line): number => (isRight ? -x - MAX_LENGTH : x);
  return all.toSorted((one, other) => order(one) - order(other));
};
const MAX_LENGTH = 1e6;

/** How far to move each row so that no link enters it where one leaves the row above. */
function shiftsOf(links: readonly Link[], rows: number, columns: number): readonly number[] {
  const shifts: number[] = [];
  const isAt = (block: number, row: number): boolean => Math.floor(block / columns) === row;
  for (const row of upTo(rows)) {
    const above = shifts[row - 1] ?? 0;
    const leaving = links.filter(({ from }) => isAt(from, row - 1));
    const entering = links.filter(({ to }) => isAt(to, row));
    const isFree = (shift: number): boolean =>
      !entering.some(({ to, end }) =>
        leaving.some(
          ({ from, start }) => from % columns === to % columns && Math.abs(start.x + above - end.x - shift) < TRACK / 2,
        ),
      );
    shifts.push(upTo(MAX_SHIFT).find(isFree) ?? 0);
  }
  return shifts;
}
