import { groupBy } from '../fold/group-by.ts';
import { type BlockGrid, blockGrid } from './block-grid.ts';
import type { BoxLine, DrawnEdge, DrawnLevel, Point } from './drawing.ts';
import { BOX, FONT, widthOf } from './label-text.ts';
import type { Level, LevelEdge } from './level.ts';

/** A line from one block to another: its part up to the border of the first, and the one from the border of the second. */
export interface Joint {
  readonly from: number;
  readonly to: number;
  readonly leaving: LevelEdge;
  readonly entering: LevelEdge;
}

/** The lines between blocks that are drawn in both. */
export function jointsOf(parts: readonly Level[]): readonly Joint[] {
  const ends = parts.flatMap(({ edges, stubs, blocks }, at) => {
    const isStub = (end: string): boolean => stubs.some(({ id }) => id === end);
    const outer =
      blocks.length > 0
        ? []
        : edges.filter(({ hasLine, source, target }) => hasLine && (isStub(source) || isStub(target)));
    return outer.map((edge) => ({ at, edge, isLeaving: isStub(edge.target) }));
  });
  return [...groupBy(ends, ({ edge }) => edge.transitions.join()).values()].flatMap((all) => {
    const [leaving, entering] = [true, false].map((is) => all.filter(({ isLeaving }) => isLeaving === is));
    const [one, other] = [leaving?.[0], entering?.[0]];
    return all.length !== 2 || one === undefined || other === undefined
      ? []
      : [{ from: one.at, to: other.at, leaving: one.edge, entering: other.edge }];
  });
}

const PAD = 10;
/** Up to this many blocks have rows of the same length. */
const MAX_EVEN = 4;

/** Puts laid out parts of a level beside each other, and draws the lines between them. With `isRow`, lines leave a block on the right, otherwise at the bottom. */
export function joined(
  parts: readonly Level[],
  drawn: readonly DrawnLevel[],
  joints: readonly Joint[],
  {
    root,
    lines,
    aspect,
    isRow,
  }: {
    readonly root: string;
    readonly lines: readonly BoxLine[];
    readonly aspect: number;
    readonly isRow: boolean;
  },
): DrawnLevel {
  const flip = <Place extends Point>(place: Place): Place => (isRow ? { ...place, x: place.y, y: place.x } : place);
  const flipSize = ({ width, height }: Pick<DrawnLevel, 'width' | 'height'>) =>
    isRow ? { width: height, height: width } : { width, height };
  const blocks = drawn.map((inside, at) => {
    const state = parts[at]?.root;
    return state === undefined || state.id === root
      ? inside
      : framed(inside, state.id, widthOf(state.name, FONT.name), isRow);
  });
  const edgeOf = (at: number, edge: LevelEdge): DrawnEdge | undefined =>
    blocks[at]?.edges[parts[at]?.edges.indexOf(edge) ?? -1];
  const links = joints.flatMap(({ from, to, leaving, entering }) => {
    const [first, last] = [edgeOf(from, leaving), edgeOf(to, entering)];
    const [start, end] = [first?.points.at(-1), last?.points[0]];
    if (first === undefined || last === undefined || start === undefined || end === undefined) return [];
    return [
      {
        from,
        to,
        first,
        last,
        start: { x: flip(start).x, y: flipSize(blocks[from] as DrawnLevel).height },
        end: { x: flip(end).x, y: 0 },
      },
    ];
  });
  const sizes = blocks.map(flipSize);
  const costOf = (grid: BlockGrid): number => Math.max(flipSize(grid).width / aspect, flipSize(grid).height);
  const [grid] = blocks
    .flatMap((_, at) =>
      blocks.length <= MAX_EVEN && blocks.length % (at + 1) > 0 ? [] : blockGrid(sizes, links, at + 1),
    )
    .sort((one, other) => costOf(one) - costOf(other)) as [BlockGrid];
  const head = lines.length === 0 ? 0 : lines.length * BOX.line + BOX.below;
  const offset = (at: number): Point => {
    const { x, y } = flip(grid.places[at] ?? { x: 0, y: 0 });
    return { x, y: y + head };
  };
  const edges = blocks.flatMap((block, at) =>
    block.edges.flatMap((edge) => {
      if (links.some(({ last }) => last === edge)) return [];
      const start = movedEdge(edge, offset(at));
      const number = links.findIndex(({ first }) => first === edge);
      const link = links[number];
      if (link === undefined) return start;
      const path = (grid.paths[number] ?? []).map(flip).map(({ x, y }) => ({ x, y: y + head }));
      const end = movedEdge(link.last, offset(link.to));
      return { ...start, target: end.target, points: corners([...start.points, ...path, ...end.points]) };
    }),
  );
  const size = flipSize(grid);
  return {
    lines,
    width: Math.ceil(Math.max(size.width, ...lines.map(({ text }) => widthOf(`${text} ×99`, FONT.label)))),
    height: Math.ceil(size.height + head),
    states: blocks.flatMap(({ states }, at) => states.map((state) => moved(state, offset(at)))),
    stubs: blocks.flatMap(({ stubs }, at) => stubs.map((stub) => moved(stub, offset(at)))),
    edges,
  };
}

const moved = <Place extends Point>(place: Place, by: Point): Place => ({
  ...place,
  x: place.x + by.x,
  y: place.y + by.y,
});

const movedEdge = (edge: DrawnEdge, by: Point): DrawnEdge => ({
  ...edge,
  points: edge.points.map((point) => moved(point, by)),
  label: edge.label && moved(edge.label, by),
});

/** The inside of a state in its frame, below its name and at the right of it where lines enter. */
function framed(inside: DrawnLevel, id: string, name: number, isRow: boolean): DrawnLevel {
  const entries = isRow
    ? []
    : inside.edges.flatMap(({ source, points: [start] }) => (source === null && start ? start.x : []));
  const by = { x: PAD + Math.max(0, name + BOX.side - Math.min(9_999, ...entries)), y: BOX.head };
  const width = Math.max(by.x + inside.width + PAD, name + 2 * BOX.side);
  const height = by.y + inside.height + PAD;
  return {
    lines: [],
    width,
    height,
    states: [
      { id, isOpen: true, lines: inside.lines, chip: null, x: 0, y: 0, width, height },
      ...inside.states.map((state) => moved(state, by)),
    ],
    stubs: inside.stubs.map((stub) => moved(stub, by)),
    edges: inside.edges.map((edge) => movedEdge(edge, by)),
  };
}

/** The points at which a line turns. */
const corners = (points: readonly Point[]): readonly Point[] =>
  points.filter((point, at) => {
    const [before, after] = [points[at - 1], points[at + 1]];
    if (before === undefined || after === undefined) return true;
    const isOn = (along: 'x' | 'y'): boolean =>
      Math.abs(before[along] - point[along]) < 0.1 && Math.abs(point[along] - after[along]) < 0.1;
    return !isOn('x') && !isOn('y');
  });
