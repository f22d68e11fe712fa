import type { PanelProps } from './panel-props.ts';

/** The chart of the run, marked as it stands at the cursor. */
export function ChartPlace(_: PanelProps) {
  return <p>…</p>;
}
