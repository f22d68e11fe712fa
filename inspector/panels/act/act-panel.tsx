import type { PanelProps } from '../panel-props.ts';

export function ActPanel(_: PanelProps) {
  return <p>…</p>;
}
