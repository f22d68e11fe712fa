import type { Drawing } from './drawing.ts';

/** The drawings of charts by their ids, or why there are none, or not all. */
export interface LaidOut {
  readonly drawings: Readonly<Record<string, Drawing>> | null;
  readonly problem: string | null;
}
