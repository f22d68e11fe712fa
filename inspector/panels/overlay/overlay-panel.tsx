import { formatDuration, formatNumber, pluralize } from '../../fold/format.ts';
import {
  activeMeasure,
  MEASURES,
  type MeasureName,
  marksNeverTaken,
  overlayOf,
  overlayScope,
} from '../../ui-state/overlay.ts';
import type { PanelProps } from '../panel.tsx';
import './overlay.css';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Chart } from '../../../src/engine/charts/chart.ts';
import type { RunCharts } from '../../../src/inspection/wire.ts';
import { bakedDrawingsOf } from '../../chart/layout.ts';
import { type Measure, NOTHING } from '../../fold/state-measures.ts';
import { stateName } from '../../fold/text.ts';
import { Icon } from '../../icon.tsx';
import { type Inspector, isLoaded, loadRuns } from '../../ui-state/inspector.ts';

/** Measures by state as a table and a heatmap on the chart; for charts without proofs, also transition coverage. */
export function OverlayPanel({ inspector, view }: PanelProps) {
  const overlay = overlayOf(inspector);
  const { charts } = view;
  if (charts === null) return <p class="muted">Loading the charts of this run…</p>;
  return (
    <div class="overlay-panel">
      <div class="overlay-choices">
        <label>
          Heatmap{' '}
          <select
            value={activeMeasure.value ?? ''}
            onChange={({ currentTarget }) => {
              activeMeasure.value = MEASURES.find(({ name }) => name === currentTarget.value)?.name ?? null;
            }}
          >
            <option value="">off</option>
            {MEASURES.map(({ name, title }) => (
              <option key={name} value={name}>
                {title.toLowerCase()}
              </option>
            ))}
          </select>
        </label>
        <RunScope inspector={inspector} />
      </div>
      <MeasureTable charts={charts} measures={overlay.measures.value} />
      {bakedDrawingsOf(charts) === null && <NeverTaken inspector={inspector} charts={charts} />}
    </div>
  );
}

/** Which runs count: the choice, and how many they are. */
export function RunScope({ inspector }: { readonly inspector: Inspector }) {
  const { included, excluded } = overlayOf(inspector).runs.value;
  return (
    <>
      <label>
        Scope{' '}
        <select
          value={overlayScope.value}
          onChange={({ currentTarget }) => {
            overlayScope.value = currentTarget.value === 'loaded' ? 'loaded' : 'run';
          }}
        >
          <option value="run">this run, up to the cursor</option>
          <option value="loaded">all loaded runs, complete</option>
        </select>
      </label>
      <LoadNewest inspector={inspector} />
      <p class="muted" role="status">
        {overlayScope.value === 'run' ? 'This run, up to the cursor.' : `${pluralize(included, 'run')}, complete.`}
        {excluded > 0 && ` ${pluralize(excluded, 'run')} with other charts excluded.`}
      </p>
    </>
  );
}

/** The most runs to load; the page keeps them all in memory. */
const MAX_RUNS = 50;

/** Loads the newest runs, so that they count too. */
function LoadNewest({ inspector }: { readonly inspector: Inspector }) {
  const newest = inspector.runs.value.slice(0, MAX_RUNS);
  const loaded = newest.filter(({ runId, live }) =>
    inspector.loaded.value.some((run) => run.runId === runId && isLoaded(run, live)),
  ).length;
  const [isLoading, setLoading] = useState(false);
  const stop = useRef<() => void>(() => {});
  useEffect(() => () => stop.current(), []);

  function load(): void {
    overlayScope.value = 'loaded';
    setLoading(true);
    stop.current = loadRuns(inspector, newest, (done) => {
      if (done === newest.length) setLoading(false);
    });
  }

  function cancel(): void {
    stop.current();
    setLoading(false);
  }

  if (newest.length <= 1) return null;
  if (isLoading)
    return (
      <span class="overlay-loading">
        <progress value={loaded} max={newest.length} aria-label="Runs loaded" /> {loaded} of {newest.length}{' '}
        <button type="button" onClick={cancel}>
          Stop
        </button>
      </span>
    );
  return (
    <button type="button" onClick={load} disabled={loaded === newest.length}>
      {loaded === newest.length
        ? `${inspector.runs.value.length > MAX_RUNS ? 'The newest' : 'All'} ${newest.length} runs are loaded`
        : inspector.runs.value.length > MAX_RUNS
          ? `Load the newest ${MAX_RUNS} runs`
          : `Load all ${newest.length} runs`}
    </button>
  );
}

type Column = MeasureName | 'chart';

interface MeasureTableProps {
  readonly charts: RunCharts;
  readonly measures: Readonly<Record<string, ReadonlyMap<string, Measure>>>;
}

/** The states of each chart, including unvisited ones, sorted by a measure. */
function MeasureTable({ charts: { charts }, measures }: MeasureTableProps) {
  const [by, operationDetails] = useState<Column>('chart');
  return (
    <table class="measure-table">
      <caption class="visually-hidden">Measures by state</caption>
      <thead>
        <tr>
          <Head title="State" column="chart" by={by} onSort={operationDetails} />
          {MEASURES.map(({ name, title }) => (
            <Head key={name} title={title} column={name} by={by} onSort={operationDetails} />
          ))}
        </tr>
      </thead>
      {charts.map(({ id, states }) => {
        const depths = new Map<string | null, number>([[null, -1]]);
        const rows = states.map(({ id: state, parent }) => {
          const depth = (depths.get(parent) ?? -1) + 1;
          depths.set(state, depth);
          return { state, depth, measure: measures[id]?.get(state) ?? NOTHING };
        });
        if (by !== 'chart') rows.sort((left, right) => right.measure[by] - left.measure[by]);
        return (
          <tbody key={id}>
            {rows.map(({ state, depth, measure }) => (
              <tr key={state} class={measure.visits === 0 ? 'muted' : undefined}>
                <th scope="row" class={`depth-${by === 'chart' ? Math.min(depth, 4) : 0}`} title={state}>
                  {by === 'chart' && depth > 0
                    ? (state.split('.').at(-1) ?? state)
                    : depth === 0
                      ? state
                      : stateName(state)}
                </th>
                <td>{formatDuration(measure.ms)}</td>
                <td>{formatNumber(measure.visits)}</td>
                <Count of={measure.tokens} />
                <Count of={measure.retries} />
                <Count of={measure.failures} />
              </tr>
            ))}
          </tbody>
        );
      })}
    </table>
  );
}

const Count = ({ of }: { readonly of: number }) => <td class={of === 0 ? 'muted' : ''}>{formatNumber(of)}</td>;

interface HeadProps {
  readonly title: string;
  readonly column: Column;
  readonly by: Column;
  readonly onSort: (column: Column) => void;
}

function Head({ title, column, by, onSort }: HeadProps) {
  const order = column === 'chart' ? 'ascending' : 'descending';
  return (
    <th scope="col" aria-sort={by === column ? order : 'none'}>
      <button type="button" onClick={() => onSort(column)}>
        {title}
        {by === column && <Icon name={order === 'ascending' ? 'up' : 'down'} />}
      </button>
    </th>
  );
}

interface NeverTakenProps {
  readonly inspector: Inspector;
  readonly charts: RunCharts;
  /** Writes a test that takes a transition of a chart. */
  readonly onTest?: (chart: Chart, transition: number) => void;
  /** Shown under the heading. */
  readonly children?: ComponentChildren;
}

/** The number of transitions that the runs took, and a list of the others. */
export function NeverTaken({ inspector, charts: { charts }, onTest, children }: NeverTakenProps) {
  const coverage = overlayOf(inspector).coverage.value;
  if (coverage === null) return null;
  const { takenCount, all, neverTaken } = coverage;
  return (
    <section aria-labelledby="never-taken-title">
      <h2 id="never-taken-title">Coverage</h2>
      {children}
      <label class="overlay-mark">
        <input
          type="checkbox"
          checked={marksNeverTaken.value}
          onChange={({ currentTarget }) => {
            marksNeverTaken.value = currentTarget.checked;
          }}
        />{' '}
        Mark transitions never taken in the chart
      </label>
      <p>
        <strong>
          {takenCount} of {all}
        </strong>{' '}
        transitions taken{' '}
        <meter min={0} max={all} value={takenCount} aria-label="Transitions taken">
          {takenCount} of {all}
        </meter>
      </p>
      {charts.map((chart) => {
        const { id, transitions } = chart;
        const missing = [...(neverTaken[id] ?? [])];
        return (
          <details key={id} class="never-taken">
            <summary>
              {id}: {missing.length === 0 ? 'all taken' : `${missing.length} never taken`}
            </summary>
            {missing.length > 0 && (
              <table>
                <thead>
                  <tr>
                    {['From', 'Event', 'To'].map((title) => (
                      <th key={title} scope="col">
                        {title}
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {missing.map((index) => {
                    const { source, event, guard, otherwise, target } = transitions[index] ?? NO_TRANSITION;
                    return (
                      <tr key={index}>
                        <td title={source}>{stateName(source)}</td>
                        <td>
                          {event === '' ? 'at once' : event}{' '}
                          <span class="muted">{guard ?? (otherwise ? 'else' : '')}</span>
                        </td>
                        <td title={target.join(', ')}>
                          {target.map(stateName).join(', ') || '–'}
                          {onTest !== undefined && (
                            <button type="button" class="link-button" onClick={() => onTest(chart, index)}>
                              Write the test
                            </button>
                          )}
                        </td>
                      </tr>
                    );
                  })}
                </tbody>
              </table>
            )}
          </details>
        );
      })}
    </section>
  );
}

const NO_TRANSITION = { source: '', event: '', guard: null, otherwise: false, target: [] };
