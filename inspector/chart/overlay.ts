import type { Place } from '../fold/marks.ts';
import { ownOf } from './own-of.ts';

/** What is laid over a state: a number to show, and how much that is, from 0 to 1. */
export interface HeatMark {
  readonly heat: number;
  readonly text: string;
  /** How the state stands, for those who hear the chart; left out: whether it is active. */
  readonly words?: string;
}

/** By chart, then by state: two charts may have a state of one name. */
export type Overlay = Readonly<Record<string, ReadonlyMap<string, HeatMark>>>;

export function heatMark(overlay: Overlay | null, { chartId, stateId }: Place): HeatMark | null {
  return overlay === null ? null : (ownOf(overlay, chartId)?.get(stateId) ?? null);
}

/** How a transition is called among those never taken. */
export function transitionKey(chartId: string, transition: number): string {
  return `${chartId} ${transition}`;
}
