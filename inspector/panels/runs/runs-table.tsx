import './runs.css';
import { signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { InspectedRun } from '../../../src/inspection/wire.ts';
import {
  capitalize,
  formatCost,
  formatDecimal,
  formatDuration,
  formatNumber,
  humanize,
  pluralize,
  startedText,
} from '../../fold/format.ts';
import {
  type ColumnName,
  columnNamed,
  parseRunQuery,
  printRunQuery,
  queriedRuns,
  type RunQuery,
  SORT_COLUMNS,
  valuesOf,
  withoutFilters,
} from '../../fold/run-list.ts';
import { excerpt, shortRunId } from '../../fold/text.ts';
import { Icon } from '../../icon.tsx';
import { addressParameters } from '../../ui-state/address.ts';
import type { Inspector } from '../../ui-state/inspector.ts';
import { addKeys, type Key } from '../../ui-state/keys.ts';
import { comparedRuns } from '../../ui-state/layout.ts';
import { useRows } from '../events/use-rows.ts';
import { save } from '../head/share-dialogs.tsx';
import { ForkMark } from '../header/run-details.tsx';
import { DeleteDialog } from './delete-dialog.tsx';

const ROW_PX = 30;

/** The ids of the runs that are checked. Kept while a run is open. */
const checked = signal<ReadonlySet<string>>(new Set());

/** All runs: searched, filtered and sorted as the address says. */
export function RunsTable({ inspector }: { readonly inspector: Inspector }) {
  const runs = inspector.runs.value;
  const query = parseRunQuery(addressParameters.value);
  const found = useMemo(() => queriedRuns(runs, query), [runs, addressParameters.value]);
  const chosen = found.filter(({ runId }) => checked.value.has(runId));
  const [deleting, setDeleting] = useState<readonly InspectedRun[]>([]);
  const [message, setMessage] = useState('');

  async function download(given: readonly InspectedRun[]): Promise<void> {
    for (const { runId } of given) {
      const { html, problem } = await inspector.exportRun(runId);
      if (problem !== null) return setMessage(problem);
      save(`run-${runId.slice(0, 8).replace(/[^\w-]/gu, '_')}.html`, html);
    }
    setMessage(`Exported ${pluralize(given.length, 'run')}.`);
  }

  function compare([first, second]: readonly InspectedRun[]): void {
    if (first === undefined || second === undefined) return;
    comparedRuns.value = [first.runId, second.runId];
  }

  const unread = inspector.unread.value;
  if (runs.length === 0 && unread === 0) return <NoRuns connection={inspector.connection.value} />;
  return (
    <main class="runs" aria-label="Runs">
      <Filters runs={runs} unread={unread} query={query} count={found.length} />
      <div class="row">
        <span role="status">{message || (chosen.length > 0 ? `${pluralize(chosen.length, 'run')} selected` : '')}</span>
        <button type="button" disabled={chosen.length !== 2} onClick={() => compare(chosen)} title="Select two runs">
          Compare
        </button>
        <button type="button" disabled={chosen.length === 0} onClick={() => void download(chosen)}>
          Export
        </button>
        <button type="button" disabled={chosen.length === 0} onClick={() => setDeleting(chosen)}>
          Delete…
        </button>
      </div>
      <Grid
        inspector={inspector}
        runs={found}
        query={query}
        onExport={(run) => void download([run])}
        onDelete={(run) => setDeleting([run])}
      />
      {deleting.length > 0 && (
        <DeleteDialog
          inspector={inspector}
          runs={deleting}
          onClose={(result) => {
            setDeleting([]);
            setMessage(result);
          }}
        />
      )}
    </main>
  );
}

function setQuery(query: RunQuery): void {
  addressParameters.value = printRunQuery(query);
}

function NoRuns({ connection }: { readonly connection: string }) {
  if (connection === 'connecting') return <main class="no-run">Connecting…</main>;
  return (
    <main class="no-run">
      {connection === 'lost' ? (
        <p>The inspector is not running or cannot be reached. Start it again.</p>
      ) : (
        <div class="first-steps stack">
          <h2>No runs yet</h2>
          <p>Start one in a terminal. It appears here automatically:</p>
          <pre>postchain run "How does a run end?" --docs docs</pre>
          <p>
            Runs of your own program also appear if its <code>fileJournals</code> or <code>sqliteJournals</code> use the
            same directory or file.
          </p>
        </div>
      )}
    </main>
  );
}

interface FiltersProps {
  readonly runs: readonly InspectedRun[];
  /** How many runs follow. */
  readonly unread: number;
  readonly query: RunQuery;
  readonly count: number;
}

const FORKS: Readonly<Record<string, string>> = { without: 'Without forks', only: 'Forks only' };

function Filters({ runs, unread, query, count }: FiltersProps) {
  const options = useMemo(
    () => ({
      status: valuesOf(runs, ({ status }) => [status]),
      model: valuesOf(runs, ({ summary }) => summary?.models ?? []),
      session: valuesOf(runs, ({ summary }) => (summary?.sessionId ? [summary.sessionId] : [])),
      forks: runs.some(({ forkedFrom }) => forkedFrom !== undefined) ? Object.keys(FORKS) : [],
    }),
    [runs],
  );
  const isFiltered = count < runs.length;
  return (
    <search class="runs-filters row" aria-label="Filter">
      <label>
        <span class="visually-hidden">Search runs</span>
        <input
          type="search"
          placeholder="Search questions, models, sessions, reasons"
          value={query.text}
          onInput={({ currentTarget }) => setQuery({ ...query, text: currentTarget.value })}
        />
      </label>
      {(['status', 'model', 'session', 'forks'] as const).map(
        (name) =>
          (options[name].length > 1 || query[name] !== '') && (
            <label key={name}>
              <span class="visually-hidden">{capitalize(name)}</span>
              <select
                value={query[name]}
                onChange={({ currentTarget }) => setQuery({ ...query, [name]: currentTarget.value })}
              >
                <option value="">{name === 'forks' ? 'With forks' : `Any ${name}`}</option>
                {[...new Set([...options[name], query[name]])].filter(Boolean).map((value) => (
                  <option key={value} value={value}>
                    {name === 'forks' ? FORKS[value] : excerpt(value, 40)}
                  </option>
                ))}
              </select>
            </label>
          ),
      )}
      <span class="count muted" role="status">
        {isFiltered ? `${formatNumber(count)} of ${pluralize(runs.length, 'run')}` : pluralize(runs.length, 'run')}
      </span>
      {unread > 0 && (
        <label class="muted">
          <progress max={runs.length + unread} value={runs.length} /> Reading {formatNumber(unread)} more runs…
        </label>
      )}
      {isFiltered && (
        <button type="button" class="link-button" onClick={() => setQuery(withoutFilters(query))}>
          Show all
        </button>
      )}
    </search>
  );
}

interface GridProps {
  readonly inspector: Inspector;
  readonly runs: readonly InspectedRun[];
  readonly query: RunQuery;
  readonly onExport: (run: InspectedRun) => void;
  readonly onDelete: (run: InspectedRun) => void;
}

/** Columns that only some runs fill; they are left out if none does. */
const OPTIONAL: ReadonlySet<ColumnName> = new Set(['cost', 'session']);

/** The runs as rows; only visible ones are rendered. One row has the focus: arrow keys move it. */
function Grid({ inspector, runs, query, onExport, onDelete }: GridProps) {
  const box = useRef<HTMLDivElement>(null);
  const [activeId, setActiveId] = useState<string | null>(null);
  const found = runs.findIndex(({ runId }) => runId === activeId);
  const active = Math.max(0, found);
  const rows = useRows(box, { size: runs.length, index: active, key: activeId, mayStay: true, rowPx: ROW_PX });
  const columns = useMemo(
    () => SORT_COLUMNS.filter(({ name, of }) => !OPTIONAL.has(name) || runs.some((run) => of(run) !== null)),
    [runs],
  );
  const link = useRef<HTMLAnchorElement>(null);
  // After a key has moved the focus, its row may have been rendered just now.
  useLayoutEffect(() => {
    if (activeId !== null) link.current?.focus({ preventScroll: true });
  }, [activeId]);

  /** Moves the focus if the key is a navigation key, and returns whether it is. */
  function move(key: string): boolean {
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: activeId === null ? 0 : 1,
      ArrowUp: -1,
      PageDown: rows.page,
      PageUp: -rows.page,
      Home: -runs.length,
      End: runs.length,
    };
    const step = steps[key];
    if (step === undefined || runs.length === 0) return false;
    const index = Math.max(0, Math.min(runs.length - 1, active + step));
    setActiveId(runs[index]?.runId ?? null);
    rows.show(index);
    link.current?.focus({ preventScroll: true });
    return true;
  }
  const latestMove = useRef(move);
  latestMove.current = move;
  // The keys also work before a row has the focus.
  useEffect(() => addKeys(gridKeys((key) => latestMove.current(key))), []);

  function onKeyDown(event: KeyboardEvent): void {
    const run = runs[active];
    const isOnRow = event.target === link.current && run !== undefined;
    if (!move(event.key)) {
      if (!isOnRow) return;
      if (event.key === ' ') toggle(run);
      else if (event.key === 'Delete') onDelete(run);
      else return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  const visible = runs.slice(rows.first, rows.end);
  const template = `28px ${columns.map(({ name }) => WIDTHS[name]).join(' ')} 56px`;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: moves the focus between the links inside
    <div ref={box} class="runs-grid" style={{ '--columns': template }} onKeyDown={onKeyDown}>
      <table aria-label="Runs" aria-rowcount={runs.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            <td />
            {columns.map(({ name }) => (
              <SortHeader key={name} name={name} query={query} />
            ))}
            <td />
          </tr>
        </thead>
        <tbody style={{ height: `${runs.length * ROW_PX}px`, paddingTop: `${rows.first * ROW_PX}px` }}>
          {visible.map((run, at) => {
            const { runId } = run;
            const isActive = rows.first + at === active;
            return (
              <tr
                key={runId}
                aria-rowindex={rows.first + at + 2}
                class={checked.value.has(runId) ? 'checked' : ''}
                onClick={(event) => {
                  const isOther = (event.target as Element).closest('a, button, input') !== null;
                  // Selecting text, for example the id, also ends with a click.
                  if (!isOther && getSelection()?.isCollapsed !== false) inspector.selectRun(runId);
                }}
              >
                <td>
                  <input
                    type="checkbox"
                    tabIndex={-1}
                    aria-label={`Select ${nameOf(run)}`}
                    checked={checked.value.has(runId)}
                    onChange={() => toggle(run)}
                  />
                </td>
                {columns.map(({ name }) =>
                  name === 'question' ? (
                    <td key={name}>
                      <ForkMark inspector={inspector} run={run} isInTable />
                      <a
                        ref={isActive ? link : null}
                        href={`#/run/${encodeURIComponent(runId)}`}
                        tabIndex={isActive ? 0 : -1}
                        title={nameOf(run)}
                      >
                        {nameOf(run)}
                      </a>
                    </td>
                  ) : (
                    <Cell key={name} name={name} run={run} />
                  ),
                )}
                <td class="row-actions">
                  <button type="button" tabIndex={-1} title="Export as one page" onClick={() => onExport(run)}>
                    <Icon name="download" />
                    <span class="visually-hidden">Export {nameOf(run)}</span>
                  </button>
                  <button type="button" tabIndex={-1} title="Delete (Delete)" onClick={() => onDelete(run)}>
                    <Icon name="cross" />
                    <span class="visually-hidden">Delete {nameOf(run)}</span>
                  </button>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {runs.length === 0 && <p class="muted">No runs match. Change the search or the filters.</p>}
    </div>
  );
}

const gridKeys = (move: (key: string) => void): readonly Key[] =>
  [
    {
      keys: ['ArrowUp', 'ArrowDown', 'PageUp', 'PageDown', 'Home', 'End'],
      description: 'Move between runs',
      act: move,
    },
    { keys: ['Enter'], description: 'Open the run' },
    { keys: [' '], description: 'Select the run' },
    { keys: ['Delete'], description: 'Delete the run, after a confirmation' },
  ].map((key) => ({ ...key, group: 'Runs' }));

const nameOf = ({ title, runId }: InspectedRun): string => excerpt(title, 300) || excerpt(runId, 80);

function toggle({ runId }: InspectedRun): void {
  const next = new Set(checked.value);
  if (!next.delete(runId)) next.add(runId);
  checked.value = next;
}

const WIDTHS: Readonly<Record<ColumnName, string>> = {
  status: '104px',
  question: 'minmax(134px, 3fr)',
  rule: 'minmax(124px, 1fr)',
  cycles: '64px',
  calls: '58px',
  tokens: '72px',
  cost: '84px',
  duration: '80px',
  model: 'minmax(96px, 1.5fr)',
  confidence: '98px',
  session: '76px',
  started: '104px',
  run: '76px',
};

const NUMERIC: ReadonlySet<ColumnName> = new Set(['cycles', 'calls', 'tokens', 'cost', 'duration', 'confidence']);

/** The columns that a narrow page shows. */
const MAJOR: ReadonlySet<ColumnName> = new Set(['status', 'question', 'duration']);

const classOf = (name: ColumnName): string =>
  `${NUMERIC.has(name) ? 'numeric' : ''} ${MAJOR.has(name) ? '' : 'minor'}`.trim();

function SortHeader({ name, query }: { readonly name: ColumnName; readonly query: RunQuery }) {
  const { title, isDescending: first = false } = columnNamed(name);
  const isSorted = query.sort === name;
  const order = query.isDescending ? 'descending' : 'ascending';
  return (
    <th class={classOf(name)} aria-sort={isSorted ? order : 'none'}>
      <button
        type="button"
        class="plain"
        onClick={() => setQuery({ ...query, sort: name, isDescending: isSorted ? !query.isDescending : first })}
      >
        {title}
        {isSorted && <Icon name={query.isDescending ? 'down' : 'up'} />}
      </button>
    </th>
  );
}

function Cell({ name, run }: { readonly name: ColumnName; readonly run: InspectedRun }) {
  const text = cellText(name, run);
  return (
    <td class={classOf(name)} title={name === 'rule' ? reasonOf(run) : name === 'run' ? excerpt(run.runId, 200) : text}>
      {name === 'status' ? <span class={`pill ${run.status}`}>{text}</span> : text}
    </td>
  );
}

const reasonOf = ({ summary, problem }: InspectedRun): string => excerpt(problem ?? summary?.explanation ?? '', 400);

const UNKNOWN = '–';

/** The text of a cell; a dash for what is unknown. */
function cellText(name: ColumnName, run: InspectedRun): string {
  const { summary, status, live, startedAt } = run;
  const shown = <Value,>(value: Value | null | undefined, format: (value: Value) => string): string =>
    value === null || value === undefined ? UNKNOWN : format(value);
  switch (name) {
    case 'status':
      return live ? 'live' : status;
    case 'question':
      return nameOf(run);
    case 'rule':
      return reasonOf(run) || (summary?.rule ? humanize(summary.rule) : UNKNOWN);
    case 'cycles':
      return shown(summary?.cycles, formatNumber);
    case 'calls':
      return shown(summary?.modelCalls, formatNumber);
    case 'tokens':
      return shown(
        summary?.tokens,
        ({ input, output, estimated }) => `${estimated ? '~' : ''}${formatNumber(input + output)}`,
      );
    case 'cost':
      return shown(summary?.cost, formatCost);
    case 'duration':
      return shown(summary?.durationMs, formatDuration);
    case 'model':
      return shown(summary?.models, (models) => excerpt(models.join(', '), 120) || UNKNOWN);
    case 'confidence':
      return shown(summary?.confidence, formatDecimal);
    case 'session':
      return shown(summary?.sessionId, (id) => excerpt(id, 80));
    case 'started':
      return shown(startedText(startedAt), String);
    case 'run':
      return shortRunId(run.runId);
    default:
      return name satisfies never;
  }
}
