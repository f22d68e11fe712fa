import { useEffect, useMemo, useState } from 'preact/hooks';
import type { RunCharts } from '../../src/inspection/wire.ts';
import { ChartView } from '../chart/chart-view.tsx';
import { badgesAt } from '../fold/badges.ts';
import { chartIndexOf } from '../fold/chart-index.ts';
import { PHASE_NAMES, pluralize } from '../fold/format.ts';
import { marksAt } from '../fold/marks.ts';
import type { ChartSelection } from '../fold/selection.ts';
import { countUpTo, lastStartedBy, lastUpTo } from '../fold/sorted.ts';
import { lastEntryInside, visitOf } from '../fold/state-visit.ts';
import { excerpt } from '../fold/text.ts';
import { transitionLookup } from '../fold/transition-lookup.ts';
import { chartSelection } from '../ui-state/chart-selection.ts';
import { addKeys, type Key } from '../ui-state/keys.ts';
import type { PanelProps } from './panel.tsx';
import { SelectionNote } from './selection-note.tsx';

/** The colors of the phases, also used in the timeline. */
const HUES = {
  ...Object.fromEntries(PHASE_NAMES.map((id) => [id, `var(--phase-${id})`])),
  synthesizing: 'var(--phase-synthesis)',
};

/** Keys the chart handles itself while focused; listed for the help sheet. */
const CHART_KEYS: readonly Key[] = [
  { keys: ['+', '-'], description: 'Zoom' },
  { keys: ['0'], description: 'Fit the chart' },
  {
    keys: ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown'],
    description: 'Move the chart, or the focus between states',
  },
  { keys: ['Tab'], description: 'Move the focus to the states of the chart' },
  { keys: ['Enter'], description: 'Zoom to the state and show its details' },
  { keys: [' '], description: 'Select the state, and open or close it' },
].map((key) => ({ ...key, group: 'Chart' }));

export function ChartPanel({ inspector, view }: PanelProps) {
  const { charts, fold, at, selection } = view;
  const [requestedRoot, setRequestedRoot] = useState<string | null>(null);
  const selected = chartSelection.value;
  useEffect(() => addKeys(CHART_KEYS), []);
  const outcome = outcomeOf(view);
  // A selected step is shown in its own state.
  const isStep = inspector.held.value === selection && selection.kind !== 'entry';
  const main = charts?.charts[0]?.id ?? '';
  const phase = selection.kind === 'phase' ? (lastStartedBy(fold.spans.phases, selection.from)?.phase ?? null) : null;
  const markedAt = isStep ? lastEntryInside(fold.transitions, main, selection, phase) : at;
  const marks = useMemo(
    () => (charts === null ? null : { ...marksAt(fold.transitions, charts, markedAt), outcome }),
    [fold, charts, markedAt, outcome],
  );
  const badges = useMemo(() => (charts === null ? null : badgesAt(fold, charts, at)), [fold, charts, at, view.count]);
  if (charts === null || marks === null) return <p class="muted waiting">Waiting for the chart…</p>;
  // Inner charts are drawn inside the chart that invokes them.
  const inside = new Set(Object.values(charts.invoked));
  const tops = charts.charts.filter(({ id }, index) => index === 0 || !inside.has(id)).map(({ id }) => id);
  const root = tops.find((id) => id === requestedRoot) ?? tops[0];
  if (root === undefined)
    return <p class="muted waiting">This system has no chart: none of its actors is a state machine.</p>;
  /** A state also selects its latest visit, which all panels then show. */
  const select = (choice: ChartSelection): void => {
    chartSelection.value = choice;
    const visit = choice.kind === 'state' ? visitOf(fold.transitions, charts, choice, { at, count: view.count }) : null;
    if (visit !== null) inspector.select(visit);
  };
  return (
    <>
      {tops.length > 1 && (
        <label class="chart-choice">
          <span class="visually-hidden">Chart</span>
          <select value={root} onChange={({ currentTarget }) => setRequestedRoot(currentTarget.value)}>
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
        selected={selected}
        onSelect={select}
        badges={badges}
      />
      {selected !== null && (
        <SelectionNote
          onClose={() => {
            chartSelection.value = null;
          }}
        >
          {selected.kind === 'state' ? (
            <StateNote charts={charts} selected={selected} />
          ) : (
            <TransitionNotes inspector={inspector} view={view} charts={charts} selected={selected} />
          )}
        </SelectionNote>
      )}
    </>
  );
}

function outcomeOf({ run: { status } }: PanelProps['view']): 'completed' | 'degraded' | null {
  return status === 'completed' || status === 'degraded' ? status : null;
}

function StateNote({
  charts,
  selected,
}: {
  readonly charts: RunCharts;
  readonly selected: Extract<ChartSelection, { readonly kind: 'state' }>;
}) {
  const state = chartIndexOf(charts).chart(selected.chartId)?.state(selected.stateId);
  return (
    <p>
      <b>{excerpt(state?.name ?? selected.stateId, 60)}</b> {excerpt(state?.description || 'No description.', 300)}
    </p>
  );
}

interface TransitionNotesProps extends PanelProps {
  readonly charts: RunCharts;
  readonly selected: Extract<ChartSelection, { readonly kind: 'transitions' }>;
}

const MAX_ITEMS = 12;

function TransitionNotes({ inspector, view: { fold, at }, charts, selected }: TransitionNotesProps) {
  const chart = charts.charts.find(({ id }) => id === selected.chartId);
  const lookup = transitionLookup(charts.charts);
  const taken = fold.transitions.distinct.filter(({ machine }) => machine === selected.chartId);
  return (
    <ul>
      {selected.transitions.slice(0, MAX_ITEMS).map((index) => {
        const transition = chart?.transitions[index];
        if (transition === undefined) return null;
        const own = taken.filter((recorded) => lookup.indexOf(recorded) === index);
        const times = own.reduce((sum, recorded) => sum + countUpTo(recorded.seqs, at), 0);
        const last = Math.max(-1, ...own.map((recorded) => lastUpTo(recorded.seqs, at) ?? -1));
        return (
          <li key={index}>
            <b>{excerpt(nameOf(transition), 80)}</b>{' '}
            {times === 0 ? (
              <span class="muted">not taken yet</span>
            ) : (
              <button type="button" onClick={() => inspector.moveTo(last)}>
                taken {pluralize(times, 'time')}, last at entry {last}
              </button>
            )}
          </li>
        );
      })}
      {selected.transitions.length > MAX_ITEMS && (
        <li class="muted">and {selected.transitions.length - MAX_ITEMS} more</li>
      )}
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
