import type { Chart } from '../../src/engine/charts/chart.ts';
import {
  isRecorded,
  transitionFinder,
  type TakenTransition as WayOfChart,
} from '../../src/engine/charts/taken-transitions.ts';
import type { TransitionLog } from './transition-log.ts';

/** Which transitions of charts were taken: their places, by chart. */
export interface Coverage {
  readonly taken: Readonly<Record<string, ReadonlySet<number>>>;
  readonly neverTaken: Readonly<Record<string, ReadonlySet<number>>>;
  readonly takenCount: number;
  /** The number of transitions a journal records. */
  readonly all: number;
}

/** Over runs on the same charts, each up to an entry. Costs as much as they have different ways. */
export function coverageOf(
  charts: readonly Chart[],
  runs: readonly { readonly transitions: TransitionLog; readonly until: number }[],
): Coverage {
  const ways = chartWaysOf(charts);
  const taken: Record<string, Set<number>> = {};
  const neverTaken: Record<string, Set<number>> = {};
  for (const { id } of charts) taken[id] = new Set();
  for (const { transitions, until } of runs)
    for (const way of transitions.ways) {
      const place = (way.seqs[0] ?? Number.POSITIVE_INFINITY) <= until ? ways.placeOf(way) : null;
      if (place !== null) taken[way.machine]?.add(place);
    }
  let [takenCount, all] = [0, 0];
  for (const { id, transitions } of charts) {
    const told = transitions.flatMap((transition, place) => (isRecorded(transition) ? [place] : []));
    neverTaken[id] = new Set(told.filter((place) => !taken[id]?.has(place)));
    all += told.length;
    takenCount += told.length - neverTaken[id].size;
  }
  return { taken, neverTaken, takenCount, all };
}

/** A transition as the journal names it. */
interface Way extends WayOfChart {
  readonly machine: string;
}

/** Maps recorded transitions to transitions of the charts. */
interface ChartWays {
  /** Its index in `Chart.transitions` of the machine's chart; null if the chart has no such transition. */
  placeOf(way: Way): number | null;
}

const known = new WeakMap<readonly Chart[], ChartWays>();

/** Cached per list of charts; each transition is resolved once. */
export function chartWaysOf(charts: readonly Chart[]): ChartWays {
  const there = known.get(charts) ?? createChartWays(charts);
  known.set(charts, there);
  return there;
}

function createChartWays(charts: readonly Chart[]): ChartWays {
  const byId = new Map(charts.map((chart) => [chart.id, transitionFinder(chart)]));
  const found = new WeakMap<Way, number | null>();
  return {
    placeOf(way) {
      const there = found.get(way);
      if (there !== undefined) return there;
      const place = byId.get(way.machine)?.(way) ?? null;
      found.set(way, place);
      return place;
    },
  };
}
