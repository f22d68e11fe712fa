import { signal } from '@preact/signals';
import { isNarrow, isPhone } from './media.ts';

/** Whether the chart, in full size, takes the place of the trace. */
export const isChartFull = signal(false);

/** The width to height of the space for a chart, roughly: on a phone, above the trace, or in its place. */
export const chartAspect = (): number => (isPhone.value ? 0.6 : isNarrow.value || isChartFull.value ? 1.5 : 2.7);

/** The two runs on the page Compare, by id; null on other pages. */
export const comparedRuns = signal<readonly [string, string] | null>(null);

/** Shows the chart in place of the trace, or the trace again. */
export function toggleChart(): void {
  isChartFull.value = !isChartFull.value;
}
