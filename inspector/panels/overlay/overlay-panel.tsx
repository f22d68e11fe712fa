import { counted, duration, grouped } from '../../fold/format.ts';
import {
  MEASURES,
  type MeasureName,
  marksNeverTaken,
  overlayOf,
  overlayScope,
  shownMeasure,
} from '../../ui-state/overlay.ts';
import type { PanelProps } from '../panel.tsx';
import './overlay.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { RunCharts } from '../../../src/inspection/wire.ts';
import type { Coverage } from '../../fold/coverage.ts';
import { type Measure, NOTHING } from '../../fold/state-measures.ts';
import { type Inspector, isHere, loadRuns } from '../../ui-state/inspector.ts';
import { stateName } from '../../ui-state/text.ts';
import { Icon } from '../icon.tsx';

/** Measures by state, to be read here and to be laid over the chart; and the ways that no run took. */
export function OverlayPanel({ inspector, view }: PanelProps) {
  const overlay = overlayOf(inspector);
  const { charts } = view;
  if (charts === null) return <p class="muted">Loading the charts of this run…</p>;
  const { counted: runs, leftOut } = overlay.runs.value;
  return (
    <div class="overlay-panel">
      <div class="overlay-choices">
        <label>
          Show on the chart{' '}
          <select
            value={shownMeasure.value ?? ''}
            onChange={({ currentTarget }) => {
              shownMeasure.value = MEASURES.find(({ name }) => name === currentTarget.value)?.name ?? null;
            }}
          >
            <option value="">nothing</option>
            {MEASURES.map(({ name, title }) => (
              <option key={name} value={name}>
                {title.toLowerCase()}
              </option>
            ))}
          </select>
        </label>
        <label>
          Counted{' '}
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
      </div>
      <p class="muted" role="status">
        {overlayScope.value === 'run' ? 'This run, up to the cursor.' : `${counted(runs, 'run')}, complete.`}
        {leftOut > 0 && ` ${counted(leftOut, 'run')} with other charts excluded.`}
      </p>
      <MeasureTable charts={charts} measures={overlay.measures.value} />
      <section aria-labelledby="never-taken-title">
        <h2 id="never-taken-title">Coverage</h2>
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
        {overlay.coverage.value !== null && <NeverTaken charts={charts} coverage={overlay.coverage.value} />}
      </section>
    </div>
  );
}

/** They are all kept in this page. */
const MOST_RUNS = 50;

/** Brings the newest runs here, so that they count too. */
function LoadNewest({ inspector }: { readonly inspector: Inspector }) {
  const newest = inspector.runs.value.slice(0, MOST_RUNS);
  const here = newest.filter(({ runId, live }) =>
    inspector.loaded.value.some((run) => run.runId === runId && isHere(run, live)),
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

  function leaveOff(): void {
    stop.current();
    setLoading(false);
  }

  if (newest.length <= 1) return null;
  if (isLoading)
    return (
      <span class="overlay-loading">
        <progress value={here} max={newest.length} aria-label="Runs loaded" /> {here} of {newest.length}{' '}
        <button type="button" onClick={leaveOff}>
          Stop
        </button>
      </span>
    );
  return (
    <button type="button" onClick={load} disabled={here === newest.length}>
      {here === newest.length
        ? `All ${newest.length} runs are loaded`
        : inspector.runs.value.length > MOST_RUNS
          ? `Load the newest ${MOST_RUNS} runs`
          : `Load all ${newest.length} runs`}
    </button>
  );
}

type Column = MeasureName | 'chart';

interface MeasureTableProps {
  readonly charts: RunCharts;
  readonly measures: Readonly<Record<string, ReadonlyMap<string, Measure>>>;
}

/** All states, each chart by itself; sorted by any of the measures. Those that were never visited keep their rows. */
function MeasureTable({ charts: { charts }, measures }: MeasureTableProps) {
  const [by, setBy] = useState<Column>('chart');
  return (
    <table class="measure-table">
      <caption class="unseen">Measures by state</caption>
      <thead>
        <tr>
          <Head title="State" column="chart" by={by} onSort={setBy} />
          {MEASURES.map(({ name, title }) => (
            <Head key={name} title={title} column={name} by={by} onSort={setBy} />
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
                <td>{duration(measure.ms)}</td>
                <td>{grouped(measure.visits)}</td>
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

const Count = ({ of }: { readonly of: number }) => <td class={of === 0 ? 'muted' : ''}>{grouped(of)}</td>;

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
  readonly charts: RunCharts;
  readonly coverage: Coverage;
}

/** How many transitions were taken, and which were not. */
function NeverTaken({ charts: { charts }, coverage: { takenCount, all, neverTaken } }: NeverTakenProps) {
  return (
    <>
      <p>
        <strong>
          {takenCount} of {all}
        </strong>{' '}
        transitions taken{' '}
        <meter min={0} max={all} value={takenCount} aria-label="Transitions taken">
          {takenCount} of {all}
        </meter>
      </p>
      {charts.map(({ id, transitions }) => {
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
                    {['From', 'Event', 'Guard', 'To'].map((title) => (
                      <th key={title} scope="col">
                        {title}
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {missing.map((place) => {
                    const { source, event, guard, otherwise, target } = transitions[place] ?? NO_TRANSITION;
                    return (
                      <tr key={place}>
                        <td title={source}>{stateName(source)}</td>
                        <td>{event === '' ? <span class="muted">at once</span> : event}</td>
                        <td>{guard ?? <span class="muted">{otherwise ? 'else' : '–'}</span>}</td>
                        <td title={target.join(', ')}>{target.map(stateName).join(', ') || '–'}</td>
                      </tr>
                    );
                  })}
                </tbody>
              </table>
            )}
          </details>
        );
      })}
    </>
  );
}

const NO_TRANSITION = { source: '', event: '', guard: null, otherwise: false, target: [] };
