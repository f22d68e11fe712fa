import { groupBy } from '../fold/group-by.ts';
import { blockGrid } from './block-grid.ts';
import type { BoxLine, DrawnEdge, DrawnLevel, Point } from './drawing.ts';
import { BOX, FONT, linesSize, widthOf } from './label-text.ts';
import type { Level, LevelEdge } from './level.ts';

/** A part of a level, with the lines that leave and enter it, cut at its border. */
export interface Part {
  readonly level: Level;
  readonly leaving: readonly LevelEdge[];
  readonly entering: readonly LevelEdge[];
}

const keyOf = ({ transitions }: Pick<LevelEdge, 'transitions'>): string => transitions.join();

/** Returns the parts of a level: its blocks, and its other states, if any, as one more. */
export function partsOf(level: Level): readonly Part[] {
  const rest = level.states.length + level.stubs.length > 0 ? [{ ...level, blocks: [] }] : [];
  const levels = [...rest, ...level.blocks];
  const ends = levels.flatMap(({ edges, stubs, blocks }) => {
    const isStub = (end: string): boolean => stubs.some(({ id }) => id === end);
    const outer = edges.filter(({ hasLine, source, target }) => hasLine && (isStub(source) || isStub(target)));
    return blocks.length > 0 ? [] : outer.map((edge) => ({ edge, isLeaving: isStub(edge.target) }));
  });
  const pairs = [...groupBy(ends, ({ edge }) => keyOf(edge)).values()].filter(
    ([one, other, ...more]) => other !== undefined && one?.isLeaving !== other.isLeaving && more.length === 0,
  );
  const edgesOf = ({ edges }: Level, leaves: boolean): readonly LevelEdge[] =>
    pairs.flat().flatMap(({ edge, isLeaving }) => (isLeaving === leaves && edges.includes(edge) ? edge : []));
  return levels.map((one) => ({ level: one, leaving: edgesOf(one, true), entering: edgesOf(one, false) }));
}

const PAD = 10;
/** Up to this many blocks are put into rows of the same length. */
const MAX_EVEN = 4;

interface Frame {
  readonly root: string;
  /** The text above the parts. */
  readonly lines: readonly BoxLine[];
  readonly aspect: number;
  /** Lines leave a part on the right; otherwise at the bottom. */
  readonly isRow: boolean;
}

/** Puts the pictures of the parts of a level beside each other, and draws the lines between them. */
export function joined(
  parts: readonly Part[],
  drawn: readonly DrawnLevel[],
  { root, lines, aspect, isRow }: Frame,
): DrawnLevel {
  const flip = <Place extends Point>(place: Place): Place => (isRow ? { ...place, x: place.y, y: place.x } : place);
  const blocks = drawn.map((inside, at) => {
    const { id = root, name = '' } = parts[at]?.level.root ?? {};
    return id === root ? inside : framed(inside, id, widthOf(name, FONT.name), isRow);
  });
  const sizes = blocks.map(({ width, height }) => (isRow ? { width: height, height: width } : { width, height }));
  const drawnEdges = (at: number, own: readonly LevelEdge[]): ReadonlyMap<string, DrawnEdge> => {
    const all = own.flatMap((edge) => blocks[at]?.edges[parts[at]?.level.edges.indexOf(edge) ?? -1] ?? []);
    return new Map(all.filter(({ points }) => points.length > 0).map((edge) => [keyOf(edge), edge]));
  };
  const entries = parts.flatMap(({ entering }, to) =>
    [...drawnEdges(to, entering)].map(([key, last]) => ({ key, to, last })),
  );
  const links = parts.flatMap(({ leaving }, from) =>
    [...drawnEdges(from, leaving)].flatMap(([key, first]) =>
      entries.flatMap(({ key: other, to, last }) => {
        const [start, end] = [first.points.at(-1), last.points[0]].map((point) => flip(point as Point).x);
        return key === other ? { from, to, first, last, start: start ?? 0, end: end ?? 0 } : [];
      }),
    ),
  );
  const { width: widest, height: head } = linesSize(lines);
  const grids = blocks.flatMap((_, at) => {
    if (blocks.length <= MAX_EVEN && blocks.length % (at + 1) > 0) return [];
    const { width: across, height: along, places, paths } = blockGrid(sizes, links, at + 1);
    const [width, height] = isRow ? [along, across] : [across, along];
    const placed = (point: Point): Point => ({ x: flip(point).x, y: flip(point).y + head });
    return { width, height: height + head, places: places.map(placed), paths: paths.map((path) => path.map(placed)) };
  });
  const [grid] = grids.sort(
    (one, other) => Math.max(one.width / aspect, one.height) - Math.max(other.width / aspect, other.height),
  );
  const placeOf = (at: number): Point => grid?.places[at] ?? { x: 0, y: 0 };
  const edgesOf = ({ edges }: DrawnLevel, at: number): readonly DrawnEdge[] =>
    edges.flatMap((edge) => {
      const link = links.findIndex(({ first }) => first === edge);
      const { last, to = 0 } = links[link] ?? {};
      const start = movedEdge(edge, placeOf(at));
      if (last === undefined) return links.some((one) => one.last === edge) ? [] : start;
      const points = [...start.points, ...(grid?.paths[link] ?? []), ...movedEdge(last, placeOf(to)).points];
      return { ...start, target: last.target, points: points.filter(isCorner) };
    });
  return {
    lines,
    width: Math.ceil(Math.max(grid?.width ?? 0, widest)),
    height: Math.ceil(grid?.height ?? 0),
    states: blocks.flatMap(({ states }, at) => states.map((state) => moved(state, placeOf(at)))),
    stubs: blocks.flatMap(({ stubs }, at) => stubs.map((stub) => moved(stub, placeOf(at)))),
    edges: blocks.flatMap(edgesOf),
  };
}

export const moved = <Place extends Point>(place: Place, { x, y }: Point): Place => ({
  ...place,
  x: place.x + x,
  y: place.y + y,
});

export const movedEdge = (edge: DrawnEdge, by: Point): DrawnEdge => ({
  ...edge,
  points: edge.points.map((point) => moved(point, by)),
  label: edge.label && moved(edge.label, by),
});

/** Puts the inside of a state into its frame: below its name, or to the right of it if lines enter at the top. */
function framed(
  { lines, width, height, states, stubs, edges }: DrawnLevel,
  id: string,
  name: number,
  isRow: boolean,
): DrawnLevel {
  const entries = edges.flatMap(({ source, points: [start] }) => (isRow || source !== null || !start ? [] : start.x));
  const by = { x: PAD + Math.max(0, name + BOX.side - Math.min(...entries, 9_999)), y: BOX.head };
  const size = { width: Math.max(by.x + width + PAD, name + 2 * BOX.side), height: by.y + height + PAD };
  return {
    lines: [],
    ...size,
    states: [{ id, isOpen: true, lines, x: 0, y: 0, ...size }, ...states.map((state) => moved(state, by))],
    stubs: stubs.map((stub) => moved(stub, by)),
    edges: edges.map((edge) => movedEdge(edge, by)),
  };
}

/** Whether a line turns at a point. */
const isCorner = (point: Point, at: number, points: readonly Point[]): boolean => {
  const [before = point, after = point] = [points[at - 1], points[at + 1]];
  const isOn = (along: 'x' | 'y'): boolean => [before, after].every((one) => Math.abs(one[along] - point[along]) < 0.1);
  return at === 0 || at === points.length - 1 || !(isOn('x') || isOn('y'));
};
