import { useMemo } from 'preact/hooks';
import type { InspectedRun } from '../../../src/inspection/wire.ts';
import { capitalize, formatNumber, pluralize } from '../../fold/format.ts';
import {
  type ColumnName,
  columnNamed,
  countedViews,
  foundCount,
  KINDS,
  OPTIONAL_COLUMNS,
  queriedRuns,
  type RunQuery,
  SORT_COLUMNS,
  valuesOf,
  withColumn,
  withView,
} from '../../fold/run-list.ts';
import { excerpt } from '../../fold/text.ts';
import { LinkButton } from '../../link-button.tsx';
import { useOneTabStop } from '../../ui-state/one-tab-stop.ts';

interface RunsFiltersProps {
  readonly runs: readonly InspectedRun[];
  readonly query: RunQuery;
  readonly columns: readonly ColumnName[];
  readonly onChange: (query: RunQuery) => void;
}

const SINCE = { '1h': 'Last hour', '24h': 'Last 24 hours', '7d': 'Last 7 days', '30d': 'Last 30 days' };

export function RunsFilters({ runs, query, columns, onChange }: RunsFiltersProps) {
  const isMixed = new Set(runs.map(({ kind }) => kind)).size > 1;
  const options = useMemo(() => {
    const named = (values: readonly string[]) => values.map((value) => [value, excerpt(value, 40)] as const);
    return {
      since: Object.entries(SINCE),
      machine: [...(isMixed ? Object.entries(KINDS) : []), ...named(valuesOf(runs, ({ machine = null }) => [machine]))],
      model: named(valuesOf(runs, ({ summary }) => summary?.models ?? [])),
      session: named(valuesOf(runs, ({ summary }) => [summary?.sessionId ?? null])),
    };
  }, [runs, isMixed]);
  const select = (name: keyof typeof options, label: string) => {
    const known = options[name];
    const chosen = query[name];
    if (known.length < 2 && chosen === '') return null;
    return (
      <label key={name}>
        <span class="visually-hidden">{name === 'since' ? 'Started' : capitalize(name)}</span>
        <select value={chosen} onChange={({ currentTarget }) => onChange({ ...query, [name]: currentTarget.value })}>
          <option value="">{label}</option>
          {chosen !== '' && !known.some(([value]) => value === chosen) && (
            <option value={chosen}>{excerpt(chosen, 40)}</option>
          )}
          {known.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      </label>
    );
  };
  return (
    <search class="runs-filters row" aria-label="Filter">
      <label class="search">
        <span class="visually-hidden">Search runs and actors</span>
        <input
          type="search"
          placeholder="Search id, machine, question"
          title="Searches titles, ids, machines, attributes (customer=c-1), states, awaited events and questions, errors, answers, models, and why runs ended; not payloads."
          value={query.text}
          onInput={({ currentTarget }) => onChange({ ...query, text: currentTarget.value })}
        />
      </label>
      {select('since', 'Any time')}
      {select('machine', isMixed ? 'Any kind' : 'Any machine')}
      {select('model', 'Any model')}
      {select('session', 'Any session')}
      <label class="narrow-only">
        <span class="visually-hidden">Sort by</span>
        <select
          value={query.sort}
          onChange={({ currentTarget }) => {
            const sort = (currentTarget.value || query.sort) as RunQuery['sort'];
            const isDescending = currentTarget.value === '' ? !query.isDescending : columnNamed(sort).isDescending;
            onChange({ ...query, sort, isDescending: isDescending === true });
          }}
        >
          <option value="attention">Attention</option>
          {SORT_COLUMNS.map(({ name, title }) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
          <option value="">Reverse the order</option>
        </select>
      </label>
      <span
        class="muted small wide-only"
        title="First what waits for a person, is overdue or failed within the last day; then the latest"
      >
        {query.sort === 'attention' ? (
          <>
            Order: <b>needs attention first</b>, then latest
          </>
        ) : (
          <LinkButton onClick={() => onChange({ ...query, sort: 'attention', isDescending: true })}>
            Order by attention
          </LinkButton>
        )}
      </span>
      <details class="columns wide-only">
        <summary>Columns</summary>
        <div class="row">
          {OPTIONAL_COLUMNS.map(({ name, title }) => (
            <label key={name}>
              <input
                type="checkbox"
                checked={columns.includes(name)}
                onChange={() => onChange(withColumn(query, columns, name))}
              />{' '}
              {title}
            </label>
          ))}
          {query.columns !== '' && (
            <LinkButton onClick={() => onChange({ ...query, columns: '' })}>Default columns</LinkButton>
          )}
        </div>
      </details>
    </search>
  );
}

interface RunsSummaryProps {
  readonly runs: readonly InspectedRun[];
  readonly found: readonly InspectedRun[];
  readonly query: RunQuery;
  readonly nowMs: number;
  readonly unread: number;
  readonly onChange: (query: RunQuery) => void;
}

/** How many runs are shown; the counts by status are filters. */
export function RunsSummary({ runs, found, query, nowMs, unread, onChange }: RunsSummaryProps) {
  const views = useMemo(() => {
    const counted = countedViews(queriedRuns(runs, { ...query, status: '' }, nowMs), nowMs);
    const isKnown = query.status === '' || counted.some(([view]) => view === query.status);
    return isKnown ? counted : [[query.status, 0] as const, ...counted];
  }, [runs, query, nowMs]);
  return (
    <div class="runs-summary row">
      <h1>
        <span role="status">{foundCount(found, runs)}</span>
      </h1>
      {unread > 0 && (
        <label class="muted">
          <progress max={runs.length + unread} value={runs.length} /> Reading {pluralize(unread, 'more journal')}…
        </label>
      )}
      <fieldset class="row" aria-label="Status" {...useOneTabStop<HTMLFieldSetElement>()}>
        {views.map(([view, count]) => (
          <button
            key={view}
            type="button"
            class={`pill ${TONES[view] ?? ''}`}
            aria-pressed={query.status === view}
            title={TITLES[view]}
            onClick={() => onChange(withView(query, query.status === view ? '' : view))}
          >
            {formatNumber(count)} {viewWords(view, count)}
          </button>
        ))}
      </fieldset>
    </div>
  );
}

const TONES: Readonly<Record<string, string>> = { 'for-you': 'asks', due: 'wrong', failed: 'wrong', damaged: 'wrong' };

const TITLES: Readonly<Record<string, string>> = {
  'for-you': 'Wait for an approval, consent or direction that you can give here',
  'for-its-program': 'Wait for an answer that only their own program can give',
  due: 'No process has continued them after their delay',
  failed: 'Actors that ended with an error',
  quarantined: 'No worker continues them until they are released',
  interrupted: 'Their process ended before they did; they can be resumed',
  waiting: 'Wait for an event or a delay',
  degraded: 'Runs that ended with an uncertain answer or none; see the status for the reason',
  completed: 'Runs that ended with an answer, and actors that reached a final state',
  stopped: 'Actors that were stopped',
};

function viewWords(view: string, count: number): string {
  const isOne = count === 1;
  if (view === 'for-you') return isOne ? 'waits for you' : 'wait for you';
  if (view === 'for-its-program') return isOne ? 'waits for its program' : 'wait for their programs';
  return excerpt(view, 40).replaceAll('-', ' ');
}
