import type { RunCharts } from '../../src/inspection/wire.ts';
import { type OpenChart, openChart } from './open-chart.ts';

/** The charts of a run, to be asked by their ids. */
export interface ChartBook {
  chart(machine: string): OpenChart | undefined;
  /** The one that the run is on; undefined where there is none. */
  readonly first: OpenChart | undefined;
  readonly all: readonly OpenChart[];
}

const EMPTY: ChartBook = { chart: () => undefined, first: undefined, all: [] };
const known = new WeakMap<RunCharts, ChartBook>();

/** The charts of a run, made ready once. */
export function chartBook(charts: RunCharts | null): ChartBook {
  if (charts === null) return EMPTY;
  const there = known.get(charts);
  if (there !== undefined) return there;
  const all = charts.charts.map(openChart);
  const byId = new Map(all.map((chart) => [chart.id, chart]));
  const book: ChartBook = { chart: (machine) => byId.get(machine), first: all[0], all };
  known.set(charts, book);
  return book;
}
