import { signal } from '@preact/signals';
import type { ChartSelection } from '../fold/selection.ts';

/** What is selected in the chart. */
export const chartSelection = signal<ChartSelection | null>(null);
