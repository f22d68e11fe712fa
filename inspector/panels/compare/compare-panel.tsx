import type { PanelProps } from '../panel-props.ts';

export function ComparePanel(_: PanelProps) {
  return <p>…</p>;
}
