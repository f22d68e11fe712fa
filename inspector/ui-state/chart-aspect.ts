import { isChartFull } from './layout.ts';
import { isNarrow, isPhone } from './media.ts';

/** The approximate ratio of width to height of the space for a chart: on a phone, in place of the trace, or above it. */
export const chartAspect = (): number => (isPhone.value ? 0.6 : isNarrow.value || isChartFull.value ? 1.5 : 2.7);
