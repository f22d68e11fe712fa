import type { Inspector, RunView } from '../shown/inspector.ts';

export interface PanelProps {
  readonly inspector: Inspector;
  readonly view: RunView;
}
