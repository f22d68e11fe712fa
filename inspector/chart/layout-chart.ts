import type { ELK } from 'elkjs/lib/elk-api.js';
import type { Chart } from '../../src/engine/charts/chart.ts';
import type { Drawing } from './drawing.ts';
import { drawingOf } from './drawing-of.ts';
import { fitScore } from './fit-score.ts';
import type { LaidState } from './laid-state.ts';
import { createRooms } from './lay-rooms.ts';
import { planOf } from './layout-plan.ts';
import { normalizeChart } from './normalize-chart.ts';

/** What a chart is drawn into: width to height. */
const PLACE = 1.6;
/** Which proportions its states are to have is found out by trying. */
const ASPECTS = [0.7, 1, 1.3, 1.6, 2, 2.6, 3.5] as const;

export interface Surroundings {
  readonly elk: Pick<ELK, 'layout'>;
  /** What is drawn already, by the names of the actors that are such charts. */
  readonly insets: ReadonlyMap<string, Drawing>;
  /** Width to height, wished for. */
  readonly aspect?: number;
}

/** Lays a chart out: each state by itself, the innermost first, in the manner that fits its place best. */
export async function layoutChart(given: Chart, { elk, insets, aspect = PLACE }: Surroundings): Promise<Drawing> {
  const chart = normalizeChart(given);
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

/** With what the lines in it cost, those in its states too. */
function fullScore(laid: LaidState, aspect: number): number {
  return fitScore(laid, aspect) + linesCost(laid);
}

function linesCost({ rooms, ...laid }: LaidState & { readonly cost?: number }): number {
  return rooms.reduce((sum, room) => sum + linesCost(room.laid), laid.cost ?? 0);
}
