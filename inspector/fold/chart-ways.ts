import type { Chart } from '../../src/diagram/chart.ts';
import type { TakenWay } from './transition-log.ts';

/** A way as the journal names it. */
type Way = Pick<TakenWay, 'machine' | 'event' | 'source' | 'target' | 'guard'>;

/** Which transition of a chart each way of a journal is. */
export interface ChartWays {
  /** Its place in `Chart.transitions` of the chart that is called as its machine; null where the chart has no such transition. */
  placeOf(way: Way): number | null;
}

type Transition = Chart['transitions'][number];

const known = new WeakMap<readonly Chart[], ChartWays>();

/** The same for the same list of charts. A way costs one look into a table, after the first time. */
export function chartWaysOf(charts: readonly Chart[]): ChartWays {
  const there = known.get(charts) ?? createChartWays(charts);
  known.set(charts, there);
  return there;
}

function createChartWays(charts: readonly Chart[]): ChartWays {
  const bySource = new Map<string, (readonly [place: number, transition: Transition])[]>();
  for (const { id, transitions } of charts)
    for (const [place, transition] of transitions.entries()) {
      const key = `${id} ${transition.source}`;
      bySource.set(key, [...(bySource.get(key) ?? []), [place, transition]]);
    }
  const found = new WeakMap<Way, number | null>();

  function find(way: Way): number | null {
    const fitting = (bySource.get(`${way.machine} ${way.source}`) ?? []).filter(
      ([, { target, guard, event }]) =>
        guard === way.guard && sameIds(target, way.target) && eventFits(event, way.event, way.source),
    );
    // What an event says by its name comes before what fits any event.
    const [place = null] = fitting.find(([, { event }]) => event !== '') ?? fitting[0] ?? [];
    return place;
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

/** Whether an event of XState is the one that a chart names. One that is taken at once goes by whatever event led there. */
function eventFits(named: string, raw: string, source: string): boolean {
  if (named === '' || named === raw || named === '*') return true;
  if (named === 'done') return raw.startsWith('xstate.done.');
  if (named === 'error') return raw.startsWith('xstate.error.');
  if (named.startsWith('after ')) return raw === `xstate.after.${named.slice('after '.length)}.${source}`;
  return named.endsWith('.*') && `${raw}.`.startsWith(named.slice(0, -1));
}

function sameIds(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((id, at) => id === right[at]);
}
