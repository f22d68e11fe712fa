import './timeline.css';
import { type ReadonlySignal, type Signal, signal, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo } from 'preact/hooks';
import { formatDuration } from '../../fold/format.ts';
import { sumsOf } from '../../fold/spans.ts';
import { cycleFrom, type Direction, phaseFrom, transitionFrom } from '../../fold/steps.ts';
import {
  played,
  showing,
  type TimeAxis,
  type TimeWindow,
  timeAxis,
  windowBetween,
  zoomed,
} from '../../fold/time-axis.ts';
import { IconButton } from '../../icon.tsx';
import type { Inspector, RunView } from '../../ui-state/inspector.ts';
import { addKeys, type Key } from '../../ui-state/keys.ts';
import type { PanelProps } from '../panel.tsx';
import { sumFacts } from './hover-card.tsx';
import { createRangeSelection, type RangeSelection } from './range.ts';
import { positionText } from './scale.ts';
import type { Zoom } from './track.tsx';
import { Track } from './track.tsx';

interface Moves {
  entry(to: Direction): void;
  transition(to: Direction): void;
  phase(to: Direction): void;
  cycle(to: Direction): void;
  start(): void;
  /** Moves to the latest entry and follows the run. */
  follow(): void;
}

function movesOf({ view, cursor, moveTo }: Inspector): Moves {
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

function moveKeys(moves: Moves, player: Player): readonly Key[] {
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

interface Player {
  readonly isPlaying: ReadonlySignal<boolean>;
  toggle(): void;
  stop(): void;
}

/** Plays the run back in 20 seconds, one step per frame; idle while paused. */
function createPlayer({ view, cursor, moveTo }: Inspector, axisNow: () => TimeAxis): Player {
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

function zoomOf(window: Signal<TimeWindow | null>, axisNow: () => TimeAxis, cursor: () => number): Zoom {
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

export function Timeline({ inspector, view }: PanelProps) {
  return <TimelineOfRun key={view.run.runId} inspector={inspector} view={view} />;
}

function TimelineOfRun({ inspector, view }: PanelProps) {
  const by = useSignal<TimeAxis['by']>('time');
  const window = useSignal<TimeWindow | null>(null);
  const { timeLine } = view.fold;
  const axisNow = () => timeAxis(timeLine, timeLine.drawnMs(timeLine.count - 1) > 0 ? by.peek() : 'entry');
  const player = useMemo(() => createPlayer(inspector, axisNow), []);
  const moves = useMemo(() => movesOf(inspector), []);
  const range = useMemo(createRangeSelection, []);
  const zoom = useMemo(() => zoomOf(window, axisNow, () => inspector.view.peek()?.at ?? 0), []);
  by.value;
  const axis = axisNow();

  useEffect(() => addKeys(moveKeys(moves, player)), []);
  useEffect(() => player.stop, []);
  useLayoutEffect(() => {
    window.value = showing(window.peek(), axis.end, axis.positionOf(view.at));
    range.follow(view.at);
  }, [view.at, axis.by]);

  return (
    <div class="timeline">
      <div class="timeline-bar">
        <PlayControls
          player={player}
          moves={moves}
          isFollowing={view.run.live ? inspector.cursor.value === null : null}
        />
        <p class="position">{positionText(view)}</p>
        <RangeSums
          view={view}
          range={range}
          onZoom={({ from, to }) => {
            window.value = windowBetween(axis.positionOf(from), axis.positionOf(to), axis.end);
          }}
        />
        {view.run.kind === 'run' && <Legend />}
        <fieldset class="zoom" aria-label="Zoom">
          <button
            type="button"
            aria-pressed={axis.by === 'entry'}
            title="Give every entry the same width"
            onClick={() => {
              window.value = null;
              by.value = by.peek() === 'time' ? 'entry' : 'time';
            }}
          >
            by entry
          </button>
          <button type="button" aria-label="Zoom the timeline out" title="Zoom out" onClick={() => zoom.by(2)}>
            −
          </button>
          <button type="button" aria-label="Zoom the timeline in" title="Zoom in" onClick={() => zoom.by(0.5)}>
            +
          </button>
          <button type="button" disabled={window.value === null} onClick={zoom.all}>
            whole run
          </button>
        </fieldset>
      </div>
      <Track inspector={inspector} view={view} axis={axis} window={window} zoom={zoom} range={range} />
    </div>
  );
}

interface RangeProps {
  readonly view: RunView;
  readonly range: RangeSelection;
  readonly onZoom: (entries: { readonly from: number; readonly to: number }) => void;
}

function RangeSums({ view: { fold, run }, range, onZoom }: RangeProps) {
  const entries = range.entries.value;
  const parts: string[] = [];
  if (entries !== null) {
    const sums = sumsOf(fold.spans, fold.timeLine, entries.from, entries.to);
    const idle = sums.idleMs === 0 ? '' : ` (${formatDuration(sums.idleMs)} idle)`;
    parts.push(`${formatDuration(sums.ms)}${idle}`, ...(run.kind === 'run' ? sumFacts(sums, fold.spans.currency) : []));
  }
  const text = parts.join(' · ');
  return (
    <div class="range-sums">
      <p class="one-line" role="status" title={text}>
        {entries !== null && <b>Range: </b>}
        {text}
      </p>
      {entries !== null && (
        <>
          <button type="button" onClick={() => onZoom(entries)}>
            Zoom to range
          </button>
          <IconButton icon="cross" label="Clear the range" keys="Escape on the timeline" onClick={range.clear} />
        </>
      )}
    </div>
  );
}

/** The marks of the lanes, as paths in a box of 12 by 10. */
const MARKS = {
  decision: 'M6 0l4 5-4 5-4-5z',
  'event sent': 'M2 1h8L6 10z',
  failed: 'M0 10 6 0M5 10l6-10',
  retry: 'M0 9h12',
  wait: 'M1 1h10v8H1z',
} as const;

const Legend = () => (
  <p class="time-legend">
    {Object.entries(MARKS).map(([name, path]) => (
      <span key={name}>
        <svg class={name} width="12" height="10" aria-hidden="true">
          <path d={path} />
        </svg>{' '}
        {name}
      </span>
    ))}
  </p>
);

interface ControlsProps {
  readonly player: Player;
  readonly moves: Moves;
  /** Null if the run has ended. */
  readonly isFollowing: boolean | null;
}

function PlayControls({ player, moves, isFollowing }: ControlsProps) {
  const plays = player.isPlaying.value;
  return (
    <fieldset class="play-controls" aria-label="Playback">
      <IconButton icon="start" label="First entry" keys="Home" onClick={moves.start} />
      <IconButton icon="back" label="One entry back" keys="←" onClick={() => moves.entry(-1)} />
      <IconButton
        icon={plays ? 'pause' : 'play'}
        label={plays ? 'Pause' : 'Play'}
        keys="Space"
        onClick={player.toggle}
      />
      <IconButton icon="forward" label="One entry forward" keys="→" onClick={() => moves.entry(1)} />
      <IconButton
        icon="end"
        label={isFollowing === null ? 'Last entry' : 'Follow'}
        keys="End"
        {...(isFollowing !== null && { isPressed: isFollowing })}
        onClick={moves.follow}
      />
    </fieldset>
  );
}
