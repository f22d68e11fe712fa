import { type ReadonlySignal, signal } from '@preact/signals';
import { cycleFrom, type Direction, phaseFrom, transitionFrom } from '../../fold/steps.ts';
import { played, type TimeAxis } from '../../fold/time-axis.ts';
import type { Inspector, RunView } from '../../ui-state/inspector.ts';
import type { Key } from '../../ui-state/keys.ts';

export interface Moves {
  entry(to: Direction): void;
  transition(to: Direction): void;
  phase(to: Direction): void;
  cycle(to: Direction): void;
  start(): void;
  /** Moves to the latest entry and follows the run. */
  follow(): void;
}

export function movesOf({ view, cursor, moveTo }: Inspector): Moves {
  const move = (find: (view: RunView) => number): void => {
    const shown = view.peek();
    if (shown !== null) moveTo(find(shown));
  };
  return {
    entry: (to) => move(({ at }) => at + to),
    transition: (to) => move(({ fold, at }) => transitionFrom(fold, at, to)),
    phase: (to) => move(({ fold, at }) => phaseFrom(fold, at, to)),
    cycle: (to) => move(({ fold, at }) => cycleFrom(fold, at, to)),
    start: () => moveTo(0),
    follow: () => {
      cursor.value = null;
    },
  };
}

export function moveKeys(moves: Moves, player: Player): readonly Key[] {
  const key = (name: string, description: string, act: () => void): Key => ({
    keys: [name],
    description,
    group: 'Move',
    act,
  });
  return [
    key('ArrowLeft', 'One entry back', () => moves.entry(-1)),
    key('ArrowRight', 'One entry forward', () => moves.entry(1)),
    key('Shift+ArrowLeft', 'Previous transition', () => moves.transition(-1)),
    key('Shift+ArrowRight', 'Next transition', () => moves.transition(1)),
    key('[', 'Previous phase', () => moves.phase(-1)),
    key(']', 'Next phase', () => moves.phase(1)),
    key('{', 'Previous cycle', () => moves.cycle(-1)),
    key('}', 'Next cycle', () => moves.cycle(1)),
    key('Home', 'First entry', moves.start),
    key('End', 'Latest entry, and follow the run', moves.follow),
    key(' ', 'Play, pause', player.toggle),
    ...TRACK_KEYS.map(([keys, description]): Key => ({ keys, description, group: 'Timeline' })),
  ];
}

const TRACK_KEYS: readonly (readonly [keys: readonly string[], description: string])[] = [
  [['ArrowUp', 'ArrowDown'], 'Choose a lane'],
  [['PageUp', 'PageDown'], 'Previous or next bar of the lane'],
  [['Enter'], 'Select the bar; on a cycle, show its sums'],
  [['r'], 'Start a range at the cursor, and end it'],
  [['Escape'], 'Clear the range'],
  [['+', '-', '0'], 'Zoom in, zoom out, show the whole run'],
];

export interface Player {
  readonly isPlaying: ReadonlySignal<boolean>;
  toggle(): void;
  stop(): void;
}

/** Plays the run back in 20 seconds, one step per frame; idle while paused. */
export function createPlayer({ view, cursor, moveTo }: Inspector, axisNow: () => TimeAxis): Player {
  const isPlaying = signal(false);
  let frame = 0;
  let shownAt = 0;
  let position = 0;
  /** The last position set by playback; if the cursor is elsewhere, playback continues from there. */
  let left = -1;

  function stop(): void {
    cancelAnimationFrame(frame);
    isPlaying.value = false;
  }

  function show(nowMs: number): void {
    const at = view.peek()?.at ?? 0;
    const axis = axisNow();
    if (at !== left) position = axis.positionOf(at);
    const next = played(axis, position, Math.min(250, nowMs - shownAt));
    shownAt = nowMs;
    position = next.position;
    left = next.seq;
    if (next.isOver) {
      end();
      return;
    }
    if (next.seq !== at) moveTo(next.seq);
    frame = requestAnimationFrame(show);
  }

  /** From here, follow a live run. */
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
    isPlaying,
    stop,
    toggle: () => (isPlaying.peek() ? stop() : start()),
  };
}
