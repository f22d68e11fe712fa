import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo } from 'preact/hooks';
import {
  defaultSpeed,
  SPEEDS,
  type Speed,
  showing,
  type TimeAxis,
  type TimeWindow,
  timeAxis,
  zoomed,
} from '../../fold/time-axis.ts';
import { addKeys } from '../../ui-state/keys.ts';
import type { PanelProps } from '../panel.tsx';
import { createPlayer, type Moves, moveKeys, movesOf, type Player } from './moves.ts';
import { positionText } from './scale.ts';
import './timeline.css';
import { IconButton } from '../../icon.tsx';
import { Track } from './track.tsx';

/** The timeline of the run, with the cursor and playback controls. */
export function Timeline({ inspector, view }: PanelProps) {
  return <TimelineOfRun key={view.run.runId} inspector={inspector} view={view} />;
}

function TimelineOfRun({ inspector, view }: PanelProps) {
  const by = useSignal<TimeAxis['by']>('time');
  const window = useSignal<TimeWindow | null>(null);
  const hoverText = useSignal('');
  const { timeLine } = view.fold;
  const axisNow = () => timeAxis(timeLine, timeLine.drawnMs(timeLine.count - 1) > 0 ? by.peek() : 'entry');
  const player = useMemo(() => createPlayer(inspector, axisNow), []);
  const moves = useMemo(() => movesOf(inspector), []);
  const isHovering = useComputed(() => hoverText.value !== '');
  by.value;
  const axis = axisNow();

  useEffect(() => addKeys(moveKeys(moves, player)), []);
  useEffect(() => player.stop, []);
  useLayoutEffect(() => {
    window.value = showing(window.peek(), axis.end, axis.positionOf(view.at));
  }, [view.at, axis.by]);

  const zoom = (times: number): void => {
    window.value = zoomed(window.peek(), axis.end, times, axis.positionOf(view.at));
  };
  const isFollowing = view.run.live && inspector.cursor.value === null;
  return (
    <div class="timeline">
      <div class="timeline-bar">
        <PlayControls player={player} moves={moves} defaultValue={defaultSpeed(axis.end)} isLive={view.run.live} />
        <p class={isHovering.value ? 'position pointing' : 'position'}>
          {positionText(view)}
          {isFollowing && <span class="following"> · following</span>}
        </p>
        <p class="pointed" aria-hidden="true">
          {hoverText}
        </p>
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
          <button type="button" aria-label="Zoom the timeline out" title="Zoom out" onClick={() => zoom(2)}>
            −
          </button>
          <button type="button" aria-label="Zoom the timeline in" title="Zoom in" onClick={() => zoom(0.5)}>
            +
          </button>
          <button
            type="button"
            disabled={window.value === null}
            onClick={() => {
              window.value = null;
            }}
          >
            whole run
          </button>
        </fieldset>
      </div>
      <Track inspector={inspector} view={view} axis={axis} window={window} hoverText={hoverText} moves={moves} />
    </div>
  );
}

interface ControlsProps {
  readonly player: Player;
  readonly moves: Moves;
  readonly defaultValue: Speed;
  readonly isLive: boolean;
}

function PlayControls({ player, moves, defaultValue, isLive }: ControlsProps) {
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
      <IconButton icon="end" label={isLive ? 'Follow' : 'Last entry'} keys="End" onClick={moves.follow} />
      <select
        aria-label="Speed"
        title="Speed"
        value={player.chosenSpeed.value ?? defaultValue}
        onChange={({ currentTarget }) => player.choose(Number(currentTarget.value) as Speed)}
      >
        {SPEEDS.map((speed) => (
          <option key={speed} value={speed}>
            {speed < 1 ? `1/${Math.round(1 / speed)}×` : `${speed}×`}
          </option>
        ))}
      </select>
    </fieldset>
  );
}
