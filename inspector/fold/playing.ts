import type { TimeAxis } from './time-axis.ts';

/** Drawn time a second of the viewer's, in seconds. */
export const SPEEDS = [0.01, 0.05, 0.25, 1, 4, 16] as const;
export type Speed = (typeof SPEEDS)[number];

/** How long playing a whole run takes at its usual speed, about, where that is no faster than it was. */
const USUAL_MS = 20_000;

/** The speed that comes nearest to it: a run of milliseconds is slowed down, a long one plays as it was. */
export function usualSpeed(end: number): Speed {
  const wanted = Math.max(end, 1) / USUAL_MS;
  const awayFrom = (speed: number): number => Math.abs(Math.log(wanted / speed));
  const slow = SPEEDS.filter((speed) => speed <= 1);
  return slow.reduce((best, speed) => (awayFrom(speed) < awayFrom(best) ? speed : best));
}

export interface Played {
  readonly place: number;
  readonly seq: number;
  /** The last entry is reached. */
  readonly isOver: boolean;
}

/** Where playing stands after so many more milliseconds. */
export function played(axis: TimeAxis, place: number, elapsedMs: number, speed: number): Played {
  const next = Math.min(axis.end, place + Math.max(0, elapsedMs) * speed);
  return { place: next, seq: axis.entryAt(next), isOver: next >= axis.end };
}
