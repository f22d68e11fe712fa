import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo } from 'preact/hooks';
import { usualSpeed } from '../../fold/playing.ts';
import { type TimeAxis, timeAxis } from '../../fold/time-axis.ts';
import { showing, type TimeWindow, zoomed } from '../../fold/time-window.ts';
import { addKeys } from '../../ui-state/keys.ts';
import type { PanelProps } from '../panel-props.ts';
import { moveKeys, movesOf } from './moves.ts';
import { PlayControls } from './play-controls.tsx';
import { createPlayer } from './player.ts';
import { positionText } from './position.ts';
import './timeline.css';
import { Track } from './track.tsx';

/** The whole run along the time, and the cursor in it. */
export function Timeline({ inspector, view }: PanelProps) {
  return <TimelineOfRun key={view.run.runId} inspector={inspector} view={view} />;
}

function TimelineOfRun({ inspector, view }: PanelProps) {
  const by = useSignal<TimeAxis['by']>('time');
  const window = useSignal<TimeWindow | null>(null);
  const pointed = useSignal('');
  const { timeLine } = view.fold;
  const axisNow = () => timeAxis(timeLine, timeLine.drawnMs(timeLine.count - 1) > 0 ? by.peek() : 'entry');
  const player = useMemo(() => createPlayer(inspector, axisNow), []);
  const moves = useMemo(() => movesOf(inspector), []);
  const isPointing = useComputed(() => pointed.value !== '');
  by.value;
  const axis = axisNow();

  useEffect(() => addKeys(moveKeys(moves, player)), []);
  useEffect(() => player.stop, []);
  useLayoutEffect(() => {
    window.value = showing(window.peek(), axis.end, axis.placeOf(view.at));
  }, [view.at, axis.by]);

  const zoom = (times: number): void => {
    window.value = zoomed(window.peek(), axis.end, times, axis.placeOf(view.at));
  };
  const isFollowing = view.run.live && inspector.cursor.value === null;
  return (
    <div class="timeline">
      <div class="timeline-bar">
        <PlayControls player={player} moves={moves} usual={usualSpeed(axis.end)} isLive={view.run.live} />
        <p class={isPointing.value ? 'position pointing' : 'position'}>
          {positionText(view)}
          {isFollowing && <span class="following"> · following</span>}
        </p>
        <p class="pointed" aria-hidden="true">
          {pointed}
        </p>
        <fieldset class="zoom" aria-label="Zoom">
          <button
            type="button"
            aria-pressed={axis.by === 'entry'}
            title="Every entry as wide as any other, whatever time it took"
            onClick={() => {
              window.value = null;
              by.value = by.peek() === 'time' ? 'entry' : 'time';
            }}
          >
            by entry
          </button>
          <button type="button" aria-label="Shrink the time" title="Shrink the time" onClick={() => zoom(2)}>
            −
          </button>
          <button type="button" aria-label="Stretch the time" title="Stretch the time" onClick={() => zoom(0.5)}>
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
      <Track inspector={inspector} view={view} axis={axis} window={window} pointed={pointed} moves={moves} />
    </div>
  );
}
