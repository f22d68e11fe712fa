import './fleet.css';
import { Fragment } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ChartTransition } from '../../../src/durable/charts/chart.ts';
import type { InspectedRun, RunCharts } from '../../../src/inspection/wire.ts';
import { runsThatTook } from '../../fold/fleet.ts';
import { formatDuration, formatNumber, formatShare, humanizeGuard, pluralize } from '../../fold/format.ts';
import { groupBy } from '../../fold/group-by.ts';
import { queriedRuns } from '../../fold/run-list.ts';
import { type Measure, NOTHING } from '../../fold/state-measures.ts';
import { excerpt, stateName } from '../../fold/text.ts';
import { Icon } from '../../icon.tsx';
import {
  activeMeasure,
  allTotals,
  type Fleet,
  figureOf,
  fleetOf,
  fleetQueries,
  fleetScope,
  MAX_RUNS,
  MEASURES,
  type MeasureName,
  marksNeverTaken,
  type RunSet,
} from '../../ui-state/fleet.ts';
import type { Inspector } from '../../ui-state/inspector.ts';
import { activePanel } from '../../ui-state/panel.ts';
import type { PanelProps } from '../panel.tsx';
import { Filters } from '../runs/runs-table.tsx';

/** Many runs on one chart: the share that took each line, figures by state, rare paths, and two sets next to each other. */
export function FleetPanel({ inspector, view: { charts, run } }: PanelProps) {
  const fleet = fleetOf(inspector);
  if (charts === null) return <p class="muted">Loading the charts of this run…</p>;
  const sets = fleet.sets.value;
  const table = <StateTable charts={charts} fleet={fleet} key={sets?.length} />;
  return (
    <div class="fleet-panel stack">
      <div class="row">
        <ScopeChoice inspector={inspector} />
        <label>
          Color by{' '}
          <select
            value={activeMeasure.value ?? ''}
            onChange={({ currentTarget }) => {
              activeMeasure.value = MEASURES.find(({ name }) => name === currentTarget.value)?.name ?? null;
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
      </div>
      {sets !== null && <Sets inspector={inspector} />}
      <div class="row">
        {sets !== null && <SecondSetButton />}
        <ReadProgress fleet={fleet} />
      </div>
      {sets?.length === 2 && table}
      {sets !== null && <Paths inspector={inspector} sets={sets} />}
      {sets !== null && <RareLines inspector={inspector} charts={charts} sets={sets} />}
      {sets?.length !== 2 && table}
      {sets !== null && (
        <p class="muted">
          {sets.length < 2
            ? 'Lines show the share of runs that took them.'
            : 'Blue: higher in A. Amber: higher in B. A gray line has nearly the same share in both; A+12: 12 percentage points higher in A.'}{' '}
          Time and tokens are means per visit, visits are means per run; retries and failures are shown as a percentage
          of visits.
        </p>
      )}
      {run.kind === 'system' && <NeverTaken inspector={inspector} charts={charts} />}
    </div>
  );
}

function ScopeChoice({ inspector }: { readonly inspector: Inspector }) {
  if (inspector.runs.value.length < 2) return null;
  return (
    <label>
      Show{' '}
      <select
        value={fleetScope.value}
        onChange={({ currentTarget }) => {
          fleetScope.value = currentTarget.value === 'run' ? 'run' : 'sets';
        }}
      >
        <option value="sets">many runs</option>
        <option value="run">this run up to the cursor</option>
      </select>
    </label>
  );
}

const SET_NAMES = ['A', 'B'];
const classOf = (at: number): string => (at === 0 ? 'of-a' : 'of-b');

/** The filters of the sets. */
function Sets({ inspector }: { readonly inspector: Inspector }) {
  const queries = fleetQueries.value;
  const isOne = queries.length < 2;
  const hasForks = inspector.runs.value.some(({ forkedFrom }) => forkedFrom !== undefined);
  return (
    <>
      {queries.map((query, at) => (
        <div class="fleet-set row" key={SET_NAMES[at]}>
          {!isOne && <b class={classOf(at)}>{SET_NAMES[at]}</b>}
          <Filters
            label={isOne ? 'Filters' : `Filters of set ${SET_NAMES[at]}`}
            runs={inspector.runs.value}
            query={query}
            onQuery={(changed) => {
              fleetQueries.value = queries.with(at, changed);
            }}
            count={queriedRuns(inspector.runs.value, query).length}
            hasTimes
          />
        </div>
      ))}
      {hasForks && queries.every(({ forks }) => forks === 'without') && (
        <p class="muted">Forks are left out, because each repeats the start of another run.</p>
      )}
    </>
  );
}

function SecondSetButton() {
  const queries = fleetQueries.value;
  const isOne = queries.length < 2;
  return (
    <button
      type="button"
      onClick={() => {
        fleetQueries.value = isOne ? [...queries, ...queries] : queries.slice(0, 1);
      }}
    >
      {isOne ? 'Compare with a second set' : 'Show set A only'}
    </button>
  );
}

/** Reads the runs that are still missing, and shows how far it is. */
function ReadProgress({ fleet: { sets, wanted, unread, read, isCut } }: { readonly fleet: Fleet }) {
  const [isStopped, setStopped] = useState(false);
  const [all, missing] = [wanted.value.length, unread.value.length];
  const isReading = missing > 0 && !isStopped;
  // A changed filter starts again with the runs that it adds.
  useEffect(() => (isReading ? read() : undefined), [isReading, wanted.value, read]);
  if (sets.value === null) return <p class="muted">This run, up to the cursor.</p>;
  const included = new Set(sets.value.flatMap(({ runs }) => runs.map(({ run }) => run)));
  const excluded = all - missing - included.size;
  return (
    <p class="row" role="status">
      {missing > 0 && <progress value={all - missing} max={all} aria-label="Runs read" />}
      {missing > 0
        ? `${formatNumber(all - missing)} of ${pluralize(all, 'run')} read`
        : `${pluralize(all, 'run')} read`}
      {missing > 0 && (
        <button type="button" onClick={() => setStopped(!isStopped)}>
          {isStopped ? 'Continue' : 'Stop'}
        </button>
      )}
      {excluded > 0 && <span>{formatNumber(excluded)} were skipped: unreadable, or with different charts.</span>}
      {isCut.value && (
        <span>
          Only the newest matching runs are included, {MAX_RUNS} in all. Narrow the filters to include others.
        </span>
      )}
    </p>
  );
}

type Column = MeasureName | 'chart';

const SUMS: readonly MeasureName[] = ['ms', 'visits', 'tokens', 'retries', 'failures'];
const MEANS: readonly MeasureName[] = ['runs', 'ms', 'tokens', 'failures'];

interface Row {
  readonly key: string;
  readonly name: string;
  readonly depth: number;
  /** One measure for the selected run, or one for each set. */
  readonly measures: readonly Measure[];
  /** A line has a share, but no other figures. */
  readonly isLine?: boolean;
}

/** The figures of the states, in the order of the chart. With two sets also those of the lines, the largest difference first. */
function StateTable({
  charts: { charts },
  fleet: { sets, numbers },
}: {
  readonly charts: RunCharts;
  readonly fleet: Fleet;
}) {
  const isPair = sets.value?.length === 2;
  const [sorted, setSorted] = useState<Column>(isPair ? 'runs' : 'chart');
  const columns = sets.value === null ? SUMS : MEANS;
  const by = sorted === 'chart' || columns.includes(sorted) ? sorted : 'chart';
  const counts = sets.value?.map(({ runs }) => runs.length) ?? [null];
  const all = (sets.value ?? [{ numbers: numbers.value }]).map((set) => set.numbers);

  const rows = charts.flatMap(({ id, states, transitions }): readonly Row[] => {
    const depths = new Map<string | null, number>([[null, -1]]);
    const ofStates = states.map(({ id: state, parent }) => {
      const depth = (depths.get(parent) ?? -1) + 1;
      depths.set(state, depth);
      const name = depth === 0 ? state : by === 'chart' ? (state.split('.').at(-1) ?? state) : stateName(state);
      return { key: state, name, depth, measures: all.map((own) => own[id]?.get(state) ?? NOTHING) };
    });
    if (!isPair) return ofStates;
    const ofLines = transitions.map((transition, index) => {
      const took = sets.value?.map(({ runs }) => runsThatTook(allTotals(runs), id, [index])) ?? [];
      const measures = took.map((runs) => ({ ...NOTHING, runs }));
      return { key: `${id} ${index}`, name: transitionName(transition), depth: 0, measures, isLine: true };
    });
    return [...ofStates, ...ofLines].filter(({ measures }) => measures.some(({ runs }) => runs > 0));
  });
  /** The figure of the sorted column; of two sets, how much they differ. */
  const rankOf = ({ measures, isLine }: Row): number => {
    if (by === 'chart') return 0;
    const [one = 0, other] = measures.map((measure, at) => figureOf(by, measure, counts[at] ?? null).value);
    if (other === undefined) return one;
    const isKnown = by === 'runs' || (!isLine && measures.every(({ runs }) => runs > 0));
    return isKnown ? Math.abs(one - other) : -1;
  };
  const ordered = rows.toSorted((one, other) => rankOf(other) - rankOf(one));
  return (
    <table class={`measure-table ${isPair ? 'pair' : ''}`}>
      <caption class="visually-hidden">Measures by state</caption>
      <thead>
        <tr>
          {(['chart', ...columns] as const).map((column) => {
            const order = column === 'chart' ? 'ascending' : 'descending';
            return (
              <th key={column} scope="col" aria-sort={by === column ? order : 'none'}>
                <button type="button" class="plain" onClick={() => setSorted(column)}>
                  {MEASURES.find(({ name }) => name === column)?.title ?? (isPair ? 'State or transition' : 'State')}
                  {by === column && <Icon name={order === 'ascending' ? 'up' : 'down'} />}
                </button>
              </th>
            );
          })}
        </tr>
      </thead>
      <tbody>
        {ordered.map(({ key, name, depth, measures, isLine }) => (
          <tr key={key} class={measures.every(({ runs }) => runs === 0) ? 'muted' : undefined}>
            <th scope="row" style={{ '--depth': by === 'chart' ? Math.min(depth, 3) : 0 }} title={key}>
              {excerpt(name, 90)}
            </th>
            {columns.map((column) => (
              <td key={column}>
                {(!isLine || column === 'runs') &&
                  measures.map((measure, at) => (
                    <span key={SET_NAMES[at]} class={isPair ? classOf(at) : measure[column] === 0 ? 'muted' : ''}>
                      {isPair && <span class="visually-hidden">{SET_NAMES[at]} </span>}
                      {cellText(column, measure, counts[at] ?? null)}
                    </span>
                  ))}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A figure without its unit if the heading names it. */
function cellText(name: MeasureName, measure: Measure, runs: number | null): string {
  const { value, text } = figureOf(name, measure, runs);
  if (runs === 0 || (runs !== null && measure.runs === 0 && name !== 'runs')) return '–';
  if (name === 'ms') return formatDuration(value);
  return runs !== null && name !== 'tokens' ? text || '0%' : formatNumber(Math.round(value));
}

function transitionName({ source, target, event, guard }: ChartTransition): string {
  const why = guard !== null ? humanizeGuard(guard) : event;
  return `${stateName(source)} → ${target.map(stateName).join(', ') || 'stays'}${why === '' ? '' : `: ${why}`}`;
}

interface SetsProps {
  readonly inspector: Inspector;
  readonly sets: readonly RunSet[];
}

/** The paths of all runs, the most frequent first. */
function Paths({ inspector, sets }: SetsProps) {
  const all = sets.flatMap(({ runs }, at) =>
    runs.map(({ run, totals }) => ({ run, at, path: totals.path, seq: null })),
  );
  const paths = [...groupBy(all, ({ path }) => path.join(' → '))]
    .map(([key, own]) => ({ key, own, path: own[0]?.path ?? [] }))
    .sort((one, other) => other.own.length - one.own.length);
  const first = paths[0]?.path ?? [];
  const items = paths.map(({ key, own, path }, rank) => (
    <li key={key}>
      {sets.map(({ runs }, at) => (
        <b key={SET_NAMES[at]} class={sets.length < 2 ? '' : classOf(at)}>
          {formatShare(own.filter((one) => one.at === at).length / Math.max(1, runs.length))}{' '}
        </b>
      ))}
      {rank === 0 ? excerpt(key, 600) : <PathDifference path={path} from={first} />}{' '}
      <OpenRuns inspector={inspector} runs={[...new Map(own.map((one) => [one.run, one])).values()]} />
    </li>
  ));
  return (
    <section class="fleet-list" aria-labelledby="paths-title">
      <h2 id="paths-title">{pluralize(paths.length, 'path')}</h2>
      <p class="muted">The most frequent path is first; the others show where they differ from it.</p>
      <ul>{items}</ul>
    </section>
  );
}

/** The part of a path that differs from another path, and the states around it. */
function PathDifference({ path, from }: { readonly path: readonly string[]; readonly from: readonly string[] }) {
  const start = path.findIndex((state, at) => state !== from[at]);
  const common = start < 0 ? path.length : start;
  let end = 0;
  while (end < Math.min(path.length, from.length) - common && path.at(-1 - end) === from.at(-1 - end)) end += 1;
  const last = path.length - end;
  const instead = from.slice(common, from.length - end).join(' → ');
  return (
    <>
      {common > 0 && `${common > 1 ? '… → ' : ''}${path[common - 1]}`}
      {path.slice(common, last).map((state, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the states of a path keep their order
        <Fragment key={at}>
          {common + at > 0 && ' → '}
          <mark>{excerpt(state, 120)}</mark>
        </Fragment>
      ))}
      {end > 0 && ` → ${path[last]}${end > 1 ? ' → …' : ''}`}
      {instead !== '' && <span class="muted"> instead of {excerpt(instead, 300)}</span>}
    </>
  );
}

const MAX_LINES = 12;

/** The lines that at most a tenth of the runs took, with those runs. */
function RareLines({ inspector, charts: { charts }, sets }: SetsProps & { readonly charts: RunCharts }) {
  const all = [...new Map(sets.flatMap(({ runs }) => runs.map((one) => [one.run, one]))).values()];
  const lines = charts.flatMap(({ id, transitions }) =>
    transitions.map((transition, index) => {
      const took = all.filter(({ totals }) => totals.taken[id]?.has(index));
      const runs = took.map(({ run, totals }) => ({ run, seq: totals.taken[id]?.get(index) ?? null }));
      const where = id === charts[0]?.id ? '' : ` (in ${id})`;
      return { key: `${id} ${index}`, name: `${transitionName(transition)}${where}`, runs };
    }),
  );
  const rare = lines.filter(({ runs }) => runs.length > 0 && runs.length <= Math.max(1, all.length / 10));
  return (
    <section class="fleet-list" aria-labelledby="rare-title">
      <h2 id="rare-title">Rare transitions</h2>
      <p class="muted">{rare.length === 0 ? 'None.' : 'Taken by at most 10% of the runs, or by one run.'}</p>
      <ul>
        {rare
          .sort((one, other) => one.runs.length - other.runs.length)
          .slice(0, MAX_LINES)
          .map(({ key, name, runs }) => (
            <li key={key}>
              <b>{pluralize(runs.length, 'run')}</b> {excerpt(name, 120)} <OpenRuns inspector={inspector} runs={runs} />
            </li>
          ))}
      </ul>
    </section>
  );
}

interface OpenRunsProps {
  readonly inspector: Inspector;
  /** `seq`: the entry to explain; null opens the end. */
  readonly runs: readonly { readonly run: InspectedRun; readonly seq: number | null }[];
}

const MAX_OPEN = 3;

/** Links that open the first of some runs. */
const OpenRuns = ({ inspector, runs }: OpenRunsProps) => (
  <>
    {runs.slice(0, MAX_OPEN).map(({ run: { runId, title }, seq }) => (
      <button
        key={runId}
        type="button"
        class="link-button"
        title={excerpt(title, 300)}
        onClick={() => {
          inspector.selectRun(runId);
          inspector.cursor.value = seq;
          activePanel.value = seq === null ? 'reply' : 'why';
        }}
      >
        {excerpt(title, 24) || excerpt(runId, 8)}
      </button>
    ))}
    {runs.length > MAX_OPEN && <span class="muted">and {pluralize(runs.length - MAX_OPEN, 'more run')}</span>}
  </>
);

interface NeverTakenProps {
  readonly inspector: Inspector;
  readonly charts: RunCharts;
}

/** The number of transitions that the runs took, and a list of the others. */
function NeverTaken({ inspector, charts: { charts } }: NeverTakenProps) {
  const coverage = fleetOf(inspector).coverage.value;
  if (coverage === null) return null;
  const { takenCount, all, neverTaken } = coverage;
  return (
    <section aria-labelledby="never-taken-title">
      <h2 id="never-taken-title">Coverage</h2>
      <label>
        <input
          type="checkbox"
          checked={marksNeverTaken.value}
          onChange={({ currentTarget }) => {
            marksNeverTaken.value = currentTarget.checked;
          }}
        />{' '}
        Mark never-taken transitions in the chart
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
                    {['From', 'Event and guard', 'To'].map((title) => (
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
                          {event === '' ? 'always' : event}{' '}
                          <span class="muted">{guard ?? (otherwise ? 'else' : '')}</span>
                        </td>
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
    </section>
  );
}

const NO_TRANSITION = { source: '', event: '', guard: null, otherwise: false, target: [] };
