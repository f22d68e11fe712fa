import type { Phase } from '../../machines/contracts/phase.ts';
import type { RunCharts } from '../../src/inspection/wire.ts';
import type { StateRef } from './chart-copies.ts';
import { chartIndexOf } from './chart-index.ts';
import type { Selection } from './selection.ts';
import { firstIndexWhere } from './sorted.ts';
import type { MachinePosition, TransitionLog } from './transition-log.ts';

/** The latest visit of a state up to an entry, or else the first after it; null if it was never active. */
export function visitOf(
  log: TransitionLog,
  charts: RunCharts,
  { chartId, stateId }: StateRef,
  { at, count }: { readonly at: number; readonly count: number },
): Selection | null {
  const chart = chartIndexOf(charts).chart(chartId);
  if (chart === undefined) return null;
  const positions = log.positionsOf(chartId);
  const isIn = (index: number): boolean => {
    const position = positions[index];
    return position !== undefined && chart.entered(position.targets).active.has(stateId);
  };
  const visits = [...positions.keys()].filter(isIn);
  const last = visits.findLast((index) => (positions[index]?.since ?? 0) <= at) ?? visits[0];
  if (last === undefined) return null;
  let [first, end] = [last, last];
  while (isIn(first - 1)) first -= 1;
  while (isIn(end + 1)) end += 1;
  const from = positions[first]?.since ?? 0;
  const to = (positions[end + 1]?.since ?? count) - 1;
  return { kind: 'state', from, to: Math.max(from, to), stateId };
}

/**
 * The last entry of a selection in the state with most of its entries: the final entry may already have left that state. A phase whose
 * reply is already known is entered and left within one step, before its first entry. For such a phase, this is the last entry in its own
 * state, which is before the selection. A visit of a state ends in it, whichever state inside it was active for longer.
 */
export function lastEntryInside(
  log: TransitionLog,
  chartId: string,
  { kind, from, to }: Selection,
  phase: Phase | null = null,
): number {
  if (kind === 'state') return to;
  const positions = log.positionsOf(chartId);
  const first = Math.max(0, firstIndexWhere(positions, ({ since }) => since > from) - 1);
  let most = { entries: 0, last: to, index: first };
  for (let index = first; (positions[index]?.since ?? to + 1) <= to; index += 1) {
    const last = Math.min(to, (positions[index + 1]?.since ?? to + 1) - 1);
    const entries = last - Math.max(from, positions[index]?.since ?? from) + 1;
    if (entries > most.entries) most = { entries, last, index };
  }
  if (phase === null || isIn(phase, positions[most.index])) return most.last;
  const visit = positions.slice(0, most.index).findLastIndex((position) => isIn(phase, position));
  return visit === -1 ? most.last : (positions[visit + 1]?.since ?? most.last + 1) - 1;
}

const isIn = (phase: Phase, position: MachinePosition | undefined): boolean =>
  position?.targets.some((id) => id === phase || id.includes(`.${phase}.`)) === true;
