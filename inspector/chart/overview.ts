import { ancestorsOf } from '../fold/chart-index.ts';
import { transitionName } from '../fold/chart-words.ts';
import { pluralize } from '../fold/format.ts';
import { groupBy } from '../fold/group-by.ts';
import { excerpt } from '../fold/text.ts';
import { activePath, type KnownMarks, leftBy, lineText, MARGIN, timesOf } from './chart-picture.tsx';
import type { Box, BoxLine, DrawnEdge, DrawnLevel, DrawnState, Point } from './drawing.ts';
import { BOX, FONT, labelSize, wrapped } from './label-text.ts';
import { overlap } from './straight.ts';

/** The length of an arrow from any state, and the smallest box with larger texts, in pixels. */
const [ARROW, WIDE, HIGH] = [20, 140, 90];
const MAX_TEXT = 1.5;

/** Returns a level at a scale at which its texts are unreadable: its outermost states as boxes, and the lines between them. */
export function overviewOf(level: DrawnLevel, known: KnownMarks, whole: number) {
  const { index, taken } = known;
  const rooms = level.states.flatMap((box) =>
    box.isOpen ? [(box.width * whole) / WIDE, (box.height * whole) / HIGH] : [],
  );
  const textScale = Math.max(1, Math.min(MAX_TEXT, ...rooms));
  const scale = whole / textScale - (2 * MARGIN) / Math.min(level.width, level.height);
  const scaled = <Place extends Point>(place: Place): Place => ({ ...place, x: place.x * scale, y: place.y * scale });
  const states = level.states
    .filter(({ id }) => !level.states.some((around) => around.id !== id && index.isInside(id, around.id)))
    .map((state) => {
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
  const bundles = [...groupBy(between, ({ ends }) => ends).values()].map((same): DrawnEdge => {
    const { points = [] } = same.find(isTaken) ?? same[0] ?? {};
    // Without ends, the label has only what takes the line.
    return {
      source: null,
      target: null,
      label: null,
      isBranch: false,
      points,
      transitions: same.flatMap((edge) => edge.transitions),
    };
  });
  const labels: Box[] = [];
  const edges = bundles.map((edge) => {
    if (!isTaken(edge) || edge.points.length < 3) return edge;
    const names = edge.transitions.flatMap((at) => index.transitions[at] ?? []).map(transitionName);
    const lines = bundles.filter((other) => other !== edge && isTaken(other)).flatMap(({ points }) => partsOf(points));
    const label = labelOn(edge.points, labelSize(names, true), labels, [...states, ...lines]);
    labels.push(label);
    return { ...edge, label };
  });
  const size = { width: level.width * scale, height: level.height * scale };
  return { level: { lines: [], stubs: [], states, edges, ...size }, scale: textScale };
}

/** What fits into a box: its active state or the number of its states, the transitions from any state into it, and those out of it. */
function linesIn({ id, width, height }: DrawnState, known: KnownMarks): readonly BoxLine[] {
  const { index } = known;
  const inner = index.childrenOf(id).length;
  const rows = inner === 0 ? 0 : Math.max(0, Math.floor((height - BOX.head - 3) / BOX.line));
  const most = Math.floor((width - 2 * BOX.side) / (FONT.label * 0.52)) - 4;
  const ways = index.transitions.flatMap((way, at) => {
    const {
      source,
      target: [target = ''],
    } = way;
    const isEntering = source === index.id && index.isInside(target, id);
    if (!isEntering && (!index.isInside(source, id) || index.isInside(target, id) || target === '')) return [];
    const name = transitionName(way);
    const whole = `${name} › ${ancestorsOf(index, target).at(-2)?.name}`;
    return {
      at,
      text: isEntering ? `${name} from ${leftBy([at], known) ?? 'any state'}` : whole.length > most ? name : whole,
    };
  });
  const lines = [...groupBy(ways, ({ text }) => text)]
    .map(([text, same]) => ({ kind: 'part' as const, text, transitions: same.map(({ at }) => at) }))
    .sort((one, other) => timesOf(other, known) - timesOf(one, known));
  const inside = activePath(id, known) || pluralize(inner, 'state');
  if (rows < 2) {
    const texts = [inside, ...lines.map((line) => lineText(line, known))];
    return [{ kind: 'part' as const, text: excerpt(texts.join(' · '), most), transitions: [] }].slice(0, rows);
  }
  const wrappedLines = lines.flatMap((line) =>
    wrapped(line.text, most).map((text, at, all) => ({
      ...line,
      text: excerpt(text, most),
      transitions: at < all.length - 1 ? [] : line.transitions,
    })),
  );
  return [{ kind: 'inside' as const, text: inside, transitions: [] }, ...wrappedLines].slice(0, rows);
}

/** The straight parts of a line. */
const partsOf = (points: readonly Point[]): readonly Box[] =>
  points.slice(1).map((to, at) => {
    const from = points[at] ?? to;
    return {
      x: Math.min(from.x, to.x),
      y: Math.min(from.y, to.y),
      width: Math.abs(to.x - from.x),
      height: Math.abs(to.y - from.y),
    };
  });

/** Returns a place for a label on a line, if possible on its longest part, that covers no other label and, if possible, no box. */
function labelOn(
  points: readonly Point[],
  size: Pick<Box, 'width' | 'height'>,
  labels: readonly Box[],
  boxes: readonly Box[],
): Box {
  const places = partsOf(points)
    .toSorted((one, other) => other.width + other.height - one.width - one.height)
    .flatMap(({ x, y, width, height }) =>
      [0.5, 0.25, 0.75].map((share) => ({
        ...size,
        x: Math.max(0, x + width * share - size.width / 2),
        y: y + height * share - size.height / 2,
      })),
    );
  const free = (...covered: readonly Box[]): Box | undefined =>
    places.find((place) => !covered.some((box) => overlap(box, place, 1)));
  return free(...labels, ...boxes) ?? free(...labels) ?? { ...size, x: 0, y: 0 };
}

/** Returns the part of a line outside the box in which it begins. */
function outside(points: readonly Point[], box: Box): readonly Point[] {
  const within = ({ x, y }: Point): Point => ({
    x: Math.max(box.x, Math.min(box.x + box.width, x)),
    y: Math.max(box.y, Math.min(box.y + box.height, y)),
  });
  const first = points.findIndex((point) => Math.hypot(point.x - within(point).x, point.y - within(point).y) > 0.01);
  const [start] = points.slice(first);
  return first < 0 || start === undefined ? points : [within(start), ...points.slice(first)];
}
