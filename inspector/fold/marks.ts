import type { RunCharts } from '../../src/inspection/wire.ts';
import { chartWaysOf } from './coverage.ts';
import { countUpTo } from './sorted.ts';
import { standingAt } from './standing.ts';
import type { TransitionLog } from './transition-log.ts';

/** A state of a chart. */
export interface Place {
  readonly chartId: string;
  readonly stateId: string;
}

/** What a run highlights in the charts at one entry. */
export interface Marks {
  /** The marks sum whole runs: inner charts are highlighted everywhere, and there is no state to follow. */
  readonly isSum?: boolean;
  /** By chart: the states that it is in, ancestors among them. A chart that does not run has no states here. */
  readonly active: Readonly<Record<string, ReadonlySet<string>>>;
  /**
   * By the id of a chart that runs inside a state of another: that state. The chart on top is not here. While `attempt` runs for
   * a step of the action loop: `{ actionLoop: { chartId: 'postChain', stateId: 'action' }, attempt: { chartId: 'actionLoop',
   * stateId: 'actionLoop.classifying' } }`. A drawing inside a state is lit only where this says that it runs there.
   */
  readonly where: Readonly<Record<string, Place>>;
  /** By chart: how often each transition was taken so far, by its place in the chart. */
  readonly taken: Readonly<Record<string, ReadonlyMap<number, number>>>;
  readonly last: LastTransition | null;
}

/** The transition just made. */
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
  const { active, insideOf } = standingAt(transitions, charts, at);
  const ways = chartWaysOf(charts.charts);
  const taken: Record<string, Map<number, number>> = {};
  let last: LastTransition | null = null;
  let newest = -1;
  for (const way of transitions.ways) {
    const times = countUpTo(way.seqs, at);
    if (times === 0) continue;
    const place = ways.placeOf(way);
    if (place !== null) {
      taken[way.machine] ??= new Map();
      const before = taken[way.machine]?.get(place) ?? 0;
      taken[way.machine]?.set(place, before + times);
    }
    const made = way.seqs[times - 1] ?? -1;
    if (made <= newest) continue;
    newest = made;
    last = { chartId: way.machine, transition: place, source: way.source, target: way.target[0] ?? way.source };
  }
  return { active, where: placesIn(insideOf), taken, last };
}

function placesIn(insideOf: Readonly<Record<string, Place | null>>): Record<string, Place> {
  const where: Record<string, Place> = {};
  for (const [chartId, place] of Object.entries(insideOf)) if (place !== null) where[chartId] = place;
  return where;
}
