import type { PanelProps } from '../panel.tsx';

/** A small chart of the six phases that follows the selection. */
export function ChartMap(_props: PanelProps) {
  return null;
}
