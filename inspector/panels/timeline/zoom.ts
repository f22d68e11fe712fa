import type { Signal } from '@preact/signals';
import { type TimeAxis, type TimeWindow, zoomed } from '../../fold/time-axis.ts';

export interface Zoom {
  /** Multiplies its length, around the cursor. */
  by(times: number): void;
  all(): void;
}

export function zoomOf(window: Signal<TimeWindow | null>, axisNow: () => TimeAxis, cursor: () => number): Zoom {
  return {
    by(times) {
      const axis = axisNow();
      window.value = zoomed(window.peek(), axis.end, times, axis.positionOf(cursor()));
    },
    all() {
      window.value = null;
    },
  };
}

export function zoomByKey(event: KeyboardEvent, zoom: Zoom): void {
  const acts: Readonly<Record<string, () => void>> = {
    '+': () => zoom.by(0.5),
    '=': () => zoom.by(0.5),
    '-': () => zoom.by(2),
    '0': () => zoom.all(),
  };
  const act = acts[event.key];
  if (act === undefined || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  act();
}
