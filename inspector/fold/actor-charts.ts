import type { RunCharts } from '../../src/inspection/wire.ts';
import type { RunFold } from './run-fold.ts';

const cache = new WeakMap<RunCharts, { readonly key: string; readonly charts: RunCharts }>();

/** Returns a system's charts with a copy of a machine's chart for each of its actors that run at the same time. Those of a run stay as they are. */
export function chartsOfActors(charts: RunCharts, copies: RunFold['charts']): RunCharts {
  const key = JSON.stringify([...copies].map(([id, { of }]) => [id, of]));
  const cached = cache.get(charts);
  if (cached?.key === key) return cached.charts;
  const known = new Map(charts.charts.map((chart) => [chart.id, chart]));
  const own = [...copies].flatMap(([id, { of }]) => {
    const chart = known.get(of);
    return chart === undefined ? [] : [{ of, chart: { ...chart, id } }];
  });
  const invoked = Object.entries(charts.invoked).map(([src, id]) => [
    src,
    own.find(({ of }) => of === id)?.chart.id ?? id,
  ]);
  const shown =
    own.length === 0 ? charts : { charts: own.map(({ chart }) => chart), invoked: Object.fromEntries(invoked) };
  cache.set(charts, { key, charts: shown });
  return shown;
}
