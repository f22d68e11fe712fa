import type { PanelProps } from '../panel-props.ts';

export function Timeline(_: PanelProps) {
  return <p>…</p>;
}
