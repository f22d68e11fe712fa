import type { Marks } from '../fold/marks.ts';
import type { Choice } from './choices.ts';
import type { Overlay } from './overlay.ts';

/** What is shown of a chart, as a picture or in rows. */
export interface ChartProps {
  /** The chart on top. */
  readonly root: string;
  readonly marks: Marks;
  readonly chosen?: Choice | null;
  /** What is to come into sight: each time that it is another object. */
  readonly sought?: Choice | null;
  readonly onChoose?: (choice: Choice) => void;
  readonly overlay?: Overlay | null;
  /** As `transitionKey` names them. */
  readonly neverTaken?: ReadonlySet<string>;
}

export const NONE_NEVER_TAKEN: ReadonlySet<string> = new Set();
