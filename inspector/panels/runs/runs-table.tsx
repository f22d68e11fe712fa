import { LinkButton } from '../../link-button.tsx';
import './runs.css';
import { signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { InspectedRun } from '../../../src/inspection/wire.ts';
import { formatCost, formatDuration, formatNumber, startedText } from '../../fold/format.ts';
import {
  actorText,
  ageText,
  answerOf,
  attributesText,
  type ColumnName,
  closestTo,
  columnNamed,
  dueText,
  durationOf,
  earlierFirst,
  isDue,
  listedCount,
  parseRunQuery,
  printRunQuery,
  queriedRuns,
  type RunQuery,
  shownColumns,
  stateOf,
  statusWords,
  waitedText,
  waitsText,
  withoutFilters,
} from '../../fold/run-list.ts';
import { excerpt, shortRunId } from '../../fold/text.ts';
import { Icon } from '../../icon.tsx';
import { addressParameters } from '../../ui-state/address.ts';
import type { Inspector } from '../../ui-state/inspector.ts';
import { type Key, useKeys } from '../../ui-state/keys.ts';
import { comparedRuns } from '../../ui-state/layout.ts';
import { hasCards } from '../../ui-state/media.ts';
import { useOneTabStop } from '../../ui-state/one-tab-stop.ts';
import { useNow } from '../../ui-state/use-now.ts';
import { ExportDialog } from '../head/export-dialog.tsx';
import { RepairDialog, repairsOf } from '../head/repair.tsx';
import { plainMarkdown } from '../markdown.tsx';
import { indexAfter, reveal, scrollerOf, useWindow } from '../trace/use-window.ts';
import { DeleteDialog } from './delete-dialog.tsx';
import { RunsFilters, RunsSummary } from './runs-filters.tsx';

/** The ids of the runs that are checked. Kept while a run is open. */
const checkedRuns = signal<ReadonlySet<string>>(new Set());

function setQuery(query: RunQuery): void {
  addressParameters.value = printRunQuery(query);
}

/** All runs: searched, filtered and sorted as the address says. */
export function RunsTable({ inspector }: { readonly inspector: Inspector }) {
  const runs = inspector.runs.value;
  const query = useMemo(() => parseRunQuery(addressParameters.value), [addressParameters.value]);
  const nowMs = useNow(30_000);
  const found = useMemo(() => queriedRuns(runs, query, nowMs), [runs, query, nowMs]);
  const columns = useMemo(() => shownColumns(found.length > 0 ? found : runs, query), [runs, found, query]);
  const chosen = found.filter(({ runId }) => checkedRuns.value.has(runId));
  const [dialog, openDialog] = useState<{ Shown: typeof DeleteDialog; runs: readonly InspectedRun[] } | null>(null);
  const [isExporting, setExporting] = useState(false);
  const [message, setMessage] = useState('');
  useKeys([{ keys: ['Escape'], description: 'Clear the selection', group: 'List', act: selectNone }]);

  const [runId, unread] = [inspector.selectedRunId.value, inspector.unread.value];
  if (typeof runId === 'string') return <AbsentRun inspector={inspector} runId={runId} />;
  if (runs.length === 0 && unread === 0) return <NoRuns connection={inspector.connection.value} />;
  return (
    <main class="runs" aria-label="Runs and actors">
      <RunsSummary runs={runs} found={found} query={query} nowMs={nowMs} unread={unread} onChange={setQuery} />
      <RunsFilters runs={runs} query={query} columns={columns} onChange={setQuery} />
      <Grid
        key={String(hasCards.value)}
        inspector={inspector}
        runs={found}
        query={query}
        columns={columns}
        onDelete={(run) => openDialog({ Shown: DeleteDialog, runs: [run] })}
      />
      <div class={`selection-bar row${chosen.length > 0 ? ' shown' : ''}`}>
        <span role="status">{chosen.length > 0 ? `${listedCount(chosen)} selected` : message}</span>
        {chosen.length > 0 && (
          <>
            <CompareButton chosen={chosen} runs={runs} />
            <button type="button" aria-haspopup="dialog" onClick={() => setExporting(true)}>
              Download…
            </button>
            <button
              type="button"
              aria-haspopup="dialog"
              disabled={repairsOf(chosen).length === 0}
              title="For durable actors that have failed, are quarantined or have not ended: select one"
              onClick={() => openDialog({ Shown: RepairDialog, runs: chosen })}
            >
              Repair…
            </button>
            <button type="button" onClick={() => openDialog({ Shown: DeleteDialog, runs: chosen })}>
              Delete…
            </button>
            <LinkButton onClick={selectNone} title="Select none (Escape)">
              Clear
            </LinkButton>
            <span>{message}</span>
          </>
        )}
      </div>
      {isExporting && (
        <ExportDialog
          inspector={inspector}
          runIds={chosen.map((run) => run.runId)}
          onClose={() => setExporting(false)}
        />
      )}
      {dialog !== null && (
        <dialog.Shown
          inspector={inspector}
          runs={dialog.runs}
          onClose={(result) => {
            openDialog(null);
            setMessage(result);
          }}
        />
      )}
    </main>
  );
}

/** Compares two chosen runs, or one with the closest other run. */
export function CompareButton({ chosen, runs }: Readonly<Record<'chosen' | 'runs', readonly InspectedRun[]>>) {
  const [one, other = one && closestTo(one, runs)] = chosen;
  const areAlike = other === undefined || one?.kind === other.kind;
  const hasOther = runs.some(({ runId, kind }) => runId !== one?.runId && kind === one?.kind);
  const title = !hasOther ? 'No other run to compare with' : areAlike ? '' : 'A run and an actor cannot be compared';
  return (
    <button
      type="button"
      disabled={chosen.length > 2 || !areAlike || !hasOther}
      onClick={() => {
        if (one !== undefined) comparedRuns.value = other === undefined ? [one.runId, ''] : earlierFirst(one, other);
      }}
      title={title}
    >
      Compare
    </button>
  );
}

function AbsentRun({ inspector, runId }: { readonly inspector: Inspector; readonly runId: string }) {
  const problem = inspector.loaded.value.find((run) => run.runId === runId)?.end.value?.problem;
  return (
    <main class="no-run">
      {problem == null ? (
        <p role="status">Loading…</p>
      ) : (
        <div class="stack">
          <h1>{excerpt(problem, 300)}</h1>
          <p>It may have been deleted, or be in another store than this inspector shows.</p>
          <p>
            <a href="#/">Show all runs and actors</a>
          </p>
        </div>
      )}
    </main>
  );
}

function NoRuns({ connection }: { readonly connection: string }) {
  if (connection === 'connecting') return <main class="no-run">Connecting…</main>;
  return (
    <main class="no-run">
      {connection === 'lost' ? (
        <p>The inspector is not running or cannot be reached. Start it again.</p>
      ) : (
        <div class="stack">
          <h1>No runs or actors yet</h1>
          <p>Start one in a terminal. It appears here automatically:</p>
          <pre class="sunken">postchain run "How does a run end?" --docs docs</pre>
          <p>
            Runs of your own program also appear if its <code>fileJournals</code> or <code>sqliteJournals</code> use the
            same directory or file.
          </p>
        </div>
      )}
    </main>
  );
}

interface GridProps {
  readonly inspector: Inspector;
  readonly runs: readonly InspectedRun[];
  readonly query: RunQuery;
  readonly columns: readonly ColumnName[];
  readonly onDelete: (run: InspectedRun) => void;
}

/** Which run was opened from the list, and how far the list was scrolled then. */
const NO_PLACE = { runId: null as string | null, scrollTop: 0 };
let leftPlace = NO_PLACE;

/** The heights in runs.css. */
const [HEAD_PX, ROW_PX, CARD_PX] = [30, 48, 100];

/** The runs as rows; only visible ones are rendered. One row has the focus: arrow keys move it. */
function Grid({ inspector, runs, query, columns, onDelete }: GridProps) {
  const box = useRef<HTMLTableSectionElement>(null);
  const [activeId, setActiveId] = useState(leftPlace.runId);
  const returns = useRef(leftPlace.runId !== null);
  const found = runs.findIndex(({ runId }) => runId === activeId);
  const active = Math.max(0, found);
  const rowPx = hasCards.value ? CARD_PX : ROW_PX;
  // Before the visible rows are measured.
  useLayoutEffect(() => {
    const scroller = () => box.current && scrollerOf(box.current);
    scroller()?.scrollTo({ top: leftPlace.scrollTop });
    leftPlace = NO_PLACE;
    return () => {
      leftPlace = { runId: inspector.selectedRunId.peek() ?? null, scrollTop: scroller()?.scrollTop ?? 0 };
    };
  }, []);
  const [seen, measure] = useWindow(box);
  const first = Math.max(0, Math.min(runs.length, Math.floor(seen.from / rowPx)));
  const visible = runs.slice(first, Math.max(first, Math.ceil(seen.to / rowPx)));
  // Ages are shown in minutes, the durations of running ones in seconds.
  const nowMs = useNow(visible.some(({ status }) => status === 'running') ? 1_000 : 30_000);
  const link = useRef<HTMLAnchorElement>(null);
  const heads = useOneTabStop<HTMLTableRowElement>();
  // After a key has moved the focus, its row may have been rendered just now.
  useLayoutEffect(() => {
    if (activeId !== null && !returns.current) link.current?.focus({ preventScroll: true });
  }, [activeId]);
  // The row of the run that was open is rendered only after the list has been scrolled to it.
  useLayoutEffect(() => {
    if (!returns.current || found < 0 || link.current === null) return;
    returns.current = false;
    link.current.focus({ preventScroll: true });
  });

  /** Moves the focus if the key is a navigation key, and returns whether it is. */
  function move(key: string): boolean {
    const index = runs.length === 0 ? null : indexAfter(key, activeId === null ? -1 : active, runs.length);
    if (index === null) return false;
    returns.current = false;
    setActiveId(runs[index]?.runId ?? null);
    if (box.current !== null) reveal(box.current, index * rowPx, rowPx, HEAD_PX);
    measure();
    link.current?.focus({ preventScroll: true });
    return true;
  }
  const latestMove = useRef(move);
  latestMove.current = move;
  // The keys also work before a row has the focus.
  useKeys(gridKeys((key) => latestMove.current(key)));

  function onKeyDown(event: KeyboardEvent): void {
    const run = event.target === link.current ? runs[active] : undefined;
    if (!move(event.key)) {
      if (event.key === ' ' && run !== undefined) toggle(run);
      else if (event.key === 'Delete' && run !== undefined) onDelete(run);
      else return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: moves the focus between the links inside
    <div class="runs-grid" onKeyDown={onKeyDown}>
      <table
        aria-label="Runs and actors"
        aria-rowcount={runs.length + 1}
        style={{ '--columns': `32px ${columns.map((name) => WIDTHS[name]).join(' ')}` }}
      >
        <thead>
          <tr aria-rowindex={1} {...heads}>
            <td />
            {columns.map((name) => (
              <SortHeader key={name} name={name} query={query} />
            ))}
          </tr>
        </thead>
        <tbody ref={box} style={{ height: `${runs.length * rowPx}px`, paddingTop: `${first * rowPx}px` }}>
          {visible.map((run, at) => (
            <RunRow
              key={run.runId}
              run={run}
              index={first + at}
              columns={columns}
              nowMs={nowMs}
              link={first + at === active ? link : null}
            />
          ))}
        </tbody>
      </table>
      {runs.length === 0 && (
        <p>
          Nothing matches. <LinkButton onClick={() => setQuery(withoutFilters(query))}>Show all</LinkButton>
        </p>
      )}
    </div>
  );
}

interface RunRowProps {
  readonly run: InspectedRun;
  readonly index: number;
  readonly columns: readonly ColumnName[];
  readonly nowMs: number;
  /** Receives the link of the row that has the focus; null for other rows. */
  readonly link: RefObject<HTMLAnchorElement | null> | null;
}

function RunRow({ run, index, columns, nowMs, link }: RunRowProps) {
  const isChecked = checkedRuns.value.has(run.runId);
  return (
    <tr aria-rowindex={index + 2} class={isChecked ? 'checked' : ''}>
      <td class="check">
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={`Select ${nameOf(run)}`}
          checked={isChecked}
          onChange={() => toggle(run)}
        />
      </td>
      {columns.map((name) =>
        name === 'title' ? (
          <td key={name} class="title">
            <div class="one-line" dir="auto">
              <a
                ref={link}
                class="run-link"
                href={`#/run/${encodeURIComponent(run.runId)}`}
                tabIndex={link === null ? -1 : 0}
                title={nameOf(run)}
              >
                {nameOf(run)}
              </a>
            </div>
            <div class="one-line muted" dir="auto">
              <ForkMark {...run} />
              {resultOf(run)}
            </div>
          </td>
        ) : (
          <Cell key={name} name={name} run={run} columns={columns} nowMs={nowMs} />
        ),
      )}
    </tr>
  );
}

const gridKeys = (move: (key: string) => void): readonly Key[] =>
  [
    {
      keys: ['ArrowUp', 'ArrowDown', 'PageUp', 'PageDown', 'Home', 'End'],
      description: 'Move between rows',
      act: move,
    },
    { keys: ['Enter'], description: 'Open the row' },
    { keys: [' '], description: 'Select the row' },
    { keys: ['Delete'], description: 'Delete it, after a confirmation' },
  ].map((key) => ({ ...key, group: 'List' }));

const nameOf = ({ title, runId }: InspectedRun): string => excerpt(title, 300) || excerpt(runId, 80);

/** The answer or, without one, why; what an actor waits for, and its machine. */
const resultOf = (run: InspectedRun): string => [resultIn(run), actorText(run)].filter(Boolean).join(' · ');

function resultIn(run: InspectedRun): string {
  const { runId, status, summary, problem, ending, quarantined } = run;
  const failure = ending?.failure.replace(`${runId} failed: `, '');
  return (
    excerpt(problem ?? quarantined ?? (failure ? `${status === 'degraded' ? '' : 'Earlier: '}${failure}` : ''), 300) ||
    plainMarkdown(answerOf(run), 200) ||
    excerpt(summary?.explanation ?? '', 300)
  );
}

function toggle({ runId }: InspectedRun): void {
  const next = new Set(checkedRuns.value);
  if (!next.delete(runId)) next.add(runId);
  checkedRuns.value = next;
}

function selectNone(): void {
  checkedRuns.value = new Set();
}

/** Links to where a fork left its original. */
const ForkMark = ({ forkedFrom }: InspectedRun) =>
  forkedFrom && (
    <a class="place" dir="ltr" tabIndex={-1} href={`#/run/${encodeURIComponent(forkedFrom.runId)}/${forkedFrom.seq}`}>
      fork of {shortRunId(forkedFrom.runId)}
    </a>
  );

const WIDTHS: Readonly<Record<ColumnName, string>> = {
  title: 'minmax(180px, 1fr)',
  status: 'minmax(200px, 0.4fr)',
  state: 'minmax(96px, 0.35fr)',
  waiting: '104px',
  due: '136px',
  duration: '84px',
  tokens: '76px',
  cost: '92px',
  model: 'minmax(72px, 132px)',
  machine: 'minmax(72px, 132px)',
  attributes: 'minmax(96px, 0.4fr)',
  session: '88px',
  started: '92px',
};

const NUMERIC: ReadonlySet<ColumnName> = new Set(['waiting', 'due', 'duration', 'tokens', 'cost', 'started']);

const classOf = (name: ColumnName): string => `${name}${NUMERIC.has(name) ? ' numeric' : ''}`;

function SortHeader({ name, query }: { readonly name: ColumnName; readonly query: RunQuery }) {
  const { title, isDescending: first = false } = columnNamed(name);
  const isSorted = query.sort === name;
  const order = query.isDescending ? 'descending' : 'ascending';
  return (
    <th class={classOf(name)} aria-sort={isSorted ? order : 'none'}>
      <button
        type="button"
        class="plain small muted"
        onClick={() => setQuery({ ...query, sort: name, isDescending: isSorted ? !query.isDescending : first })}
      >
        {title}
        {isSorted && <Icon name={query.isDescending ? 'down' : 'up'} />}
      </button>
    </th>
  );
}

interface CellProps {
  readonly name: Exclude<ColumnName, 'title'>;
  readonly run: InspectedRun;
  readonly columns: readonly ColumnName[];
  readonly nowMs: number;
}

function Cell({ name, run, columns, nowMs }: CellProps) {
  if (name === 'status') {
    const { label, detail, tone } = statusWords(run);
    const waited = waitedText(run, nowMs);
    const due = dueText(run, nowMs);
    const states = isDue(run, nowMs) ? '' : excerpt(run.ending?.states ?? '', 80);
    const lacks = (column: ColumnName): boolean => hasCards.value || !columns.includes(column);
    const details = [
      detail,
      lacks('due') && due,
      waited && !columns.includes('duration') && lacks('waiting') && `for ${waited}`,
      lacks('state') && states && `in ${states}`,
    ]
      .filter(Boolean)
      .join(', ');
    return (
      <td class="status" title={excerpt(run.problem ?? run.summary?.explanation ?? '', 400) || details}>
        <div class={`one-line ${tone}`}>{label}</div>
        <div class={`one-line small ${isDue(run, nowMs) ? 'bad' : 'muted'}`}>{details}</div>
      </td>
    );
  }
  const isShown = name === 'duration' && columns.includes('waiting') && stateOf(run) === 'waiting';
  const [text, title] = (isShown ? null : cellText(name, run, nowMs)) ?? [];
  return (
    <td class={classOf(name)} title={title ?? undefined}>
      {text}
    </td>
  );
}

function cellText(
  name: Exclude<ColumnName, 'title' | 'status'>,
  run: InspectedRun,
  nowMs: number,
): readonly [text: string, title?: string | null] | null {
  const { summary, startedAt, machine, waiting } = run;
  const timed = (text: string | null, time: string | number | null | undefined) =>
    text === null ? null : ([text, startedText(time ?? '')] as const);
  switch (name) {
    case 'waiting':
      return timed(waitedText(run, nowMs), waiting?.sinceMs);
    case 'due':
      return timed(dueText(run, nowMs), waiting?.dueAtMs);
    case 'state': {
      const states = excerpt(run.ending?.states ?? '', 120);
      return states === '' ? null : [states, states];
    }
    case 'attributes': {
      const attributes = attributesText(run);
      return attributes === '' ? null : [attributes, attributes];
    }
    case 'machine':
      return machine === undefined ? null : [excerpt(machine, 80), excerpt(machine, 200)];
    case 'duration': {
      if (stateOf(run) === 'waiting') return timed(waitsText(run, nowMs), waiting?.sinceMs);
      const ms = durationOf(run, nowMs);
      return ms === null ? null : [formatDuration(ms)];
    }
    case 'tokens': {
      if (!summary?.tokens) return null;
      const { input, output, estimated } = summary.tokens;
      const text = `${estimated ? '~' : ''}${formatNumber(input + output)}`;
      return [run.forkedFrom ? `${text} own` : text, estimated ? 'Estimated' : null];
    }
    case 'cost':
      return summary?.cost ? [formatCost(summary.cost)] : null;
    case 'model': {
      const models = excerpt(summary?.models.join(', ') ?? '', 120);
      return models === '' ? null : [models, models];
    }
    case 'session':
      return summary?.sessionId ? [excerpt(summary.sessionId, 80), excerpt(summary.sessionId, 200)] : null;
    case 'started':
      return timed(ageText(startedAt, nowMs), startedAt);
    default:
      return name satisfies never;
  }
}
