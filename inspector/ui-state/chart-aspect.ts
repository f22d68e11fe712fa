import { isChartFull } from './layout.ts';
import { isNarrow, isPhone } from './media.ts';

/** The width to height of the space for a chart, roughly: on a phone, above the trace, or in its place. */
export const chartAspect = (): number => (isPhone.value ? 0.6 : isNarrow.value || isChartFull.value ? 1.5 : 2.7);
