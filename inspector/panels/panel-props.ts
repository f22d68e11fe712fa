import type { Inspector, RunView } from '../ui-state/inspector.ts';

export interface PanelProps {
  readonly inspector: Inspector;
  readonly view: RunView;
}
