import type { KnownMarks } from './chart-picture.tsx';
import type { Box, DrawnLevel, Point } from './drawing.ts';
import { BOX } from './label-text.ts';

/** Returns a level at a scale at which its texts are unreadable: its outermost states as boxes, and the lines taken between them. */
export function overviewOf(level: DrawnLevel, { index, active, taken }: KnownMarks, scale: number): DrawnLevel {
  const scaled = <Place extends Point>(place: Place): Place => ({ ...place, x: place.x * scale, y: place.y * scale });
  const states = level.states
    .filter(({ id }) => !level.states.some((around) => around.id !== id && index.isInside(id, around.id)))
    .map((state) => {
      const [width, height] = [state.width * scale, state.height * scale];
      const isRoomy = state.isOpen && active.has(state.id) && height >= BOX.head + BOX.line + BOX.below;
      const lines = isRoomy ? [{ kind: 'inside', text: '', transitions: [] } as const] : [];
      return { ...scaled(state), width, height, isOpen: false, lines };
    });
  const edges = level.edges.flatMap((edge) => {
    const way = index.transitions[edge.transitions.find((at) => taken.has(at)) ?? -1];
    const [source, target] = [way?.source, way?.target[0]].map((end = '') =>
      states.find(({ id }) => index.isInside(end, id)),
    );
    if (edge.points.length === 0 || !source || !target || source === target) return [];
    const forth = outside(edge.points.map(scaled), source);
    const points = outside(forth.toReversed(), target).toReversed();
    return [{ ...edge, source: source.id, target: target.id, points, label: null }];
  });
  const [width, height] = [level.width * scale, level.height * scale];
  return { lines: [], stubs: [], states, edges, width, height };
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
