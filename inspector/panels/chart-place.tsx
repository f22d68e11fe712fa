import { useEffect, useMemo, useState } from 'preact/hooks';
import type { RunCharts } from '../../src/inspection/wire.ts';
import { ChartView } from '../chart/chart-view.tsx';
import { transitionKey } from '../chart/highlight.ts';
import type { Choice } from '../chart/scene.ts';
import { chartBook } from '../fold/chart-index.ts';
import { chartWaysOf } from '../fold/coverage.ts';
import { counted, PHASE_NAMES } from '../fold/format.ts';
import { marksAt } from '../fold/marks.ts';
import { countUpTo, lastUpTo } from '../fold/sorted.ts';
import { addKeys, type Key } from '../ui-state/keys.ts';
import { overlayOf } from '../ui-state/overlay.ts';
import { shortly } from '../ui-state/text.ts';
import type { PanelProps } from './panel.tsx';

/** The phases have colours of their own, here and in the timeline. */
const HUES = Object.fromEntries(PHASE_NAMES.map((id) => [id, `var(--phase-${id})`]));

/** Keys the chart handles itself while focused; listed for the help sheet. */
const CHART_KEYS: readonly Key[] = [
  { keys: ['+', '-'], does: 'Zoom' },
  { keys: ['0'], does: 'Fit the chart' },
  { keys: ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown'], does: 'Move the chart, or the focus between states' },
  { keys: ['Tab'], does: 'Move the focus to the states of the chart' },
  { keys: ['Enter'], does: 'Zoom to the state and show its details' },
  { keys: [' '], does: 'Collapse or expand the state' },
].map((key) => ({ ...key, group: 'Chart' }));

/** The chart of the run, with marks for the cursor's entry. */
export function ChartPlace({ inspector, view }: PanelProps) {
  const { charts, fold, at } = view;
  const [wanted, setWanted] = useState<string | null>(null);
  const [chosen, setChosen] = useState<Choice | null>(null);
  useEffect(() => addKeys(CHART_KEYS), []);
  const { heat, neverTaken } = overlayOf(inspector);
  const never = useMemo(() => keysOf(neverTaken.value), [neverTaken.value]);
  const marks = useMemo(() => (charts === null ? null : marksAt(fold.transitions, charts, at)), [fold, charts, at]);
  if (charts === null || marks === null) return <p class="muted waiting">Waiting for the chart…</p>;
  // A chart that runs inside another is drawn there.
  const inside = new Set(Object.values(charts.invoked));
  const tops = charts.charts.filter(({ id }, place) => place === 0 || !inside.has(id)).map(({ id }) => id);
  const root = tops.find((id) => id === wanted) ?? tops[0];
  if (root === undefined)
    return <p class="muted waiting">This system has no chart: none of its actors is a state machine.</p>;
  return (
    <>
      {tops.length > 1 && (
        <label class="chart-choice">
          <span class="unseen">Chart</span>
          <select value={root} onChange={({ currentTarget }) => setWanted(currentTarget.value)}>
            {tops.map((id) => (
              <option key={id}>{id}</option>
            ))}
          </select>
        </label>
      )}
      <ChartView
        charts={charts}
        root={root}
        marks={marks}
        hues={HUES}
        chosen={chosen}
        onChoose={setChosen}
        overlay={heat.value}
        neverTaken={never}
      />
      {chosen !== null && (
        <ChosenNote inspector={inspector} view={view} charts={charts} chosen={chosen} onClose={() => setChosen(null)} />
      )}
    </>
  );
}

function keysOf(neverTaken: Readonly<Record<string, ReadonlySet<number>>> | null): ReadonlySet<string> {
  const all = Object.entries(neverTaken ?? {});
  return new Set(all.flatMap(([chartId, places]) => [...places].map((place) => transitionKey(chartId, place))));
}

interface ChosenNoteProps extends PanelProps {
  readonly charts: RunCharts;
  readonly chosen: Choice;
  readonly onClose: () => void;
}

/** What was chosen in the chart: what a state is for, or how often a transition was taken so far, and when last. */
function ChosenNote({ charts, chosen, onClose, ...props }: ChosenNoteProps) {
  return (
    <aside class="chosen-note" aria-label="Selected in the chart">
      {chosen.kind === 'state' ? (
        <StateNote charts={charts} chosen={chosen} />
      ) : (
        <TransitionNotes charts={charts} chosen={chosen} {...props} />
      )}
      <button type="button" aria-label="Close" onClick={onClose}>
        ×
      </button>
    </aside>
  );
}

function StateNote({
  charts,
  chosen,
}: {
  readonly charts: RunCharts;
  readonly chosen: Extract<Choice, { readonly kind: 'state' }>;
}) {
  const state = chartBook(charts).chart(chosen.chartId)?.state(chosen.stateId);
  return (
    <p>
      <b>{shortly(state?.name ?? chosen.stateId, 60)}</b> {shortly(state?.description || 'No description.', 300)}
    </p>
  );
}

interface TransitionNotesProps extends PanelProps {
  readonly charts: RunCharts;
  readonly chosen: Extract<Choice, { readonly kind: 'transitions' }>;
}

const SHOWN = 6;

function TransitionNotes({ inspector, view: { fold, at }, charts, chosen }: TransitionNotesProps) {
  const chart = charts.charts.find(({ id }) => id === chosen.chartId);
  const ways = chartWaysOf(charts.charts);
  const taken = fold.transitions.ways.filter(({ machine }) => machine === chosen.chartId);
  return (
    <ul>
      {chosen.transitions.slice(0, SHOWN).map((place) => {
        const transition = chart?.transitions[place];
        if (transition === undefined) return null;
        const own = taken.filter((way) => ways.placeOf(way) === place);
        const times = own.reduce((sum, way) => sum + countUpTo(way.seqs, at), 0);
        const last = Math.max(-1, ...own.map((way) => lastUpTo(way.seqs, at) ?? -1));
        return (
          <li key={place}>
            <b>{shortly(nameOf(transition), 80)}</b>{' '}
            {times === 0 ? (
              <span class="muted">not taken yet</span>
            ) : (
              <button type="button" onClick={() => inspector.moveTo(last)}>
                taken {counted(times, 'time')}, last at entry {last}
              </button>
            )}
          </li>
        );
      })}
      {chosen.transitions.length > SHOWN && <li class="muted">and {chosen.transitions.length - SHOWN} more</li>}
    </ul>
  );
}

function nameOf({
  event,
  guard,
  otherwise,
}: {
  readonly event: string;
  readonly guard: string | null;
  readonly otherwise: boolean;
}): string {
  const what = guard ?? (otherwise ? 'else' : '');
  return [event, what].filter((word) => word !== '').join(': ') || 'at once';
}
