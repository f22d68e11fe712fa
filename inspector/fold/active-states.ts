import type { ChartState } from '../../src/diagram/chart.ts';
import { type OpenChart, outwards } from './chart-book.ts';

/**
 * The states that are active where a machine stands at these targets: those entered with each, and all around them. Of a parallel
 * state, where it is told of one region only, all states of the others may be active, and are given.
 */
export function activeStates(chart: OpenChart, targets: readonly string[]): ReadonlySet<ChartState> {
  const active = new Set<ChartState>();
  const roots = targets.length > 0 ? targets : chart.root === undefined ? [] : [chart.root.id];
  for (const target of roots) {
    for (const state of outwards(chart, target)) active.add(state);
    enter(chart, target, active);
  }
  for (const state of [...active])
    if (state.type === 'parallel')
      for (const region of chart.childrenOf(state.id)) if (!active.has(region)) addAll(chart, region, active);
  return active;
}

/** Whether nothing can happen in the machine any more. */
export function isOver(chart: OpenChart, active: ReadonlySet<ChartState>): boolean {
  return [...active].some(({ type, parent }) => type === 'final' && parent === chart.root?.id);
}

function enter(chart: OpenChart, id: string, active: Set<ChartState>): void {
  const state = chart.state(id);
  if (state === undefined) return;
  active.add(state);
  const below = chart.childrenOf(id).filter(({ type }) => type !== 'history');
  const entered = state.type === 'parallel' ? below : below.filter((child) => child.id === state.initial);
  for (const child of entered) enter(chart, child.id, active);
}

function addAll(chart: OpenChart, state: ChartState, active: Set<ChartState>): void {
  active.add(state);
  for (const child of chart.childrenOf(state.id)) addAll(chart, child, active);
}
