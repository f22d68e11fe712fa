import type { InspectedRun } from '../../src/inspection/wire.ts';

interface SortColumn {
  readonly name: string;
  readonly title: string;
  /** Unknown values (null) come last in both directions. */
  readonly of: (run: InspectedRun) => string | number | null;
  /** Whether the first click sorts from high to low. */
  readonly isDescending?: boolean;
}

const tokensOf = ({ summary }: InspectedRun): number | null =>
  summary?.tokens ? summary.tokens.input + summary.tokens.output : null;

export const SORT_COLUMNS = [
  { name: 'status', title: 'Status', of: ({ status }) => status },
  { name: 'question', title: 'Question', of: ({ title }) => title.toLowerCase() },
  { name: 'rule', title: 'Ended by', of: ({ summary }) => summary?.explanation || (summary?.rule ?? null) },
  { name: 'cycles', title: 'Cycles', of: ({ summary }) => summary?.cycles ?? null, isDescending: true },
  { name: 'calls', title: 'Calls', of: ({ summary }) => summary?.modelCalls ?? null, isDescending: true },
  { name: 'tokens', title: 'Tokens', of: tokensOf, isDescending: true },
  { name: 'cost', title: 'Cost', of: ({ summary }) => summary?.cost?.amount ?? null, isDescending: true },
  { name: 'duration', title: 'Duration', of: ({ summary }) => summary?.durationMs ?? null, isDescending: true },
  { name: 'model', title: 'Model', of: ({ summary }) => summary?.models[0] ?? null },
  {
    name: 'confidence',
    title: 'Confidence',
    of: ({ summary }) => summary?.confidence ?? null,
    isDescending: true,
  },
  { name: 'session', title: 'Session', of: ({ summary }) => summary?.sessionId ?? null },
  { name: 'started', title: 'Started', of: ({ startedAt }) => startedAt || null, isDescending: true },
  { name: 'run', title: 'Run', of: ({ runId }) => runId },
] as const satisfies readonly SortColumn[];

export type ColumnName = (typeof SORT_COLUMNS)[number]['name'];

export const columnNamed = (name: ColumnName): SortColumn =>
  SORT_COLUMNS.find((column) => column.name === name) as SortColumn;

/** What the list of runs shows, and in which order. Empty filters accept every run. */
export interface RunQuery {
  readonly text: string;
  readonly status: string;
  readonly session: string;
  readonly model: string;
  /** `without`, or `only`: forks of other runs. */
  readonly forks: string;
  readonly sort: ColumnName;
  readonly isDescending: boolean;
}

type Parameters = Readonly<Record<string, string>>;

const ANY = { text: '', status: '', session: '', model: '', forks: '' };

/** All runs, newest first. */
const DEFAULT_QUERY: RunQuery = { ...ANY, sort: 'started', isDescending: true };

export const withoutFilters = (query: RunQuery): RunQuery => ({ ...query, ...ANY });

/** Reads a query from the parameters of an address. `sort=-cost` sorts by cost from high to low. */
export function parseRunQuery(parameters: Parameters): RunQuery {
  const { q = '', status = '', session = '', model = '', forks = '', sort = '' } = parameters;
  const name = sort.replace(/^-/u, '');
  const column = SORT_COLUMNS.find((one) => one.name === name);
  return {
    text: q,
    status,
    session,
    model,
    forks,
    sort: column?.name ?? DEFAULT_QUERY.sort,
    isDescending: column === undefined ? DEFAULT_QUERY.isDescending : sort.startsWith('-'),
  };
}

/** Returns the parameters of a query, without those that have their default. */
export function printRunQuery({ text, sort, isDescending, ...filters }: RunQuery): Parameters {
  const isDefault = sort === DEFAULT_QUERY.sort && isDescending === DEFAULT_QUERY.isDescending;
  const all = { q: text, ...filters, sort: isDefault ? '' : `${isDescending ? '-' : ''}${sort}` };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
}

/** Returns the runs that a query accepts, in its order. Every word of the text must occur in the run's question, id, session, models or reason. */
export function queriedRuns(runs: readonly InspectedRun[], query: RunQuery): readonly InspectedRun[] {
  const words = query.text.toLowerCase().split(/\s+/u).filter(Boolean);
  const { of } = columnNamed(query.sort);
  const direction = query.isDescending ? -1 : 1;
  return runs
    .filter(
      (run) =>
        (query.status === '' || run.status === query.status) &&
        (query.session === '' || run.summary?.sessionId === query.session) &&
        (query.forks !== 'only' || run.forkedFrom !== undefined) &&
        (query.forks !== 'without' || run.forkedFrom === undefined) &&
        (query.model === '' || run.summary?.models.includes(query.model) === true) &&
        hasWords(run, words),
    )
    .map((run) => ({ run, value: of(run) }))
    .sort((one, other) => compared(one.value, other.value, direction))
    .map(({ run }) => run);
}

function hasWords({ title, runId, summary, problem = '' }: InspectedRun, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const { sessionId = '', models = [], explanation = '', rule = '' } = summary ?? {};
  const text = [title, runId, sessionId, rule, explanation, problem, ...models].join('\n').toLowerCase();
  return words.every((word) => text.includes(word));
}

function compared(one: string | number | null, other: string | number | null, direction: number): number {
  if (one === other) return 0;
  if (one === null) return 1;
  if (other === null) return -1;
  return one < other ? -direction : direction;
}

export function valuesOf(
  runs: readonly InspectedRun[],
  of: (run: InspectedRun) => readonly string[],
): readonly string[] {
  return [...new Set(runs.flatMap(of))].sort();
}
