import type { ELK } from 'elkjs/lib/elk-api.js';
import type { ChartState } from '../../src/engine/charts/chart.ts';
import { type Direction, elkGraph, type Manner } from './elk-graph.ts';
import { fitScore } from './fit-score.ts';
import { type LaidState, readLaid } from './laid-state.ts';
import type { Plan } from './layout-plan.ts';
import { rowLayoutOf } from './row-layout.ts';
import { shelvedState } from './row-layout-state.ts';
import type { Head } from './state-box.ts';

const INSET = { scale: 0.4, gap: 6 } as const;
const MANY_CHILDREN = 5;
/** Lines a box, at most, on shelves. */
const MOST_LINES = 1.7;
/** So many of the most compact arrangements are tried. */
const SHELVES = 12;

type LayState = (state: ChartState, exits: Direction) => Promise<LaidState>;

/** How the states of a plan are laid out, each once: the insides of all but the chart in one aspect, the chart's own in another. */
export function createRooms(plan: Plan, elk: Pick<ELK, 'layout'>, aspect: number, rootAspect: number): LayState {
  const done = new Map<string, Promise<LaidState>>();
  const lay: LayState = (state, exits) => {
    const key = `${exits} ${state.id}`;
    const known = done.get(key) ?? (plan.childrenOf(state.id).length === 0 ? layLeaf(state) : layInner(state, exits));
    done.set(key, known);
    return known;
  };
  const layLeaf = async (state: ChartState): Promise<LaidState> => leafOf(state, plan);
  const layInner = async (state: ChartState, exits: Direction): Promise<LaidState> => {
    const wished = state === plan.root ? rootAspect : aspect;
    let best = await layOnShelves(state, exits, wished);
    if (best !== null) return best;
    for (const manner of mannersOf(plan, state, exits, wished)) {
      // In broken rows elk fails on some graphs: there are other manners.
      const laid = await (manner.wraps === null ? layIn(state, manner) : layIn(state, manner).catch(() => null));
      if (laid === null) continue;
      if (best === null || fitScore(laid, wished) < fitScore(best, wished)) best = laid;
    }
    return best as LaidState;
  };
  /** Boxes in rows, for a state of several that are few and large: its lines are found one by one. */
  const layOnShelves = async (state: ChartState, exits: Direction, wished: number): Promise<LaidState | null> => {
    const children = plan.childrenOf(state.id);
    const pieces = plan.pieces.get(state.id) ?? [];
    if (plan.isLarge || pieces.length > children.length * MOST_LINES) return null;
    const rooms: LaidState[] = [];
    for (const child of children) rooms.push(await lay(child, 'RIGHT'));
    let best: LaidState | null = null;
    let least = Number.POSITIVE_INFINITY;
    for (const shelves of rowLayoutOf(rooms, wished).slice(0, SHELVES)) {
      if (fitScore(shelves, wished) >= least) break;
      const head = plan.headOf(state, state === plan.root ? 0 : shelves.width + 32);
      const laid = shelvedState(state, head, rooms, pieces, shelves, exits);
      if (laid === null) continue;
      const score = fitScore(laid, wished) + laid.cost;
      if (score < least) {
        least = score;
        best = laid;
      }
    }
    return best;
  };
  const layIn = async (state: ChartState, manner: Manner): Promise<LaidState | null> => {
    const rooms: LaidState[] = [];
    for (const child of plan.childrenOf(state.id)) rooms.push(await lay(child, manner.direction));
    const pieces = plan.pieces.get(state.id) ?? [];
    const isRoot = state === plan.root;
    const attempt = async (head: Head): Promise<LaidState> =>
      readLaid(state, head, rooms, pieces, await elk.layout(elkGraph(state.id, rooms, pieces, head, manner)));
    const first = plan.headOf(state, isRoot ? 0 : widthOfRooms(rooms));
    const laid = await attempt(first);
    // Broken rows may lose lines that lead back.
    if (manner.wraps !== null && [...laid.lines.values()].some(({ points }) => points.length < 2)) return null;
    // The head of a box as wide as this may need fewer rows, or more.
    const head = plan.headOf(state, laid.width);
    return head.height === first.height && head.width <= laid.width
      ? { ...laid, head }
      : { ...(await attempt(head)), head };
  };
  return lay;
}

const widthOfRooms = (rooms: readonly LaidState[]): number => Math.max(...rooms.map(({ width }) => width)) + 32;

function mannersOf(plan: Plan, { id }: ChartState, exits: Direction, aspect: number): readonly Manner[] {
  if (plan.isLarge) return [{ direction: exits, exits, wraps: null, aspect }];
  const wraps = plan.childrenOf(id).length >= MANY_CHILDREN ? [null, 0.5, 1, 2] : [null];
  return (['RIGHT', 'DOWN'] as const).flatMap((direction) =>
    wraps.map((wrap): Manner => ({ direction, exits, wraps: wrap, aspect })),
  );
}

function leafOf(state: ChartState, plan: Plan): LaidState {
  const inset = plan.insetOf(state);
  const none = { state, rooms: [], lines: new Map(), doors: [], isFixed: false } as const;
  if (inset === null) {
    const head = plan.headOf(state, 0);
    return { ...none, id: state.id, width: head.width, height: head.height, head, inset: null };
  }
  const size = { width: inset.width * INSET.scale, height: inset.height * INSET.scale };
  const head = plan.headOf(state, size.width + 2 * INSET.gap);
  const x = (head.width - size.width) / 2;
  return {
    ...none,
    id: state.id,
    width: head.width,
    height: head.height + size.height + INSET.gap,
    head,
    inset: { chartId: inset.chartId, scale: INSET.scale, x, y: head.height },
  };
}
