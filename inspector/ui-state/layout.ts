import { signal } from '@preact/signals';
import type { ChartSelection } from '../fold/selection.ts';

export const chartSelection = signal<ChartSelection | null>(null);

/** Whether the chart, in full size, takes the place of the trace. */
export const isChartFull = signal(false);

/** Whether a wide page shows the chart of a run beside its trace, as an address with `view=both` asks. */
export const isChartBeside = signal(false);

/** Shows the chart in place of the trace, or the trace again. */
export function toggleChart(): void {
  isChartFull.value = !isChartFull.value;
}

/** The two runs on the page Compare, by id; null on other pages. */
export const comparedRuns = signal<readonly [string, string] | null>(null);
