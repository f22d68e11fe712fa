import type { TimeLine } from './time-line.ts';

/** What an entry is long on an axis of entries: as if it were so many milliseconds. */
const ENTRY_LENGTH = 50;

/** Where entries stand from left to right: by their drawn time, or one after the other. */
export interface TimeAxis {
  readonly by: 'time' | 'entry';
  /** The place of the last entry. */
  readonly end: number;
  placeOf(seq: number): number;
  /** The last entry that stands at or before a place; the first where none does. */
  entryAt(place: number): number;
}

/** An axis of what is there now. */
export function timeAxis(timeLine: TimeLine, by: TimeAxis['by']): TimeAxis {
  const last = Math.max(0, timeLine.count - 1);
  return by === 'time'
    ? { by, end: timeLine.drawnMs(last), placeOf: timeLine.drawnMs, entryAt: timeLine.entryAt }
    : {
        by,
        end: last * ENTRY_LENGTH,
        placeOf: (seq) => seq * ENTRY_LENGTH,
        entryAt: (place) => Math.max(0, Math.min(last, Math.floor(place / ENTRY_LENGTH + 1e-6))),
      };
}
