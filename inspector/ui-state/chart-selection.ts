import { signal } from '@preact/signals';
import type { ChartSelection } from '../fold/selection.ts';

export const chartSelection = signal<ChartSelection | null>(null);
