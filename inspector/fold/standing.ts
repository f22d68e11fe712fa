import type { RunCharts } from '../../src/inspection/wire.ts';
import { type ChartIndex, chartIndexOf, type Stand } from './chart-index.ts';
import { lastUpTo } from './sorted.ts';
import type { MachineStanding, TransitionLog } from './transition-log.ts';

/** Where all charts of a run stood at an entry, by the ids of the charts. A chart that nothing ran on then has no active states. */
export interface Standing {
  /** The innermost states with all that are around them, the roots too. */
  readonly active: Readonly<Record<string, ReadonlySet<string>>>;
  readonly leaf: Readonly<Record<string, readonly string[]>>;
  /** The state of another chart that a chart ran inside; null where it ran by itself, or not at all. */
  readonly insideOf: Readonly<Record<string, { readonly chartId: string; readonly stateId: string } | null>>;
}

const NOWHERE: Stand = { leaves: [], active: new Set() };

/** Costs a few searches in sorted lists, however long the run is. */
export function standingAt(transitions: TransitionLog, { charts, invoked }: RunCharts, at: number): Standing {
  const active: Record<string, ReadonlySet<string>> = {};
  const leaf: Record<string, readonly string[]> = {};
  const insideOf: Record<string, { readonly chartId: string; readonly stateId: string } | null> = {};
  const indexes = new Map(charts.map((chart) => [chart.id, chartIndexOf(chart)]));

  const note = (chartId: string, { leaves, active: states }: Stand): void => {
    active[chartId] = states;
    leaf[chartId] = leaves;
    insideOf[chartId] ??= null;
  };

  /** A chart that runs, and what runs inside its active states. */
  function goInto(index: ChartIndex, stand: Stand, since: number): void {
    const chartId = index.chart.id;
    note(chartId, stand);
    for (const stateId of stand.active) {
      for (const name of index.state(stateId)?.invokes ?? []) {
        const inner = indexes.get(invoked[name] ?? '');
        if (inner === undefined || (active[inner.chart.id]?.size ?? 0) > 0) continue;
        const isLeaf = stand.leaves.includes(stateId);
        const { place, from } = innerPlace(transitions, inner, isLeaf ? since : -1, at);
        insideOf[inner.chart.id] = { chartId, stateId };
        goInto(inner, place, from);
      }
    }
  }

  const nested = new Set(Object.values(invoked));
  for (const chart of charts) note(chart.id, NOWHERE);
  for (const [place, chart] of charts.entries()) {
    const stands = transitions.standingAt(chart.id, at);
    if (place > 0 && (stands === undefined || nested.has(chart.id))) continue;
    const index = chartIndexOf(chart);
    goInto(index, index.entered(stands?.targets ?? []), stands?.since ?? 0);
  }
  return { active, leaf, insideOf };
}

/** Where a machine stands that runs inside a state which was entered at `entered`; -1 where that is not known. */
function innerPlace(
  transitions: TransitionLog,
  index: ChartIndex,
  entered: number,
  at: number,
): { readonly place: Stand; readonly from: number } {
  const stands = transitions.standingAt(index.chart.id, at);
  if (stands === undefined || !isOfThisLife(transitions, stands, entered))
    return { place: index.entered([]), from: entered };
  return { place: index.entered(stands.targets), from: stands.since };
}

/**
 * A machine that has not moved since the state around it was entered has just begun; where it last stood was another life of it. But the
 * steps that it takes as it begins are written right before the one that enters the state around it.
 */
function isOfThisLife({ seqs }: TransitionLog, { since, begins }: MachineStanding, entered: number): boolean {
  return since > entered || (begins && lastUpTo(seqs, entered - 1) === since);
}
