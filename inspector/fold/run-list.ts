import { queueText } from '../../src/chain/presentation/entry-words.ts';
import type { ActorWait, InspectedRun, RunFigures } from '../../src/inspection/wire.ts';
import {
  capitalize,
  formatDuration,
  formatNumber,
  formatRoughly,
  messageText,
  pluralize,
  startedText,
} from './format.ts';
import { excerpt, jsonExcerpt } from './text.ts';

export interface SortColumn {
  readonly name: string;
  readonly title: string;
  /** Unknown values (null) come last in both directions. */
  readonly of: (run: InspectedRun) => string | number | null;
  /** Whether the first click sorts from high to low. */
  readonly isDescending?: boolean;
}

const tokensOf = ({ summary }: InspectedRun): number | null =>
  summary?.tokens ? summary.tokens.input + summary.tokens.output : null;

const knownMs = ({ status, summary, ending }: InspectedRun): number | null =>
  summary?.durationMs ?? (ENDED.has(status) ? (ending?.durationMs ?? null) : null);

/** Returns the status of a run, or `waiting` if a running one waits for its user, an event or a delay; a machine has `failed` or `stopped` instead of `degraded` or `cancelled`, or is `quarantined`. */
export function stateOf({ kind, status, summary, isIdle = false, quarantined }: InspectedRun): string {
  if (quarantined !== undefined) return 'quarantined';
  if (status === 'running') return summary?.waitingFor || isIdle ? 'waiting' : status;
  return kind === 'system' ? (MACHINE_STATES[status] ?? status) : status;
}

const MACHINE_STATES: Readonly<Record<string, string>> = {
  degraded: 'failed',
  cancelled: 'stopped',
};

export const SORT_COLUMNS = [
  { name: 'title', title: 'Title', of: ({ title }) => title.toLowerCase() },
  { name: 'status', title: 'Status', of: (run) => statusWords(run).text },
  { name: 'state', title: 'State', of: ({ ending }) => ending?.states || null },
  { name: 'waiting', title: 'Waiting', of: (run) => -(waitOf(run)?.sinceMs ?? 0) || null, isDescending: true },
  { name: 'due', title: 'Due', of: dueAt },
  { name: 'duration', title: 'Time', of: knownMs, isDescending: true },
  { name: 'tokens', title: 'Tokens', of: tokensOf, isDescending: true },
  { name: 'cost', title: 'Cost', of: ({ summary }) => summary?.cost?.amount ?? null, isDescending: true },
  { name: 'model', title: 'Model', of: ({ summary }) => summary?.models.join(', ') || null },
  { name: 'machine', title: 'Machine', of: ({ machine }) => machine ?? null },
  { name: 'attributes', title: 'Attributes', of: (run) => attributesText(run) || null },
  { name: 'session', title: 'Session', of: ({ summary }) => summary?.sessionId ?? null },
  { name: 'started', title: 'Started', of: ({ startedAt }) => startedAt || null, isDescending: true },
] as const satisfies readonly SortColumn[];

/** `customer=c-1 total=40`. */
export function attributesText({ attributes = {} }: InspectedRun): string {
  const texts = Object.entries(attributes).map(([name, value]) => `${excerpt(name, 80)}=${excerpt(String(value), 80)}`);
  return texts.join(' ');
}

export type ColumnName = (typeof SORT_COLUMNS)[number]['name'];

const STARTED = SORT_COLUMNS[SORT_COLUMNS.length - 1] as SortColumn;

/** The column that a query sorts by: with `attention`, runs with the same rank are in the order of their start. */
export const columnNamed = (name: RunQuery['sort']): SortColumn =>
  SORT_COLUMNS.find((column) => column.name === name) ?? STARTED;

/** Shown only if they are chosen or sorted by: the status has the same values. */
const ON_REQUEST: ReadonlySet<ColumnName> = new Set(['waiting', 'due', 'machine']);

/** The columns that the query chooses; by default, those that at least half of the runs fill (the model only if it differs). The list always has titles, statuses and what it is sorted by. */
export function shownColumns(
  runs: readonly InspectedRun[],
  { columns, sort }: Pick<RunQuery, 'columns' | 'sort'>,
): readonly ColumnName[] {
  const chosen: readonly string[] | null = columns === '' ? null : columns.split(',');
  const isBlankIn = ({ name, of }: SortColumn, run: InspectedRun): boolean =>
    of(run) === null && (name !== 'duration' || waitOf(run) === undefined || sort === 'waiting');
  const isBlank = (column: SortColumn): boolean =>
    2 * runs.filter((run) => isBlankIn(column, run)).length > runs.length;
  function isShown(name: ColumnName): boolean {
    if (name === 'title' || name === 'status' || name === sort) return true;
    if (chosen !== null) return chosen.includes(name);
    if (ON_REQUEST.has(name) || isBlank(columnNamed(name))) return false;
    return name !== 'model' || valuesOf(runs, (run) => [columnNamed(name).of(run)]).length > 1;
  }
  return SORT_COLUMNS.map(({ name }) => name).filter(isShown);
}

export const OPTIONAL_COLUMNS = SORT_COLUMNS.filter(({ name }) => name !== 'title' && name !== 'status');

/** Returns the query with a column added to the shown ones, or removed from them. */
export function withColumn(query: RunQuery, shown: readonly ColumnName[], name: ColumnName): RunQuery {
  const { sort, isDescending } = shown.includes(name) && query.sort === name ? DEFAULT_QUERY : query;
  const columns = OPTIONAL_COLUMNS.map((column) => column.name).filter((one) => shown.includes(one) !== (one === name));
  return { ...query, sort, isDescending, columns: columns.join() || 'none' };
}

/** What the list of runs shows, and in which order. Empty filters accept every run. */
export interface RunQuery {
  readonly text: string;
  /** One of `countedViews`. */
  readonly status: string;
  readonly machine: string;
  readonly session: string;
  readonly model: string;
  /** Only runs that started at most this long ago, one of `PERIODS`. */
  readonly since: string;
  /** The names of the chosen columns, with commas; empty for the default. */
  readonly columns: string;
  readonly sort: ColumnName | 'attention';
  readonly isDescending: boolean;
}

type Parameters = Readonly<Record<string, string>>;

const ANY = { text: '', status: '', machine: '', session: '', model: '', since: '' };

/** All runs: those that need attention first, then the newest. */
const DEFAULT_QUERY: RunQuery = { ...ANY, columns: '', sort: 'attention', isDescending: true };

export const withoutFilters = (query: RunQuery): RunQuery => ({ ...query, ...ANY });

/** Filters by one of `countedViews`, or by none; what has waited or been due for the longest time comes first. */
export function withView(query: RunQuery, status: string): RunQuery {
  const isOrdered = (view: string, sort: ColumnName): boolean => query.status === view && query.sort === sort;
  const sort = ({ 'for-you': 'waiting', due: 'due' } as const)[status];
  if (sort !== undefined) return { ...query, status, sort, isDescending: columnNamed(sort).isDescending === true };
  if (!isOrdered('for-you', 'waiting') && !isOrdered('due', 'due')) return { ...query, status };
  return { ...query, status, sort: DEFAULT_QUERY.sort, isDescending: DEFAULT_QUERY.isDescending };
}

/** Reads a query from the parameters of an address. `sort=-cost` sorts by cost from high to low. */
export function parseRunQuery({ q = '', sort = '', ...others }: Parameters): RunQuery {
  const name = sort.replace(/^-/u, '');
  const column = SORT_COLUMNS.find((one) => one.name === name);
  const texts = (['status', 'machine', 'session', 'model', 'since', 'columns'] as const).map((key) => [
    key,
    others[key] ?? '',
  ]);
  return {
    ...DEFAULT_QUERY,
    ...Object.fromEntries(texts),
    text: q,
    ...(column !== undefined && { sort: column.name, isDescending: sort.startsWith('-') }),
  };
}

/** Returns the parameters of a query, without those that have their default. */
export function printRunQuery({ text, sort, isDescending, ...filters }: RunQuery): Parameters {
  const all = { q: text, ...filters, sort: sort === 'attention' ? '' : `${isDescending ? '-' : ''}${sort}` };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
}

/** The periods of the filter `since`, in milliseconds. */
const PERIODS: Readonly<Record<string, number>> = { '1h': 3.6e6, '24h': 8.64e7, '7d': 6.048e8, '30d': 2.592e9 };

/** Returns the runs that a query accepts, in its order; in the default order, those that wait for you, that are due, that wait for their program or that failed within a day come first. Every word of the text must occur in one of the texts of a run. */
export function queriedRuns(runs: readonly InspectedRun[], query: RunQuery, nowMs: number): readonly InspectedRun[] {
  const words = query.text.toLowerCase().split(/\s+/u).filter(Boolean);
  const fromMs = Object.hasOwn(PERIODS, query.since) ? nowMs - (PERIODS[query.since] ?? 0) : null;
  const { of } = columnNamed(query.sort);
  const direction = query.isDescending ? -1 : 1;
  const rankOf = (run: InspectedRun): number => (query.sort === 'attention' ? attentionRank(run, nowMs) : 0);
  return runs
    .filter(
      (run) =>
        (query.status === '' || viewOf(run, nowMs) === query.status) &&
        isOfMachine(run, query.machine) &&
        (query.session === '' || run.summary?.sessionId === query.session) &&
        (query.model === '' || run.summary?.models.includes(query.model) === true) &&
        (fromMs === null || Date.parse(run.startedAt) >= fromMs) &&
        hasWords(run, words),
    )
    .map((run) => ({ run, value: of(run), rank: rankOf(run) }))
    .sort((one, other) => one.rank - other.rank || compared(one.value, other.value, direction))
    .map(({ run }) => run);
}

/** The values of the filter `machine` for the actors of all machines, and for the runs of a chain. */
export const KINDS = { 'any-actor': 'Actors only', 'any-run': 'Runs only' } as const;

const isOfMachine = ({ kind, machine }: InspectedRun, wanted: string): boolean =>
  ['', machine, kind === 'system' ? 'any-actor' : 'any-run'].includes(wanted);

/** The views whose runs come first in the default order. */
const URGENT = ['for-you', 'due', 'for-its-program', 'failed'];

function attentionRank(run: InspectedRun, nowMs: number): number {
  const view = viewOf(run, nowMs);
  const isOld = view === 'failed' && nowMs - Date.parse(run.startedAt) - (knownMs(run) ?? 0) >= 8.64e7;
  return isOld || !URGENT.includes(view) ? URGENT.length : URGENT.indexOf(view);
}

/** The one filter that accepts a run: `for-you` if it waits for a person (`for-its-program` if the page cannot answer), `due` if it should have continued, or else its state. */
function viewOf(run: InspectedRun, nowMs: number): string {
  if (askedOf(run) !== null) return run.blocked === undefined ? 'for-you' : 'for-its-program';
  return isDue(run, nowMs) ? 'due' : stateOf(run);
}

const FIRST_VIEWS = [
  'for-you',
  'for-its-program',
  'due',
  'failed',
  'quarantined',
  'interrupted',
  'damaged',
  'running',
  'waiting',
  'queued',
];

export function countedViews(runs: readonly InspectedRun[], nowMs: number): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const view of runs.map((run) => viewOf(run, nowMs))) counts.set(view, (counts.get(view) ?? 0) + 1);
  const rankOf = (view: string): number =>
    FIRST_VIEWS.includes(view) ? FIRST_VIEWS.indexOf(view) : FIRST_VIEWS.length;
  return [...counts].sort(([one, few], [other, many]) => rankOf(one) - rankOf(other) || many - few);
}

function hasWords(run: InspectedRun, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const { title, runId, summary, machine, ending, quarantined, problem = '' } = run;
  const { sessionId, models = [], explanation, rule, answer } = summary ?? {};
  const about = [ending?.states, ending?.failure, quarantined, waitsForText(run), attributesText(run)];
  const own = [title, runId, machine, problem, ...about];
  const text = [...own, sessionId, rule, explanation, answer].concat(models).join('\n').toLowerCase();
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
  of: (run: InspectedRun) => readonly (string | number | null)[],
): readonly string[] {
  return [...new Set(runs.flatMap(of))]
    .filter((value) => value !== null)
    .map(String)
    .sort();
}

const byStart = (one: InspectedRun, other: InspectedRun): number => compared(one.startedAt, other.startedAt, 1);

/** Two runs as a comparison shows them: the earlier one first. */
export const earlierFirst = (one: InspectedRun, other: InspectedRun): readonly [string, string] =>
  byStart(one, other) <= 0 ? [one.runId, other.runId] : [other.runId, one.runId];

/** The machine of an actor; the question of a run. */
export const subjectOf = ({ kind, machine, title }: InspectedRun): string | undefined =>
  kind === 'system' ? machine : title;

/** The run to compare a run with: a fork or its original, or else one with the same request or machine; undefined if there is none. */
export function closestTo(run: InspectedRun, runs: readonly InspectedRun[]): InspectedRun | undefined {
  const isFork = (one: InspectedRun, other: InspectedRun): boolean => one.forkedFrom?.runId === other.runId;
  const distance = (other: InspectedRun): number =>
    isFork(run, other) || isFork(other, run) ? 0 : subjectOf(other) === subjectOf(run) ? 1 : 2;
  return runs
    .filter(({ runId, kind, status }) => runId !== run.runId && kind === run.kind && status !== 'damaged')
    .filter((other) => distance(other) < 2)
    .toSorted((one, other) => distance(one) - distance(other) || byStart(other, one))[0];
}

/** A status in a word or two, and with how far its answer can be trusted, or why not. */
export interface StatusWords {
  readonly label: string;
  readonly detail: string;
  /** Both. */
  readonly text: string;
  /** `asks`: it waits for a person. */
  readonly tone: 'ok' | 'warn' | 'bad' | 'asks' | 'plain';
}

const WAITS: Readonly<Record<string, string>> = { direction: 'a direction', timer: 'a delay to pass' };

/** A journal may contain any text. */
export const waitWords = (what: string): string =>
  Object.hasOwn(WAITS, what) ? (WAITS[what] ?? '') : excerpt(what, 40);

/** The codes of reasons that other words describe better. */
const REASONS: Readonly<Record<string, string>> = {
  capability_failed: 'tool failed',
  capability_denied: 'tool not approved',
  rounds_ended: 'limit of tool runs reached',
  no_evidence: 'nothing found',
  incomplete_state: 'a phase has no result',
  zero_passes: 'no cycle completed',
  not_converged: 'answer not settled',
  prose_replies: 'replies in prose',
  not_grounded: 'unsupported',
  context_over_limit: 'context too large',
  synthesis_failed: 'answer not written',
};

export const reasonWords = (reason: string): string =>
  (Object.hasOwn(REASONS, reason) ? REASONS[reason] : undefined) ?? excerpt(reason, 60).replaceAll('_', ' ');

/** `Yield failed (connection refused)`. */
export const failedPhaseWords = ({ phase, message }: NonNullable<RunFigures['failedPhase']>): string =>
  `${capitalize(phase)} failed (${excerpt(messageText(message), 80)})`;

const NO_ANSWER = 'No answer was reached.';

/** Whether the text of an answer is only the engine's statement that it has none. */
export const isNoAnswer = (text: string, confidence: number | null): boolean =>
  confidence === 0 && text.startsWith(NO_ANSWER);

const isAnswerless = ({ summary }: InspectedRun): boolean =>
  summary !== null && isNoAnswer(summary.answer, summary.confidence);

/** The answer of a run, without the cause, which its status shows. */
export const answerOf = (run: InspectedRun): string =>
  isAnswerless(run) && run.summary?.reason === 'incomplete_state' && run.summary.failedPhase !== undefined
    ? NO_ANSWER
    : (run.summary?.answer ?? '');

export function statusWords(run: InspectedRun): StatusWords {
  const words = wordsOf(run);
  const { label, detail = '' } = words;
  const separator = label === 'degraded' ? ': ' : ', ';
  return { ...words, detail, text: detail === '' ? label : `${label}${separator}${detail}` };
}

function wordsOf(run: InspectedRun): Pick<StatusWords, 'label' | 'tone'> & Partial<StatusWords> {
  const {
    confidence = null,
    durationMs = null,
    unsupported,
    reason,
    phase,
    waitingFor,
    failedPhase,
  } = run.summary ?? {};
  const score = confidence === null ? '' : `confidence ${confidence.toFixed(2)}`;
  const written = durationMs === null ? '' : `last entry after ${formatDuration(durationMs)}`;
  const awaited = askedOf(run) ?? waitingFor;
  const waiting = `waiting${awaited ? ` for ${waitWords(awaited)}` : ''}`;
  const state = stateOf(run);
  switch (state) {
    case 'completed':
      return {
        label: state,
        detail: [unsupported && 'partly unsupported', score].filter(Boolean).join(', '),
        tone: 'ok',
      };
    case 'degraded': {
      const why =
        reason === 'incomplete_state' && failedPhase != null
          ? failedPhaseWords(failedPhase)
          : reasonWords(reason ?? '');
      const parts = [why, !reason || reason === 'not_grounded' ? score : ''];
      return { label: state, detail: parts.filter(Boolean).join(', '), tone: 'warn' };
    }
    case 'waiting':
      return {
        label: waiting,
        detail: askedOf(run) !== null && run.blocked !== undefined ? 'waits for its program' : '',
        tone: askedOf(run) === null || run.blocked !== undefined ? 'plain' : 'asks',
      };
    case 'queued':
      return { label: state, detail: queuedWords(run), tone: 'plain' };
    case 'interrupted':
      return { label: state, detail: awaited ? waiting : written, tone: 'warn' };
    case 'damaged':
    case 'failed':
    case 'quarantined':
      return { label: state, tone: 'bad' };
    case 'running':
      return { label: phase ? `running in ${capitalize(phase)}` : state, tone: 'plain' };
    default:
      return { label: state, tone: 'plain' };
  }
}

/** When a queued actor begins, and the limits that it waits for: `at most 20 at a time (20 have not ended), 1 with key Ann`. Empty if it is not queued. */
export function queuedWords({ machine, queued }: InspectedRun, runs: readonly InspectedRun[] = []): string {
  if (queued === undefined) return '';
  const { key, limits: { concurrency, rate, perKey } = {} } = queued;
  const begun = runs.filter((run) => run.machine === machine && run.queued === undefined && !ENDED.has(run.status));
  const limitsIn = (limits: typeof perKey = {}, of = ''): readonly string[] => [
    limits.concurrency ? `at most ${limits.concurrency}${of} at a time` : '',
    limits.rate ? `at most ${limits.rate.starts}${of} begin in ${formatDuration(limits.rate.everyMs)}` : '',
  ];
  const counted = concurrency && `at most ${concurrency} at a time (${begun.length} have not ended)`;
  const ofKey = key === null ? [] : limitsIn(perKey, ` with the key ${excerpt(key, 40)}`);
  const limits = runs.length === 0 ? [] : [counted, ...limitsIn({ rate }), ...ofKey];
  return [queueText(queued, startedText), ...limits].filter(Boolean).join('; ');
}

const ENDED: ReadonlySet<string> = new Set(['completed', 'degraded', 'cancelled', 'damaged', 'disconnected']);

/** What a run that has not ended waits for. */
const waitOf = ({ status, waiting }: InspectedRun): ActorWait | undefined => (ENDED.has(status) ? undefined : waiting);

const QUESTIONS: ReadonlySet<string> = new Set(['approval', 'consent', 'direction']);

/** What a run or an actor asks a person for: `approval`, `consent` or `direction`; null for nothing. */
function askedOf(run: InspectedRun): string | null {
  if (waitOf(run)?.approvals.length) return 'approval';
  const subject = run.summary?.waitingFor ?? '';
  return !ENDED.has(run.status) && QUESTIONS.has(subject) ? subject : null;
}

/** When the next delay of a waiting run ends, while no process holds it. */
function dueAt(run: InspectedRun): number | null {
  return run.status === 'waiting' ? (waitOf(run)?.dueAtMs ?? null) : null;
}

/** Whether no process has continued a run after its delay. */
export const isDue = (run: InspectedRun, nowMs: number): boolean => (dueAt(run) ?? Number.POSITIVE_INFINITY) <= nowMs;

/** What the column of durations shows of a run that waits: `waits 16 min`. */
export function waitsText(run: InspectedRun, nowMs: number): string | null {
  const waited = waitedText(run, nowMs);
  return waited && `waits ${waited === SHORT_SPAN ? '< 1 min' : waited}`;
}

/** `16 min`: how long a run has waited. Null if it does not wait, or if that is unknown. */
export function waitedText(run: InspectedRun, nowMs: number): string | null {
  const sinceMs = waitOf(run)?.sinceMs;
  return sinceMs === undefined ? null : spanText(nowMs - sinceMs);
}

/** `due 5 min ago` or `due in 2 h 5 min`; null without a delay. */
export function dueText(run: InspectedRun, nowMs: number): string | null {
  const dueMs = dueAt(run);
  if (dueMs === null) return null;
  if (isDue(run, nowMs)) return `due ${spanText(nowMs - dueMs)} ago`;
  const minutes = Math.round((dueMs - nowMs) / 60_000);
  return `due in ${minutes === 0 ? spanText(0) : formatDuration(minutes * 60_000)}`;
}

const MAX_LISTED = 12;

/** Returns the first names of a list, and how many more there are. */
export const namesText = (names: readonly string[]): string =>
  `${names
    .slice(0, MAX_LISTED)
    .map((name) => excerpt(name, 200))
    .join(', ')}${names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : ''}`;

/** Returns what the list shows of a durable actor below its title: its id if that is not its title, what it waits for, and its machine. */
export function actorText(run: InspectedRun): string {
  const { title, runId, kind, machine } = run;
  const parts = [
    kind === 'system' && title !== runId ? excerpt(runId, 80) : '',
    waitsForText(run),
    machine === undefined ? '' : `actor of ${excerpt(machine, 80)}`,
  ];
  return parts.filter(Boolean).join(' · ');
}

/** `approval of pay: 80 · also accepts cancel`, `waits for cancel`; empty if it waits for neither approvals nor events. */
function waitsForText(run: InspectedRun): string {
  const wait = waitOf(run);
  if (wait === undefined) return '';
  const { approvals, events } = wait;
  const asked = namesText(approvals.map(({ question }) => questionText(question)));
  const accepted = namesText(events);
  if (asked === '') return accepted && `waits for ${accepted}`;
  return `approval of ${asked}${accepted && ` · also accepts ${accepted}`}`;
}

/** `pay: 80, currency: EUR`: the question of an approval as a person reads it. */
function questionText(question: unknown): string {
  const textOf = (value: unknown): string => (typeof value === 'string' ? value : jsonExcerpt(value, 200));
  if (typeof question !== 'object' || question === null || Array.isArray(question)) return textOf(question);
  const members = Object.entries(question).slice(0, MAX_LISTED);
  return members.map(([name, value]) => `${name}: ${textOf(value)}`).join(', ');
}

/** The duration of a run; of one in progress, up to now. Null if it is unknown, as after its process was killed. */
export function durationOf(run: InspectedRun, nowMs: number): number | null {
  const { kind, status, startedAt, summary } = run;
  if (kind === 'system' && status !== 'running') return knownMs(run);
  const elapsedMs = Math.max(0, nowMs - Date.parse(startedAt));
  if (kind === 'system') return Number.isNaN(elapsedMs) ? null : elapsedMs;
  const { durationMs = null, clockStartMs = null } = summary ?? {};
  if (status === 'interrupted') return null;
  return status === 'running' && clockStartMs !== null ? Math.max(durationMs ?? 0, nowMs - clockStartMs) : durationMs;
}

const SHORT_SPAN = 'less than 1 min';

/** `5 min`, `2 h`, `3 d`. */
const spanText = (ms: number): string => (ms < 60_000 ? SHORT_SPAN : formatRoughly(ms));

const WEEK_MS = 7 * 86_400_000;

/** `4 min ago`; the date if it is longer ago than a week, or to come. Clocks may differ by a minute. Null if it is not a time. */
export function ageText(iso: string, nowMs: number): string | null {
  const ms = nowMs - Date.parse(iso);
  if (Math.abs(ms) < 60_000) return 'just now';
  return ms > 0 && ms < WEEK_MS ? `${spanText(ms)} ago` : (startedText(iso)?.split(',')[0] ?? null);
}

const isActor = ({ kind }: InspectedRun): boolean => kind === 'system';

/** `3 runs`, `1 run and 2 actors`. */
export function listedCount(listed: readonly InspectedRun[]): string {
  const actors = listed.filter(isActor).length;
  const runs = listed.length - actors;
  if (actors === 0) return pluralize(runs, 'run');
  return runs === 0 ? pluralize(actors, 'actor') : `${pluralize(runs, 'run')} and ${pluralize(actors, 'actor')}`;
}

/** `2 of 3 runs`, `1 of 17 runs and actors`: how many of all are listed. */
export function foundCount(found: readonly InspectedRun[], all: readonly InspectedRun[]): string {
  if (found.length === all.length) return listedCount(all);
  const hasRuns = !all.every(isActor);
  const noun = all.some(isActor) ? (hasRuns ? 'runs and actors' : 'actors') : 'runs';
  return `${formatNumber(found.length)} of ${formatNumber(all.length)} ${noun}`;
}
