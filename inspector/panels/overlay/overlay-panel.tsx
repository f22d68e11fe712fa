import type { PanelProps } from '../panel-props.ts';

export function OverlayPanel(_: PanelProps) {
  return <p>…</p>;
}
