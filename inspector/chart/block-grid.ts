import type { Point } from './drawing.ts';

type Size = Readonly<Record<'width' | 'height', number>>;

/** A line from the bottom of a block to the top of another, with its distances from their left sides. */
export interface Link {
  readonly from: number;
  readonly to: number;
  readonly start: number;
  readonly end: number;
}

/** The distance between parallel lines, and between blocks without lines between them. */
const [TRACK, GAP] = [8, 14];

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at);

/** Puts blocks into rows, in their order, and each link on tracks of its own in the channels between rows and columns. */
export function blockGrid(sizes: readonly Size[], links: readonly Link[], columns: number) {
  const row = (block: number): number => Math.floor(block / columns);
  const column = (block: number): number => block % columns;
  const rows = row(sizes.length - 1) + 1;
  /** Whether a link needs no channel between columns: its ends face each other, and no other link starts above its end. */
  const isNext = (link: Link): boolean =>
    row(link.to) === row(link.from) + 1 &&
    !links.some(
      (other) => other !== link && other.from === link.to - columns && Math.abs(other.start - link.end) < TRACK / 2,
    );
  const [next, around] = [true, false].map((is) => links.filter((link) => isNext(link) === is)) as [Link[], Link[]];
  /** The channel between the columns, or on the right of both. */
  const side = ({ from, to }: Link): number => Math.max(column(from), column(to)) + Number(column(from) === column(to));
  const x = bands(
    upTo(columns).map((at) => Math.max(...sizes.map(({ width }, block) => (column(block) === at ? width : 0)))),
    upTo(columns + 1).map((at) => around.filter((link) => side(link) === at)),
  );
  const left = (block: number): number => x.starts[column(block)] ?? 0;
  const start = (link: Link): number => left(link.from) + link.start;
  const end = (link: Link): number => left(link.to) + link.end;
  const turn = (link: Link): number => (isNext(link) ? end(link) : x.track(side(link), link));
  const y = bands(
    upTo(rows).map((at) => Math.max(...sizes.map(({ height }, block) => (row(block) === at ? height : 0)))),
    // Links that leave the upper row are above those that enter the lower one; a link may do both.
    upTo(rows + 1).map((at) => [
      ...nested(
        around,
        (link) => row(link.from) === at - 1,
        start,
        (link) => turn(link) > start(link),
      ),
      ...nested(
        next,
        (link) => row(link.to) === at,
        start,
        (link) => end(link) > start(link),
      ),
      ...nested(
        around,
        (link) => row(link.to) === at,
        end,
        (link) => end(link) > turn(link),
      ),
    ]),
  );
  const top = (block: number): number => y.starts[row(block)] ?? 0;
  return {
    width: x.length,
    height: y.length,
    places: sizes.map((_, block): Point => ({ x: left(block), y: top(block) })),
    /** The corners of each link. */
    paths: links.map((link): readonly Point[] => {
      const [leave, enter] = [y.track(row(link.from) + 1, link), y.track(row(link.to), link, true)];
      const aside = isNext(link) ? [] : [[turn(link), leave] as const, [turn(link), enter] as const];
      const bottom = top(link.from) + (sizes[link.from]?.height ?? 0);
      const corners = [
        [start(link), bottom],
        [start(link), leave],
        ...aside,
        [end(link), enter],
        [end(link), top(link.to)],
      ];
      return corners.map(([at = 0, below = 0]) => ({ x: at, y: below }));
    }),
  };
}

/** Puts cells in a row with channels around them. Returns where each cell begins, and the track of a link in a channel. */
function bands(cells: readonly number[], channels: readonly (readonly Link[])[]) {
  const [starts, tracks]: [number[], number[]] = [[], []];
  let length = 0;
  for (const [at, links] of channels.entries()) {
    tracks.push(length);
    const isEmpty = links.length === 0 && at % cells.length === 0;
    length += isEmpty ? 0 : Math.max(GAP, (links.length + 1) * TRACK);
    starts.push(length);
    length += cells[at] ?? 0;
  }
  const track = (at: number, link: Link, isEnd = false): number =>
    (tracks[at] ?? 0) + ((channels[at]?.[isEnd ? 'lastIndexOf' : 'indexOf'](link) ?? 0) + 1) * TRACK;
  return { starts, length, track };
}

/** The links of a channel in an order in which those that turn to the same side do not cross. */
function nested(
  links: readonly Link[],
  isIn: (link: Link) => boolean,
  place: (link: Link) => number,
  isRight: (link: Link) => boolean,
): readonly Link[] {
  const ordered = links.filter(isIn).sort((one, other) => place(one) - place(other));
  return [...ordered.filter(isRight).reverse(), ...ordered.filter((link) => !isRight(link))];
}
