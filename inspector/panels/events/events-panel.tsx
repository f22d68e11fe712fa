import type { PanelProps } from '../panel-props.ts';

export function EventsPanel(_: PanelProps) {
  return <p>…</p>;
}
