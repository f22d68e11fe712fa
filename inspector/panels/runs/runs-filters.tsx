import { useMemo } from 'preact/hooks';
import type { InspectedRun } from '../../../src/inspection/wire.ts';
import { capitalize, formatCost, formatDuration, formatNumber, pluralize } from '../../fold/format.ts';
import {
  columnNamed,
  countsOf,
  queriedRuns,
  type RunQuery,
  SORT_COLUMNS,
  stateOf,
  summaryOf,
  valuesOf,
} from '../../fold/run-list.ts';
import { excerpt } from '../../fold/text.ts';
import { useOneTabStop } from '../../ui-state/one-tab-stop.ts';
import { listedCount, listedNoun } from './list-words.ts';

interface RunsFiltersProps {
  readonly runs: readonly InspectedRun[];
  readonly query: RunQuery;
  readonly canGroup: boolean;
  readonly onChange: (query: RunQuery) => void;
}

export function RunsFilters({ runs, query, canGroup, onChange }: RunsFiltersProps) {
  const options = useMemo(
    () => ({
      model: valuesOf(runs, ({ summary }) => summary?.models ?? []),
      session: valuesOf(runs, ({ summary }) => [summary?.sessionId ?? null]),
    }),
    [runs],
  );
  return (
    <search class="runs-filters row" aria-label="Filter">
      <label class="search">
        <span class="visually-hidden">Search runs</span>
        <input
          type="search"
          placeholder="Search questions, answers, models, sessions"
          value={query.text}
          onInput={({ currentTarget }) => onChange({ ...query, text: currentTarget.value })}
        />
      </label>
      {(['model', 'session'] as const).map(
        (name) =>
          (options[name].length > 1 || query[name] !== '') && (
            <label key={name}>
              <span class="visually-hidden">{capitalize(name)}</span>
              <select
                value={query[name]}
                onChange={({ currentTarget }) => onChange({ ...query, [name]: currentTarget.value })}
              >
                <option value="">{`Any ${name}`}</option>
                {[...new Set([...options[name], query[name]])].filter(Boolean).map((value) => (
                  <option key={value} value={value}>
                    {excerpt(value, 40)}
                  </option>
                ))}
              </select>
            </label>
          ),
      )}
      <label class="narrow-only">
        <span class="visually-hidden">Sort by</span>
        <select
          value={query.sort}
          onChange={({ currentTarget }) => {
            const { name } = SORT_COLUMNS.find((column) => column.name === currentTarget.value) ?? { name: 'started' };
            onChange({ ...query, sort: name, isDescending: columnNamed(name).isDescending === true });
          }}
        >
          {SORT_COLUMNS.map(({ name, title }) => (
            <option key={name} value={name}>
              By {(name === 'question' ? listedNoun(runs) : title).toLowerCase()}
            </option>
          ))}
        </select>
      </label>
      {canGroup && (
        <label class="row" title="Forks under their originals, turns of a session under each other">
          <input
            type="checkbox"
            checked={query.list !== 'flat'}
            onChange={({ currentTarget }) => onChange({ ...query, list: currentTarget.checked ? '' : 'flat' })}
          />
          Grouped
        </label>
      )}
    </search>
  );
}

interface RunsSummaryProps {
  readonly runs: readonly InspectedRun[];
  readonly found: readonly InspectedRun[];
  readonly query: RunQuery;
  /** How many runs follow. */
  readonly unread: number;
  readonly onChange: (query: RunQuery) => void;
}

/** The shown runs in numbers; the counts are filters. */
export function RunsSummary({ runs, found, query, unread, onChange }: RunsSummaryProps) {
  const states = useMemo(() => countsOf(queriedRuns(runs, { ...query, status: '' }), stateOf), [runs, query]);
  const { failing, medianMs, medianTokens, medianCost } = useMemo(() => summaryOf(found), [found]);
  const medians = [
    medianMs === null ? '' : formatDuration(medianMs),
    medianTokens === null ? '' : pluralize(Math.round(medianTokens), 'token'),
    medianCost === null ? '' : formatCost(medianCost),
  ].filter(Boolean);
  const filter = (name: 'status' | 'failures', value: string, text: string, tone = '') => (
    <button
      key={value}
      type="button"
      class={`filter ${tone}`}
      aria-pressed={query[name] === value}
      onClick={() => onChange({ ...query, [name]: query[name] === value ? '' : value })}
    >
      {text}
    </button>
  );
  return (
    <div class="runs-summary row">
      <h1>
        <span role="status">
          {found.length < runs.length && `${formatNumber(found.length)} of `}
          {listedCount(runs)}
        </span>
      </h1>
      {unread > 0 && (
        <label class="muted">
          <progress max={runs.length + unread} value={runs.length} /> Reading {pluralize(unread, 'more run')}…
        </label>
      )}
      <fieldset class="row" aria-label="Status" {...useOneTabStop<HTMLFieldSetElement>()}>
        {states.map(([state, count]) => filter('status', state, `${formatNumber(count)} ${state}`))}
        {(failing > 0 || query.failures !== '') &&
          filter('failures', 'some', `${formatNumber(failing)} with failures`, 'wrong')}
      </fieldset>
      {medians.length > 0 && (
        <span class="muted" title="Of the ended runs">
          Median: {medians.join(' · ')}
        </span>
      )}
    </div>
  );
}
