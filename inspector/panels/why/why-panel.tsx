import type { PanelProps } from '../panel-props.ts';

export function WhyPanel(_: PanelProps) {
  return <p>…</p>;
}
