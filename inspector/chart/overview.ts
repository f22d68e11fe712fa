import { ancestorsOf, descendantsOf } from '../fold/chart-index.ts';
import { transitionName } from '../fold/chart-words.ts';
import { pluralize } from '../fold/format.ts';
import { groupBy } from '../fold/group-by.ts';
import { excerpt } from '../fold/text.ts';
import { moved, movedEdge } from './blocks.ts';
import { activePath, type KnownMarks, leftBy, lineText, MARGIN } from './chart-picture.tsx';
import type { Box, BoxLine, DrawnEdge, DrawnLevel, DrawnState, Point } from './drawing.ts';
import { BOX, FONT, wrapped } from './label-text.ts';

/** The length of an arrow from any state, and the smallest box with larger texts, in pixels. */
const [ARROW, WIDE, HIGH] = [20, 140, 90];
const MAX_TEXT = 1.5;
/** The boxes name what takes a line. */
const UNNAMED = { source: null, target: null, label: null, isBranch: false } as const;

/** The outermost states of a level. */
export const outermost = ({ states }: DrawnLevel, { index }: KnownMarks): readonly DrawnState[] =>
  states.filter(({ id }) => !states.some((around) => around.id !== id && index.isInside(id, around.id)));

/** Returns one top-level state with its descendants. Lines are cut at its border; those into it are shown once taken. */
export function partOf(level: DrawnLevel, known: KnownMarks, id: string): DrawnLevel {
  const all = outermost(level, known);
  const group = all.find((one) => one.id === id && one.isOpen);
  const roots = group === undefined ? all.filter(({ isOpen }) => !isOpen) : [group];
  const isIn = (end: string | null): boolean =>
    roots.some((root) => end !== null && known.index.isInside(end, root.id));
  const [x, y] = (['x', 'y'] as const).map((axis) => Math.min(...roots.map((root) => root[axis]))) as [number, number];
  const width = Math.max(...roots.map((root) => root.x + root.width)) - x;
  const height = Math.max(...roots.map((root) => root.y + root.height)) - y;
  const frame = { x, y, width, height };
  const by = { x: -x, y: -y };
  const holds = (box: Box | null): boolean =>
    box !== null && isAt({ x: box.x + box.width / 2, y: box.y + box.height / 2 }, frame);
  const edges = level.edges.flatMap((edge) => {
    const { points, label, source, transitions } = edge;
    const [first, last] = [points[0], points.at(-1)];
    if (first === undefined || last === undefined) return isIn(source) ? edge : [];
    const isTaken = transitions.some((at) => known.taken.has(at));
    if (isAt(first, frame))
      return movedEdge({ ...edge, points: inside(points, frame), label: holds(label) ? label : null }, by);
    if (!isAt(last, frame) || !isTaken) return [];
    return movedEdge({ ...edge, points: inside(points.toReversed(), frame).toReversed(), label: null }, by);
  });
  return {
    lines: [],
    width,
    height,
    states: level.states.filter((one) => isIn(one.id)).map((one) => moved(one, by)),
    stubs: level.stubs.filter(holds).map((one) => moved(one, by)),
    edges,
  };
}

/** Returns a level at a scale at which its texts are unreadable: its outermost states as boxes, and the lines between them. */
export function overviewOf(level: DrawnLevel, known: KnownMarks, whole: number) {
  const { index, taken } = known;
  const rooms = level.states.flatMap((box) =>
    box.isOpen ? [(box.width * whole) / WIDE, (box.height * whole) / HIGH] : [],
  );
  const textScale = Math.max(1, Math.min(MAX_TEXT, ...rooms));
  const scale = whole / textScale - (2 * MARGIN) / Math.min(level.width, level.height);
  const scaled = <Place extends Point>(place: Place): Place => ({ ...place, x: place.x * scale, y: place.y * scale });
  const states = outermost(level, known).map((state) => {
    const box = { ...scaled(state), width: state.width * scale, height: state.height * scale, isOpen: false };
    return { ...box, lines: linesIn(box, known) };
  });
  const between = level.edges.flatMap((edge) => {
    const { source = '', target: [end = ''] = [] } = index.transitions[edge.transitions[0] ?? -1] ?? {};
    const [from, to] = [source, end].map((one) => states.find(({ id }) => index.isInside(one, id)));
    const [points, ends] = [edge.points.map(scaled), `${from?.id} ${to?.id}`];
    const [before, tip] = points.slice(-2);
    if (!before || !tip || !to || from === to) return [];
    if (from !== undefined)
      return [{ ...edge, ends, points: outside(outside(points, from).toReversed(), to).toReversed() }];
    const at = before.y === tip.y ? { ...tip, x: to.x } : { ...tip, y: to.y };
    const start = before.y === tip.y ? { ...at, x: at.x - ARROW } : { ...at, y: at.y - ARROW };
    return [{ ...edge, ends, points: [start, at] }];
  });
  const isTaken = ({ transitions }: Pick<DrawnEdge, 'transitions'>): boolean => transitions.some((at) => taken.has(at));
  const edges = [...groupBy(between, ({ ends }) => ends).values()].map((same): DrawnEdge => {
    const { points = [] } = same.find(isTaken) ?? same[0] ?? {};
    return { ...UNNAMED, points, transitions: same.flatMap((edge) => edge.transitions) };
  });
  const size = { width: level.width * scale, height: level.height * scale };
  return { level: { lines: [], stubs: [], states, edges, ...size }, scale: textScale };
}

/** What fits into a box: its active state or the number of its states, the transitions from any state into it, and those out of it. */
function linesIn({ id, width, height }: DrawnState, known: KnownMarks): readonly BoxLine[] {
  const { index, taken } = known;
  const isTaken = ({ transitions }: BoxLine): boolean => transitions.some((at) => taken.has(at));
  const inner = descendantsOf(index, id).length - 1;
  const rows = inner === 0 ? 0 : Math.max(0, Math.floor((height - BOX.head - 3) / BOX.line));
  const most = Math.floor((width - 2 * BOX.side) / (FONT.label * 0.52)) - 4;
  const ways = index.transitions.flatMap((way, at) => {
    const [source, target = ''] = [way.source, way.target[0]];
    const isEntering = source === index.id && index.isInside(target, id);
    if (!isEntering && (!index.isInside(source, id) || index.isInside(target, id) || target === '')) return [];
    const name = transitionName(way);
    const to = ` › ${ancestorsOf(index, target).at(-2)?.name}`;
    if (isEntering) return { at, text: `${name} from ${leftBy([at], known) ?? 'any state'}` };
    return { at, text: name.length + to.length > most ? name : name + to };
  });
  const lines = [...groupBy(ways, ({ text }) => text)]
    .map(([text, same]) => ({ kind: 'part' as const, text, transitions: same.map(({ at }) => at) }))
    .sort((one, other) => Number(isTaken(other)) - Number(isTaken(one)));
  const inside = activePath(id, known) || pluralize(inner, 'state');
  if (rows < 2) {
    const texts = [inside, ...lines.map((line) => lineText(line, known))];
    return [{ kind: 'part' as const, text: excerpt(texts.join(' · '), most), transitions: [] }].slice(0, rows);
  }
  const parts = lines.flatMap(({ text, transitions, kind }) => {
    const wraps = wrapped(text, most);
    return wraps.map((part, at) => ({
      kind,
      text: excerpt(part, most),
      transitions: wraps[at + 1] ? [] : transitions,
    }));
  });
  return [{ kind: 'inside' as const, text: inside, transitions: [] }, ...parts].slice(0, rows);
}

/** The point of a box that is nearest to a point. */
const nearest = ({ x, y }: Point, box: Box): Point => ({
  x: Math.max(box.x, Math.min(box.x + box.width, x)),
  y: Math.max(box.y, Math.min(box.y + box.height, y)),
});

const isAt = (point: Point, box: Box): boolean =>
  Math.hypot(point.x - nearest(point, box).x, point.y - nearest(point, box).y) < 0.01;

/** Returns the part of a line outside the box in which it begins. */
function outside(points: readonly Point[], box: Box): readonly Point[] {
  const first = points.findIndex((point) => !isAt(point, box));
  const [start] = points.slice(first);
  return first < 0 || start === undefined ? points : [nearest(start, box), ...points.slice(first)];
}

/** Returns the part of a line inside the box in which it begins. */
function inside(points: readonly Point[], box: Box): readonly Point[] {
  const first = points.findIndex((point) => !isAt(point, box));
  const [end] = points.slice(first);
  return first < 0 || end === undefined ? points : [...points.slice(0, first), nearest(end, box)];
}
