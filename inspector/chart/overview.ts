import { transitionName } from '../fold/chart-words.ts';
import { pluralize } from '../fold/format.ts';
import { excerpt } from '../fold/text.ts';
import { activePath, countText, type KnownMarks, MARGIN } from './chart-picture.tsx';
import type { Box, BoxLine, DrawnEdge, DrawnLevel, DrawnState, Point } from './drawing.ts';
import { BOX, FONT, labelSize, widthOf, wrapped } from './label-text.ts';
import { overlap } from './straight.ts';

/** The length of an arrow from any state, and the smallest box with larger texts, in pixels. */
const [ARROW, WIDE, HIGH] = [20, 140, 90];
const MAX_TEXT = 1.5;

/** Returns a level at a scale at which its texts are unreadable: its outermost states as boxes, and the lines taken between them. */
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
  const labels: Box[] = [];
  const edges = level.edges.flatMap((edge): readonly DrawnEdge[] => {
    const way = index.transitions[edge.transitions.find((at) => taken.has(at)) ?? -1];
    const [source, target] = [way?.source, way?.target[0]].map((end = '') =>
      states.find(({ id }) => index.isInside(end, id)),
    );
    const [before, end] = edge.points.slice(-2).map(scaled);
    if (!before || !end || !way || !target || source === target) return [];
    // Without ends, the label has only what takes the line.
    const ends = { source: null, target: null };
    if (source === undefined) {
      const tip = before.y === end.y ? { ...end, x: target.x } : { ...end, y: target.y };
      const start = before.y === end.y ? { ...tip, x: tip.x - ARROW } : { ...tip, y: tip.y - ARROW };
      return [{ ...edge, ...ends, points: [start, tip], label: null }];
    }
    const points = outside(outside(edge.points.map(scaled), source).toReversed(), target).toReversed();
    const label = labelOn(points, labelSize([`${transitionName(way)} ×9`]), labels, states);
    labels.push(label);
    return [{ ...edge, ...ends, points, label }];
  });
  const size = { width: level.width * scale, height: level.height * scale };
  return { level: { lines: [], stubs: [], states, edges, ...size }, scale: textScale };
}

/** What fits into a box: its active state or the number of its states, and the transitions from any state into it. */
function linesIn({ id, width, height }: DrawnState, known: KnownMarks): readonly BoxLine[] {
  const { index, taken } = known;
  const inner = index.childrenOf(id).length;
  const rows = inner === 0 ? 0 : Math.max(0, Math.floor((height - BOX.head - BOX.below) / BOX.line));
  const most = Math.floor((width - 2 * BOX.side) / widthOf('n', FONT.label));
  const ways = index.transitions.flatMap((way, at) =>
    way.source === index.id && way.target.some((one) => index.isInside(one, id))
      ? [transitionName(way), countText(taken.get(at) ?? 0), 'from any state'].filter(Boolean).join(' ')
      : [],
  );
  const texts = [activePath(id, known) || pluralize(inner, 'state'), ...ways];
  const lines = rows < 2 ? [texts.join(' · ')] : texts.flatMap((text) => wrapped(text, most));
  return lines.slice(0, rows).map((text, at) => ({
    kind: at === 0 && rows > 1 ? 'inside' : 'part',
    text: excerpt(text, most),
    transitions: [],
  }));
}

/** Returns a place for a label on a line, if possible on its longest part, that covers no other label and, if possible, no box. */
function labelOn(
  points: readonly Point[],
  size: Pick<Box, 'width' | 'height'>,
  labels: readonly Box[],
  boxes: readonly Box[],
): Box {
  const parts = points.slice(1).map((to, at) => [points[at] ?? to, to] as const);
  const lengthOf = ([from, to]: (typeof parts)[number]): number => Math.hypot(to.x - from.x, to.y - from.y);
  const places = parts
    .sort((one, other) => lengthOf(other) - lengthOf(one))
    .flatMap(([from, to]) =>
      [0.5, 0.25, 0.75].map((share) => ({
        ...size,
        x: Math.max(0, from.x + (to.x - from.x) * share - size.width / 2),
        y: from.y + (to.y - from.y) * share - size.height / 2,
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
