import type { PanelProps } from '../panel.tsx';
import { StoryColumn } from '../story/story-column.tsx';

/** The run as one tree, which is also its timeline. */
export function Trace(props: PanelProps) {
  return <StoryColumn {...props} />;
}
