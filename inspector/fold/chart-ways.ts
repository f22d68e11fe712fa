import type { Chart } from '../../src/diagram/chart.ts';
import { eventFits } from './event-fits.ts';
import { openChart } from './open-chart.ts';
import { sameIds } from './state-tree.ts';
import type { TakenWay } from './transition-log.ts';

/** A way as the journal names it. */
type Way = Pick<TakenWay, 'machine' | 'event' | 'source' | 'target' | 'guard'>;

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
  const byId = new Map(charts.map((chart) => [chart.id, openChart(chart)]));
  const found = new WeakMap<Way, number | null>();

  function find(way: Way): number | null {
    const fitting = (byId.get(way.machine)?.transitionsFrom(way.source) ?? []).filter(
      ({ target, guard, event }) =>
        guard === way.guard && sameIds(target, way.target) && eventFits(event, way.event, way.source),
    );
    // What an event says by its name comes before what fits any event.
    const best = fitting.find(({ event }) => event !== '') ?? fitting[0];
    return best?.place ?? null;
  }

  return {
    placeOf(way) {
      const there = found.get(way);
      if (there !== undefined) return there;
      const place = find(way);
      found.set(way, place);
      return place;
    },
  };
}
