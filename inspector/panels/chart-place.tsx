import { useEffect, useMemo, useState } from 'preact/hooks';
import { ChartView } from '../chart/chart-view.tsx';
import type { Choice } from '../chart/choices.ts';
import { transitionKey } from '../chart/overlay.ts';
import { marksAt } from '../fold/marks-at.ts';
import { PHASE_NAMES } from '../fold/phase-names.ts';
import { addKeys, type Key } from '../ui-state/keys.ts';
import { overlayOf } from '../ui-state/overlay.ts';
import { ChosenNote } from './chosen-note.tsx';
import type { PanelProps } from './panel-props.ts';

/** The phases have colours of their own, here and in the timeline. */
const HUES = Object.fromEntries(PHASE_NAMES.map((id) => [id, `var(--phase-${id})`]));

/** What the chart hears itself, where it has the focus. */
const CHART_KEYS: readonly Key[] = [
  { keys: ['+', '-'], does: 'Zoom' },
  { keys: ['0'], does: 'Fit the chart' },
  { keys: ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown'], does: 'Move the chart; go from state to state' },
  { keys: ['Tab'], does: 'From the chart to its states' },
  { keys: ['Enter'], does: 'Zoom to the state, and tell of it' },
  { keys: [' '], does: 'Fold the state, unfold it' },
].map((key) => ({ ...key, group: 'Chart' }));

/** The chart of the run, marked as it stands at the cursor. */
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
    return <p class="muted waiting">This system has no chart: none of its actors is a machine.</p>;
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
