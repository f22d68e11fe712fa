import type { PanelProps } from '../panel-props.ts';

export function OutputPanel(_: PanelProps) {
  return <p>…</p>;
}
