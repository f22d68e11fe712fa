import './sequence.css';
import { useRef } from 'preact/hooks';
import { formatTime } from '../../fold/format.ts';
import { messageFrom, type Sequence, type SequenceRow } from '../../fold/sequence.ts';
import { firstIndexWhere } from '../../fold/sorted.ts';
import { excerpt } from '../../fold/text.ts';
import { indexAfter, useRows } from '../events/use-rows.ts';
import type { PanelProps } from '../panel.tsx';

const ROW_PX = 28;
/** The least width of a lifeline. */
const ACTOR_PX = 78;
const TIME_PX = 60;

/** The messages between the actors of a run, in time order; only visible rows are rendered. */
export function SequenceView({ inspector, view }: PanelProps) {
  const { fold, at, count } = view;
  const { actors, rows } = fold.sequence;
  const box = useRef<HTMLDivElement>(null);
  const size = firstIndexWhere(rows, ({ seq }) => seq >= count);
  let current = firstIndexWhere(rows, ({ seq }) => seq > at) - 1;
  while (rows[current]?.kind === 'cycle') current -= 1;
  const mayStay = inspector.cursor.value === null;
  const seen = useRows(box, { size, index: current, key: `${at} ${current}`, mayStay, rowPx: ROW_PX });

  const moveTo = (index: number): void => {
    const row = rows[index];
    if (row === undefined) return;
    // The attempt of a model call starts next to the call.
    const isCall = row.kind === 'message' && row.call !== null && rows[index + 1]?.seq !== row.seq + 1;
    inspector.moveTo(isCall ? row.seq + 1 : row.seq);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const index = indexAfter(event.key, current, seen.page, size);
    if (index === null) return;
    event.preventDefault();
    event.stopPropagation();
    moveTo(messageFrom(rows, index, current));
  };

  const visible = rows.slice(seen.first, Math.max(seen.first, seen.end));
  return (
    <div class="sequence" style={{ '--actors': Math.max(1, actors.length), '--time': `${TIME_PX}px` }}>
      <div class="lifelines" style={{ minWidth: `${TIME_PX + ACTOR_PX * actors.length}px` }}>
        <svg width="0" height="0" aria-hidden="true">
          <marker id="arrowhead" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="5" markerHeight="5" orient="auto">
            <path d="M0 0 8 4 0 8z" fill="context-stroke" />
          </marker>
        </svg>
        <ol aria-label="Actors">
          {actors.map((name) => (
            <li key={name} title={excerpt(name, 200)}>
              {excerpt(name, 40)}
            </li>
          ))}
        </ol>
        <div
          ref={box}
          class="messages"
          role="listbox"
          tabIndex={0}
          aria-label="Messages between the actors"
          aria-activedescendant={current >= seen.first && current < seen.end ? `message-${current}` : undefined}
          onKeyDown={onKeyDown}
        >
          {size === 0 && <p class="muted">No messages are recorded yet.</p>}
          <div role="presentation" class="all-messages" style={{ height: `${size * ROW_PX}px` }}>
            <div role="presentation" style={{ transform: `translateY(${seen.first * ROW_PX}px)` }}>
              {visible.map((row, offset) => (
                <Message
                  key={`${row.seq} ${row.kind} ${row.from}`}
                  row={row}
                  actors={actors}
                  place={{ index: seen.first + offset, size, current }}
                  time={formatTime(fold.timeLine.atMs(row.seq))}
                  onClick={() => moveTo(seen.first + offset)}
                />
              ))}
            </div>
          </div>
        </div>
      </div>
    </div>
  );
}

interface MessageProps extends Pick<Sequence, 'actors'> {
  readonly row: SequenceRow;
  readonly place: { readonly index: number; readonly size: number; readonly current: number };
  readonly time: string;
  readonly onClick: () => void;
}

function Message({ row, actors, place: { index, size, current }, time, onClick }: MessageProps) {
  const { kind, from, to, text, isFailure } = row;
  const kinds = { own: from === to, at: index === current, later: index > current, bad: isFailure };
  const classes = Object.entries(kinds).flatMap(([name, is]) => (is ? [name] : []));
  const xOf = (actor: number): string => `${((actor + 0.5) / actors.length) * 100}%`;
  const ends = from === to ? actors[from] : `${actors[from]} to ${actors[to]}`;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list handles the keys
    // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus and names its active row
    <div
      id={`message-${index}`}
      class={['message', kind, ...classes].join(' ')}
      role="option"
      aria-selected={index === current}
      aria-posinset={index + 1}
      aria-setsize={size}
      title={excerpt(text, 300)}
      style={{ '--left': xOf(Math.min(from, to)) }}
      onClick={onClick}
    >
      {kind !== 'cycle' && (
        <>
          <span class="time muted">{time}</span>
          <svg aria-hidden="true">
            {from === to && <circle cx={xOf(from)} cy="14" r="4" />}
            {from !== to && <line x1={xOf(from)} x2={xOf(to)} y1="22" y2="22" marker-end="url(#arrowhead)" />}
          </svg>
          <span class="visually-hidden">{excerpt(ends ?? '', 90)}: </span>
        </>
      )}
      <span class="text verbatim">{excerpt(text, 120)}</span>
    </div>
  );
}
