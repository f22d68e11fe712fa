import type { PanelProps } from '../panel-props.ts';

export function ContextPanel(_: PanelProps) {
  return <p>…</p>;
}
