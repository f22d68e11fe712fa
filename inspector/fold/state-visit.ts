import type { Phase } from '../../machines/contracts/phase.ts';
import type { RunCharts } from '../../src/inspection/wire.ts';
import type { StateRef } from './chart-copies.ts';
import { chartIndexOf } from './chart-index.ts';
import type { RunFold } from './run-fold.ts';
import { type ChartSelection, type Selection, selectionOf } from './selection.ts';
import { firstIndexWhere, lastStartedBy } from './sorted.ts';
import type { PhaseSpan } from './spans.ts';
import type { MachinePosition, RecordedTransition, TransitionLog } from './transition-log.ts';

/** The visits of a state, in order of time. */
export function visitsOf(
  log: TransitionLog,
  charts: RunCharts,
  { chartId, stateId }: StateRef,
  count: number,
): readonly Selection[] {
  const chart = chartIndexOf(charts).chart(chartId);
  const positions = log.positionsOf(chartId);
  const isIn = positions.map(({ targets }) => chart?.entered(targets).active.has(stateId) === true);
  return positions.flatMap(({ since: from }, first) => {
    if (isIn[first] !== true || isIn[first - 1] === true) return [];
    const next = isIn.indexOf(false, first);
    const to = (positions[next]?.since ?? count) - 1;
    return [{ kind: 'state' as const, from, to: Math.max(from, to), stateId }];
  });
}

/** The latest visit of a state up to an entry, or else the first after it; null if it was never active. */
export function visitOf(
  log: TransitionLog,
  charts: RunCharts,
  state: StateRef,
  { at, count }: { readonly at: number; readonly count: number },
): Selection | null {
  const visits = visitsOf(log, charts, state, count);
  return visits.findLast(({ from }) => from <= at) ?? visits[0] ?? null;
}

/** The entries at which a state was entered or left, or at which one of the transitions was taken. */
export function entriesOfSelection(
  log: TransitionLog,
  charts: RunCharts,
  selected: ChartSelection,
): ReadonlySet<number> {
  if (selected.kind === 'state') {
    const visits = visitsOf(log, charts, selected, Number.POSITIVE_INFINITY);
    return new Set(visits.flatMap(({ from, to }) => (Number.isFinite(to) ? [from, to + 1] : [from])));
  }
  const chart = chartIndexOf(charts).chart(selected.chartId);
  const isSelected = (one: RecordedTransition): boolean =>
    one.machine === selected.chartId && selected.transitions.includes(chart?.indexOf(one) ?? -1);
  return new Set(log.distinct.filter(isSelected).flatMap(({ seqs }) => seqs));
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

/** Returns the latest visit of a phase, up to an entry, that called something; else the latest one, or the first after the entry. */
export function phaseVisit({ spans }: RunFold, phase: Phase, at: number, count: number): Selection | null {
  const visits = spans.phases.filter((span) => span.phase === phase);
  const before = visits.filter(({ from }) => from <= at);
  const isBusy = ({ from, to }: PhaseSpan): boolean => {
    const last = lastStartedBy(spans.calls, to ?? count - 1);
    return last !== undefined && last.from >= from;
  };
  const visit = before.findLast(isBusy) ?? before.at(-1) ?? visits[0];
  return visit === undefined ? null : selectionOf('phase', visit, count);
}
