import type { RunCharts } from '../../src/inspection/wire.ts';
import { activeStatesAt } from './active-states.ts';
import { transitionLookup } from './coverage.ts';
import { countUpTo } from './sorted.ts';
import type { TransitionLog } from './transition-log.ts';

/** A state of a chart. */
export interface StateRef {
  readonly chartId: string;
  readonly stateId: string;
}

/** What a run highlights in the charts at one entry. */
export interface Marks {
  /** The marks sum whole runs: inner charts are highlighted everywhere, and there is no state to follow. */
  readonly isSum?: boolean;
  /** Active states by chart, including ancestors. A chart that is not running has none. */
  readonly active: Readonly<Record<string, ReadonlySet<string>>>;
  /**
   * The invoking state of each running inner chart, for example `{ attempt: { chartId: 'actionLoop', stateId:
   * 'actionLoop.classifying' } }`. An inner chart is highlighted only inside this state.
   */
  readonly where: Readonly<Record<string, StateRef>>;
  /** How often each transition was taken so far: by chart, then by index in the chart. */
  readonly taken: Readonly<Record<string, ReadonlyMap<number, number>>>;
  readonly last: LastTransition | null;
}

/** The latest transition. */
interface LastTransition {
  readonly chartId: string;
  /** Its index in the chart; null if unknown, then the ends identify it. */
  readonly transition: number | null;
  readonly source: string;
  /** Equal to the source if it has no target. */
  readonly target: string;
}

/** The marks of a run at an entry: active states, transitions taken so far, and the latest transition. */
export function marksAt(transitions: TransitionLog, charts: RunCharts, at: number): Marks {
  const { active, insideOf } = activeStatesAt(transitions, charts, at);
  const lookup = transitionLookup(charts.charts);
  const taken: Record<string, Map<number, number>> = {};
  let last: LastTransition | null = null;
  let newest = -1;
  for (const transition of transitions.distinct) {
    const times = countUpTo(transition.seqs, at);
    if (times === 0) continue;
    const index = lookup.indexOf(transition);
    if (index !== null) {
      taken[transition.machine] ??= new Map();
      const before = taken[transition.machine]?.get(index) ?? 0;
      taken[transition.machine]?.set(index, before + times);
    }
    const created = transition.seqs[times - 1] ?? -1;
    if (created <= newest) continue;
    newest = created;
    last = {
      chartId: transition.machine,
      transition: index,
      source: transition.source,
      target: transition.target[0] ?? transition.source,
    };
  }
  return { active, where: hostsIn(insideOf), taken, last };
}

function hostsIn(insideOf: Readonly<Record<string, StateRef | null>>): Record<string, StateRef> {
  const where: Record<string, StateRef> = {};
  for (const [chartId, index] of Object.entries(insideOf)) if (index !== null) where[chartId] = index;
  return where;
}
