import type { Signal } from '@preact/signals';
import { panned, type TimeAxis, type TimeWindow, windowOf, zoomed } from '../../fold/time-axis.ts';

/** Changes the visible part of the timeline. */
export interface Zoom {
  /** Multiplies its length, around the cursor. */
  by(times: number): void;
  /** Moves it by a share of its length. */
  scroll(share: number): void;
  all(): void;
}

export function zoomOf(window: Signal<TimeWindow | null>, axisNow: () => TimeAxis, cursor: () => number): Zoom {
  return {
    by(times) {
      const axis = axisNow();
      window.value = zoomed(window.peek(), axis.end, times, axis.positionOf(cursor()));
    },
    scroll(share) {
      const { end } = axisNow();
      const { from, to } = windowOf(window.peek(), end);
      window.value = panned(window.peek(), end, share * (to - from));
    },
    all() {
      window.value = null;
    },
  };
}

/** Handles the keys that zoom; `PageUp` and `PageDown` scroll. */
export function zoomByKey(event: KeyboardEvent, zoom: Zoom): void {
  const acts: Readonly<Record<string, () => void>> = {
    '+': () => zoom.by(0.5),
    '=': () => zoom.by(0.5),
    '-': () => zoom.by(2),
    '0': () => zoom.all(),
    PageUp: () => zoom.scroll(-0.8),
    PageDown: () => zoom.scroll(0.8),
  };
  const act = acts[event.key];
  if (act === undefined || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  act();
}
