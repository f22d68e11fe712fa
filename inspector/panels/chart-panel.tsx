import { IconButton, WithArrows } from '../icon.tsx';
import { LinkButton } from '../link-button.tsx';
import './selection-note.css';
import { useLayoutEffect, useMemo, useState } from 'preact/hooks';
import type { RunCharts } from '../../src/inspection/wire.ts';
import { ChartList } from '../chart/chart-list.tsx';
import { ChartView } from '../chart/chart-view.tsx';
import { chartIndexOf, placeIn } from '../fold/chart-index.ts';
import { transitionName, transitionWords } from '../fold/chart-words.ts';
import { PHASE_NAMES, pluralize } from '../fold/format.ts';
import { type Marks, marksAt } from '../fold/marks.ts';
import type { RunFold } from '../fold/run-fold.ts';
import type { ChartSelection, Selection } from '../fold/selection.ts';
import { countUpTo, lastStartedBy, lastUpTo } from '../fold/sorted.ts';
import { lastEntryInside, phaseVisit, visitOf } from '../fold/state-visit.ts';
import { stepStarts } from '../fold/system-step.ts';
import { excerpt } from '../fold/text.ts';
import { type Key, useKeys } from '../ui-state/keys.ts';
import { chartSelection, isChartFull, toggleChart } from '../ui-state/layout.ts';
import { chartAspect, isNarrow, isPhone } from '../ui-state/media.ts';
import type { PanelProps } from './panel.tsx';

const HUES = {
  ...Object.fromEntries(PHASE_NAMES.map((id) => [id, `var(--phase-${id})`])),
  synthesizing: 'var(--phase-synthesis)',
};

/** Keys the chart handles itself while focused; listed for the help sheet. */
const CHART_KEYS: readonly Key[] = [
  { keys: ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown'], description: 'Move the focus between states' },
  { keys: ['Enter'], description: 'Select the state; again, show its inside' },
  { keys: ['Escape'], description: 'Leave the inside of a state, or the chart', act: () => closeChart() },
  { keys: ['+', '-'], description: 'Zoom' },
  { keys: ['0'], description: 'Whole chart' },
].map((key) => ({ ...key, group: 'Chart' }));

/** Beside the trace, the chart stays, and the focus moves to the trace. */
function closeChart(): void {
  if (!isChartFull.value) document.querySelector<HTMLElement>('.trace-list')?.focus({ preventScroll: true });
  isChartFull.value = false;
}

export function ChartPanel({ inspector, view }: PanelProps) {
  const { charts, fold, at, selection, count } = view;
  const [requestedRoot, setRequestedRoot] = useState<string | null>(null);
  const selected = chartSelection.value;
  useKeys(CHART_KEYS);
  useLayoutEffect(() => {
    // On a narrow page, the map that opened it is below.
    if (isNarrow.value) document.querySelector('.view-switch')?.scrollIntoView();
  }, []);
  // A selected step is shown in its own state.
  const isStep = inspector.held.value === selection && selection.kind !== 'entry';
  const main = charts?.charts[0]?.id ?? '';
  const phase = selection.kind === 'phase' ? (lastStartedBy(fold.spans.phases, selection.from)?.phase ?? null) : null;
  const markedAt = isStep ? lastEntryInside(fold.transitions, main, selection, phase) : at;
  const marks = useMemo(
    () => (charts === null ? null : withFailures(marksAt(fold.transitions, charts, markedAt), fold, markedAt)),
    [fold, charts, markedAt, count],
  );
  if (charts === null || marks === null) return <p class="muted waiting">Waiting for the chart…</p>;
  // Inner charts are shown inside the states that invoke them.
  const inside = new Set(Object.values(charts.invoked));
  const tops = charts.charts
    .filter(({ id, states }, index) => states.length > 0 && (index === 0 || !inside.has(id)))
    .map(({ id }) => id);
  const root = tops.find((id) => id === requestedRoot) ?? tops[0];
  if (root === undefined)
    return <p class="muted waiting">This system has no chart: none of its actors is a state machine.</p>;
  const showVisit = (choice: ChartSelection | null): void => {
    const visit = choice?.kind === 'state' ? latestVisit(view, charts, choice) : null;
    if (visit !== null) inspector.select(visit);
  };
  /** A state also selects its latest visit, which all panels then show. On a phone, that is below the chart. */
  const select = (choice: ChartSelection): void => {
    chartSelection.value = choice;
    if (!isPhone.value) showVisit(choice);
  };
  const notes = selected !== null && (
    <aside class="selection-note" aria-label="Selected in the chart">
      <TransitionNotes inspector={inspector} view={view} charts={charts} selected={selected} at={markedAt} />
      {isPhone.value && <LinkButton onClick={() => showVisit(selected)}>Show the step</LinkButton>}
      <button
        type="button"
        aria-label="Close"
        onClick={() => {
          chartSelection.value = null;
        }}
      >
        ×
      </button>
    </aside>
  );
  const isFull = isChartFull.value;
  const resize = view.run.kind === 'system' && !isNarrow.value && (
    <IconButton
      icon={isFull ? 'shrink' : 'grow'}
      label={isFull ? 'Show the trace' : 'Full size'}
      keys="c"
      onClick={toggleChart}
    />
  );
  const end = fold.actors[0]?.end;
  const isStopped = end?.status === 'stopped' && end.seq <= at;
  const shared = {
    charts,
    root,
    marks,
    hues: HUES,
    selected,
    onSelect: select,
    isStopped,
    aspect: chartAspect(),
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
      {isPhone.value && view.run.kind === 'run' ? (
        <div class={isStopped ? 'stopped' : ''}>
          <ChartList {...shared}>{notes}</ChartList>
        </div>
      ) : (
        <div class={`noted-chart${isStopped ? ' stopped' : ''}`}>
          <ChartView {...shared} resize={resize} />
          {notes}
        </div>
      )}
      {/* The chart of the chain takes the whole height of a wide page. */}
      {isFull && (view.run.kind === 'system' || isPhone.value) && <Steps inspector={inspector} view={view} />}
    </>
  );
}

/** Moves between transitions where no trace is in view. */
export function Steps({ inspector, view: { run, fold, at } }: PanelProps) {
  const isSystem = run.kind === 'system';
  const starts = isSystem ? stepStarts(fold) : fold.transitions.seqs;
  const now = countUpTo(starts, at);
  /** The last entry of a step; null for the end. */
  const endOf = (step: number): number | null =>
    step < starts.length ? (isSystem ? (starts[step] ?? 0) - 1 : (starts[step - 1] ?? 0)) : null;
  const step = (label: string, text: string, to: number | null) => (
    <button
      type="button"
      aria-label={label}
      disabled={to === inspector.cursor.value}
      onClick={() => inspector.moveTo(to)}
    >
      {text}
    </button>
  );
  return (
    <p class="chart-steps">
      {step('Previous step', '‹', endOf(Math.max(1, now - 1)))} {isSystem ? 'step' : 'transition'} {now} of{' '}
      {starts.length} {step('Next step', '›', endOf(now + 1))}
    </p>
  );
}

/** A machine that failed has failed in the states that it was in; one that was repaired, until then. */
function withFailures(marks: Marks, { actors, entries }: RunFold, at: number): Marks {
  const repairs = entries.of('retried' as 'end');
  const failedAt = lastUpTo(entries.of('end'), Math.min(at, repairs.at(-1) ?? -1)) ?? -1;
  const isFailed = failedAt > (lastUpTo(repairs, at) ?? -1);
  const ends = actors.flatMap(({ path, machine, end }) =>
    machine !== null && ((end?.status === 'error' && end.seq <= at) || (path === '' && isFailed)) ? [machine] : [],
  );
  return {
    ...marks,
    failed: { ...marks.failed, ...Object.fromEntries(ends.map((id) => [id, marks.active[id] ?? new Set()])) },
  };
}

function latestVisit(
  { fold, run, at, count }: PanelProps['view'],
  charts: RunCharts,
  choice: Extract<ChartSelection, { readonly kind: 'state' }>,
): Selection | null {
  const phase = run.kind === 'run' ? PHASE_NAMES.find((name) => name === choice.stateId) : undefined;
  if (phase !== undefined) return phaseVisit(fold, phase, at, count);
  return visitOf(fold.transitions, charts, choice, { at, count });
}

interface TransitionNotesProps extends PanelProps {
  readonly charts: RunCharts;
  readonly selected: ChartSelection;
  /** The entry whose marks the chart has. */
  readonly at: number;
}

/** A selected state, and the transitions that lead out of it or in; or the transitions of a selected line. */
function TransitionNotes({ inspector, view: { fold }, charts, selected, at }: TransitionNotesProps) {
  const chart = charts.charts.find(({ id }) => id === selected.chartId);
  const index = chartIndexOf(charts).chart(selected.chartId);
  if (chart === undefined || index === undefined) return null;
  const state = selected.kind === 'state' ? index.state(selected.stateId) : undefined;
  const isInState = (id: string): boolean => state !== undefined && index.isInside(id, state.id);
  const recorded = fold.transitions.distinct.filter(({ machine }) => machine === selected.chartId);
  const items = new Map<string, { text: string; words: string; names: string; times: number; last: number }>();
  for (const [number, transition] of chart.transitions.entries()) {
    const { source, target } = transition;
    const isShown =
      selected.kind === 'transitions'
        ? selected.transitions.includes(number)
        : isInState(source) !== target.some(isInState);
    if (!isShown) continue;
    const to = target.map((id) => placeIn(index, id, source)).join(', ');
    const text = `${source === chart.id ? 'any state' : placeIn(index, source)} → ${to || 'stays'}`;
    const words = transitionWords(chart.id, transition);
    const key = JSON.stringify([text, words]);
    const item = items.get(key) ?? { text, words, names: '', times: 0, last: -1 };
    for (const { seqs } of recorded.filter((one) => index.indexOf(one) === number)) {
      item.times += countUpTo(seqs, at);
      item.last = Math.max(item.last, lastUpTo(seqs, at) ?? seqs[0] ?? -1);
    }
    item.names += `${item.names === '' ? '' : ', '}${transitionName(transition)}`;
    items.set(key, item);
  }
  const shown = [...items.values()].sort((one, other) => other.times - one.times);
  return (
    <div>
      {state !== undefined && (
        <p>
          <b>{excerpt(state.name, 60)}</b> {excerpt(state.description, 300)}
        </p>
      )}
      <ul>
        {shown.map(({ text, words, names, times, last }) => (
          <li key={`${text} ${words}`} title={excerpt(names, 200)}>
            <b>{excerpt(words, 80)}</b> <WithArrows text={excerpt(text, 120)} />{' '}
            {last < 0 ? (
              <span class="muted">not taken</span>
            ) : (
              <LinkButton onClick={() => inspector.moveTo(last)}>
                taken {times === 0 ? 'later' : pluralize(times, 'time')}
              </LinkButton>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
