import { type ReadonlySignal, signal } from '@preact/signals';
import { played, type Speed, usualSpeed } from '../../fold/playing.ts';
import type { TimeAxis } from '../../fold/time-axis.ts';
import type { Inspector } from '../../ui-state/inspector.ts';

export interface Player {
  readonly isPlaying: ReadonlySignal<boolean>;
  /** What was chosen; null is the usual one. */
  readonly chosenSpeed: ReadonlySignal<Speed | null>;
  choose(speed: Speed): void;
  toggle(): void;
  stop(): void;
}

/** Moves the cursor as time went by in the run, a frame at a time. While it is paused nothing runs. */
export function createPlayer({ view, cursor, moveTo }: Inspector, axisNow: () => TimeAxis): Player {
  const isPlaying = signal(false);
  const chosenSpeed = signal<Speed | null>(null);
  let frame = 0;
  let shownAt = 0;
  let place = 0;
  /** Where it moved the cursor itself. Elsewhere, somebody else did, and it goes on from there. */
  let left = -1;

  function stop(): void {
    cancelAnimationFrame(frame);
    isPlaying.value = false;
  }

  function show(nowMs: number): void {
    const at = view.peek()?.at ?? 0;
    const axis = axisNow();
    if (at !== left) place = axis.placeOf(at);
    const next = played(axis, place, Math.min(250, nowMs - shownAt), chosenSpeed.peek() ?? usualSpeed(axis.end));
    shownAt = nowMs;
    place = next.place;
    left = next.seq;
    if (next.isOver) {
      end();
      return;
    }
    if (next.seq !== at) moveTo(next.seq);
    frame = requestAnimationFrame(show);
  }

  /** A run that goes on is followed from here. */
  function end(): void {
    stop();
    if (view.peek()?.run.live) cursor.value = null;
    else moveTo(Number.MAX_SAFE_INTEGER);
  }

  function start(): void {
    const shown = view.peek();
    if (shown === null) return;
    if (shown.at >= shown.count - 1) moveTo(0);
    left = -1;
    shownAt = performance.now();
    isPlaying.value = true;
    frame = requestAnimationFrame(show);
  }

  return {
    ...{ isPlaying, chosenSpeed, stop },
    choose: (speed) => {
      chosenSpeed.value = speed;
    },
    toggle: () => (isPlaying.peek() ? stop() : start()),
  };
}
