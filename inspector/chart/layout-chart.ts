import type { ELK } from 'elkjs/lib/elk-api.js';
import type { Chart, ChartState } from '../../src/diagram/chart.ts';
import { type Edge, edgesOf } from '../../src/diagram/edges.ts';
import { createView, type View } from '../../src/diagram/view.ts';
import type { Drawing } from './drawing.ts';
import { drawingOf } from './drawing-of.ts';
import { type Direction, elkGraph, type Manner, type Piece } from './elk-graph.ts';
import { type LaidState, readLaid } from './laid-state.ts';
import { piecesOf } from './pieces.ts';
import { shelvedState } from './shelved-state.ts';
import { shelvesOf } from './shelves.ts';
import { NOWHERE, soundChart } from './sound-chart.ts';
import { type Head, headOf } from './state-box.ts';

/** What a chart is drawn into: width to height. */
const PLACE = 1.6;
/** Which proportions its states are to have is found out by trying. */
const ASPECTS = [0.7, 1, 1.3, 1.6, 2, 2.6, 3.5] as const;
const INSET = { scale: 0.4, gap: 6 } as const;
/** Larger charts are laid out in one manner only. */
const MANY_STATES = 60;
const MANY_CHILDREN = 5;
/** Lines a box, at most, on shelves. */
const MOST_LINES = 1.7;
/** So many of the most compact arrangements are tried. */
const SHELVES = 12;

export interface Surroundings {
  readonly elk: Pick<ELK, 'layout'>;
  /** What is drawn already, by the names of the actors that are such charts. */
  readonly insets: ReadonlyMap<string, Drawing>;
  /** Width to height, wished for. */
  readonly aspect?: number;
}

/** Lays a chart out: each state by itself, the innermost first, in the manner that fits its place best. */
export async function layoutChart(given: Chart, { elk, insets, aspect = PLACE }: Surroundings): Promise<Drawing> {
  const chart = soundChart(given);
  const plan = planOf(chart, insets);
  const isFlat = chart.states.every(({ parent }) => parent === null || parent === chart.id);
  const aspects = isFlat || plan.isLarge ? [aspect] : ASPECTS;
  let best: LaidState | null = null;
  for (const inner of aspects) {
    const laid = await createRooms(plan, elk, inner, aspect)(plan.root, 'RIGHT');
    if (best === null || fullScore(laid, aspect) < fullScore(best, aspect)) best = laid;
  }
  return drawingOf(chart, plan.drawn, best as LaidState);
}

interface Plan {
  readonly root: ChartState;
  readonly view: View;
  readonly drawn: readonly Edge[];
  readonly pieces: ReadonlyMap<string, readonly Piece[]>;
  readonly childrenOf: (id: string) => readonly ChartState[];
  readonly headOf: (state: ChartState, width: number) => Head;
  readonly insetOf: (state: ChartState) => Drawing | null;
  readonly isLarge: boolean;
}

function planOf(chart: Chart, insets: ReadonlyMap<string, Drawing>): Plan {
  const view = createView(chart, Number.POSITIVE_INFINITY);
  const edges = edgesOf(chart, view, { roomy: false });
  const drawn = edges.drawn.filter(({ source }) => source !== NOWHERE);
  const told = edges.told.filter(({ source }) => source !== NOWHERE);
  const children = groupBy(chart.states, ({ parent }) => parent ?? '');
  const chips = groupBy(told, ({ source }) => source);
  const root = chart.states.find(({ id }) => id === chart.id) as ChartState;
  const childrenOf = (id: string): readonly ChartState[] => children.get(id) ?? [];
  const insetOf = ({ invokes }: ChartState): Drawing | null =>
    invokes.map((name) => insets.get(name) ?? null).find((drawing) => drawing !== null) ?? null;
  return {
    root,
    view,
    drawn,
    pieces: piecesOf(drawn, view),
    childrenOf,
    insetOf,
    headOf: (state, width) =>
      headOf(
        {
          state,
          chips: chips.get(state.id) ?? [],
          nameOf: view.nameOf,
          isRoot: state === root,
          isBox: childrenOf(state.id).length > 0 || insetOf(state) !== null,
          hasNote: state.invokes.length > 0 && insetOf(state) === null,
        },
        width,
      ),
    isLarge: chart.states.length > MANY_STATES,
  };
}

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): ReadonlyMap<string, readonly Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item)) ?? [];
    group.push(item);
    groups.set(keyOf(item), group);
  }
  return groups;
}

type LayState = (state: ChartState, exits: Direction) => Promise<LaidState>;

function createRooms(plan: Plan, elk: Pick<ELK, 'layout'>, aspect: number, rootAspect: number): LayState {
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
      const laid = await layIn(state, manner);
      if (laid === null) continue;
      if (best === null || scoreOf(laid, wished) < scoreOf(best, wished)) best = laid;
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
    for (const shelves of shelvesOf(rooms, wished).slice(0, SHELVES)) {
      if (scoreOf(shelves, wished) >= least) break;
      const head = plan.headOf(state, state === plan.root ? 0 : shelves.width + 32);
      const laid = shelvedState(state, head, rooms, pieces, shelves, exits);
      if (laid === null) continue;
      const score = scoreOf(laid, wished) + laid.cost;
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

/** What it takes to show a box in a place of these proportions; lower is better. */
function scoreOf({ width, height }: Pick<LaidState, 'width' | 'height'>, aspect: number): number {
  return Math.max(width / aspect, height) + (width / aspect + height) * 0.1;
}

/** With what the lines in it cost, those in its states too. */
function fullScore(laid: LaidState, aspect: number): number {
  return scoreOf(laid, aspect) + linesCost(laid);
}

function linesCost({ rooms, ...laid }: LaidState & { readonly cost?: number }): number {
  return rooms.reduce((sum, room) => sum + linesCost(room.laid), laid.cost ?? 0);
}
