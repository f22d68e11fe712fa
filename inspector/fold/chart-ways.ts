import type { Chart } from '../../src/engine/charts/chart.ts';
import { transitionFinder, type TakenTransition as WayOfChart } from '../../src/engine/charts/taken-transitions.ts';

/** A way as the journal names it. */
interface Way extends WayOfChart {
  readonly machine: string;
}

/** Which transition of a chart each way of a journal is. */
export interface ChartWays {
  /** Its place in `Chart.transitions` of the chart that is called as its machine; null where the chart has no such transition. */
  placeOf(way: Way): number | null;
}

const known = new WeakMap<readonly Chart[], ChartWays>();

/** The same for the same list of charts. A way costs one look into a table, after the first time. */
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
