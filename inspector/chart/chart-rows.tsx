import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { RunCharts } from '../../src/inspection/wire.ts';
import { type ChartProps, NONE_NEVER_TAKEN } from './chart-props.ts';
import type { Choice } from './choices.ts';
import { heatMark } from './overlay.ts';
import { MOST_ROWS, type Row, rowsOf } from './row-list.ts';
import { shownText } from './text-size.ts';

export interface ChartRowsProps extends ChartProps {
  readonly charts: RunCharts;
}

/** The chart in rows: for charts without a picture, and for those who would rather read. */
export function ChartRows(props: ChartRowsProps) {
  const { charts, root, marks, chosen = null, onChoose, overlay = null, neverTaken = NONE_NEVER_TAKEN } = props;
  const { sought = null } = props;
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (sought !== null && place.current !== null) scrollToChosen(place.current);
  }, [sought]);
  const rows = useMemo(() => rowsOf(charts, root, marks, neverTaken), [charts, root, marks, neverTaken]);
  return (
    <div class="chart-rows" ref={place}>
      <ul aria-label={`States of ${shownText(root, 80)}`}>
        {rows.map((row) => (
          <StateRow
            key={row.key}
            row={row}
            heat={heatMark(overlay, row)?.text ?? ''}
            chosen={chosen}
            onChoose={onChoose}
          />
        ))}
      </ul>
      {rows.length >= MOST_ROWS && <p>Only the first {MOST_ROWS} states are shown.</p>}
    </div>
  );
}

interface StateRowProps {
  readonly row: Row;
  readonly heat: string;
  readonly chosen: Choice | null;
  readonly onChoose: ((choice: Choice) => void) | undefined;
}

function StateRow({ row, heat, chosen, onChoose }: StateRowProps) {
  const { chartId, stateId, isActive, isLeaf, isLastTarget } = row;
  const isChosen = chosen?.kind === 'state' && chosen.chartId === chartId && chosen.stateId === stateId;
  const chosenWays = chosen?.kind === 'transitions' && chosen.chartId === chartId ? chosen.transitions : [];
  const classes = [isActive && 'active', isLeaf && 'leaf', isLastTarget && 'last', isChosen && 'chosen'];
  return (
    <li class={classes.filter(Boolean).join(' ')} style={{ '--level': Math.min(row.level, 12) }}>
      <button
        type="button"
        title={shownText(row.description, 300)}
        aria-current={isLeaf ? 'step' : undefined}
        aria-pressed={isChosen}
        onClick={() => onChoose?.({ kind: 'state', chartId, stateId })}
      >
        {shownText(row.name, 60)}
        {isActive && <span class="unseen">, active</span>}
      </button>
      {heat !== '' && <span class="heat">{shownText(heat, 18)}</span>}
      <span class="ways">
        {row.transitions.map(({ place, text, taken, isLast, isNever }) => (
          <button
            type="button"
            key={place}
            class={wayClasses({ taken: taken > 0, last: isLast, never: isNever, chosen: chosenWays.includes(place) })}
            aria-pressed={chosenWays.includes(place)}
            onClick={() => onChoose?.({ kind: 'transitions', chartId, transitions: [place] })}
          >
            {shownText(text, 80)}
            {taken > 0 && ` ×${taken}`}
            {isLast && <span class="unseen">, just now</span>}
          </button>
        ))}
      </span>
    </li>
  );
}

/** Here alone: what stands around the rows stays where it is. */
function scrollToChosen(place: HTMLElement): void {
  const chosen = place.querySelector('.chosen')?.getBoundingClientRect();
  if (chosen === undefined) return;
  const { top, height } = place.getBoundingClientRect();
  place.scrollTop += chosen.top + chosen.height / 2 - top - height / 2;
}

const wayClasses = (which: Readonly<Record<string, boolean>>): string =>
  Object.keys(which)
    .filter((name) => which[name])
    .join(' ');
