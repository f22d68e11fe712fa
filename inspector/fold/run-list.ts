import type { ActorWait, InspectedRun } from '../../src/inspection/wire.ts';
import { capitalize, startedText } from './format.ts';
import { groupBy } from './group-by.ts';
import { excerpt } from './text.ts';

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

const knownMs = ({ summary, ending }: InspectedRun): number | null => summary?.durationMs ?? ending?.durationMs ?? null;

const isFinished = ({ status }: InspectedRun): boolean => status === 'completed' || status === 'degraded';

/** Returns the status of a run, or `waiting` if a running one waits for its user, an event or a delay; a machine has `ended`, `failed` or `stopped`. */
export function stateOf({ kind, status, summary, isIdle = false }: InspectedRun): string {
  if (status === 'running') return summary?.waitingFor || isIdle ? 'waiting' : status;
  return kind === 'system' ? (MACHINE_STATES[status] ?? status) : status;
}

const MACHINE_STATES: Readonly<Record<string, string>> = {
  completed: 'ended',
  degraded: 'failed',
  cancelled: 'stopped',
};

export const SORT_COLUMNS = [
  { name: 'question', title: 'Question', of: ({ title }) => title.toLowerCase() },
  { name: 'status', title: 'Status', of: (run) => statusWords(run).text },
  { name: 'duration', title: 'Time', of: knownMs, isDescending: true },
  { name: 'tokens', title: 'Tokens', of: tokensOf, isDescending: true },
  { name: 'cost', title: 'Cost', of: ({ summary }) => summary?.cost?.amount ?? null, isDescending: true },
  { name: 'model', title: 'Model', of: ({ summary }) => summary?.models.join(', ') || null },
  { name: 'session', title: 'Session', of: ({ summary }) => summary?.sessionId ?? null },
  { name: 'started', title: 'When', of: ({ startedAt }) => startedAt || null, isDescending: true },
] as const satisfies readonly SortColumn[];

export type ColumnName = (typeof SORT_COLUMNS)[number]['name'];

export const columnNamed = (name: ColumnName): SortColumn =>
  SORT_COLUMNS.find((column) => column.name === name) as SortColumn;

/** The columns that tell these runs apart. */
export function shownColumns(runs: readonly InspectedRun[]): readonly ColumnName[] {
  const isShown = (name: ColumnName): boolean => {
    if (name === 'model') return valuesOf(runs, (run) => [columnNamed('model').of(run) as string | null]).length > 1;
    return (name !== 'cost' && name !== 'session') || runs.some((run) => columnNamed(name).of(run) !== null);
  };
  return SORT_COLUMNS.map(({ name }) => name).filter(isShown);
}

/** What the list of runs shows, and in which order. Empty filters accept every run. */
export interface RunQuery {
  readonly text: string;
  readonly status: string;
  readonly session: string;
  readonly model: string;
  /** `some`: only runs in which something failed. */
  readonly failures: string;
  /** `flat`: forks and turns of a session are not placed with each other. */
  readonly list: string;
  readonly sort: ColumnName;
  readonly isDescending: boolean;
}

type Parameters = Readonly<Record<string, string>>;

const ANY = { text: '', status: '', session: '', model: '', failures: '' };

/** All runs, newest first. */
const DEFAULT_QUERY: RunQuery = { ...ANY, list: '', sort: 'started', isDescending: true };

export const withoutFilters = (query: RunQuery): RunQuery => ({ ...query, ...ANY });

/** Reads a query from the parameters of an address. `sort=-cost` sorts by cost from high to low. */
export function parseRunQuery(parameters: Parameters): RunQuery {
  const { q = '', status = '', session = '', model = '', failures = '', list = '', sort = '' } = parameters;
  const name = sort.replace(/^-/u, '');
  const column = SORT_COLUMNS.find((one) => one.name === name);
  return {
    text: q,
    status,
    session,
    model,
    failures,
    list,
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

/** Returns the runs that a query accepts, in its order. Every word of the text must occur in one of the texts of a run. */
export function queriedRuns(runs: readonly InspectedRun[], query: RunQuery): readonly InspectedRun[] {
  const words = query.text.toLowerCase().split(/\s+/u).filter(Boolean);
  const { of } = columnNamed(query.sort);
  const direction = query.isDescending ? -1 : 1;
  return runs
    .filter(
      (run) =>
        (query.status === '' || stateOf(run) === query.status) &&
        (query.session === '' || run.summary?.sessionId === query.session) &&
        (query.failures === '' || hasFailures(run)) &&
        (query.model === '' || run.summary?.models.includes(query.model) === true) &&
        hasWords(run, words),
    )
    .map((run) => ({ run, value: of(run) }))
    .sort((one, other) => compared(one.value, other.value, direction))
    .map(({ run }) => run);
}

const hasFailures = ({ summary, ending }: InspectedRun): boolean => (summary?.failures ?? 0) > 0 || !!ending?.failure;

function hasWords({ title, runId, summary, machine, problem = '' }: InspectedRun, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const { sessionId, models = [], explanation, rule, answer } = summary ?? {};
  const text = [title, runId, machine, sessionId, rule, explanation, answer, problem, ...models]
    .join('\n')
    .toLowerCase();
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
  of: (run: InspectedRun) => readonly (string | null)[],
): readonly string[] {
  return [...new Set(runs.flatMap(of))].filter((value) => value !== null).sort();
}

/** A run with its place under others: `depth` is how far it is indented, `turn` its place in its session. */
export interface PlacedRun {
  readonly run: InspectedRun;
  readonly depth: number;
  readonly turn: number | null;
}

export const placedFlat = (runs: readonly InspectedRun[]): readonly PlacedRun[] =>
  runs.map((run) => ({ run, depth: 0, turn: null }));

/** Places forks under their originals, and the turns of a session under each other, where the first of them is. */
export function placedTogether(runs: readonly InspectedRun[]): readonly PlacedRun[] {
  const byId = new Map(runs.map((run) => [run.runId, run]));
  const forks = groupBy(runs, ({ forkedFrom }) => byId.get(forkedFrom?.runId ?? ''));
  const turns = groupBy(forks.get(undefined) ?? [], ({ summary }) => summary?.sessionId ?? null);
  const placed = new Map<string, PlacedRun>();

  function placeWithForks(run: InspectedRun, depth: number, turn: number | null): void {
    // Not recursive: a chain of forks may be long.
    const waiting: PlacedRun[] = [{ run, depth, turn }];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { run: parent, depth: at } = next;
      if (placed.has(parent.runId)) continue;
      placed.set(parent.runId, next);
      for (const fork of (forks.get(parent) ?? []).toReversed()) waiting.push({ run: fork, depth: at + 1, turn: null });
    }
  }

  /** A journal may claim that two runs are forks of each other. */
  function originalOf(run: InspectedRun): InspectedRun {
    const seen = new Set([run]);
    for (let at = run; ; ) {
      const parent = byId.get(at.forkedFrom?.runId ?? '');
      if (parent === undefined || seen.has(parent)) return at;
      seen.add(parent);
      at = parent;
    }
  }

  for (const run of runs) {
    if (placed.has(run.runId)) continue;
    const original = originalOf(run);
    const sessionId = original.summary?.sessionId ?? null;
    const members = sessionId === null ? [] : (turns.get(sessionId) ?? []);
    if (members.length < 2) placeWithForks(original, 0, null);
    else
      for (const [index, member] of members.toSorted(byStart).entries())
        placeWithForks(member, index === 0 ? 0 : 1, index + 1);
  }
  return [...placed.values()];
}

const byStart = (one: InspectedRun, other: InspectedRun): number => compared(one.startedAt, other.startedAt, 1);

/** Two runs as a comparison shows them: the earlier one first. */
export const earlierFirst = (one: InspectedRun, other: InspectedRun): readonly [string, string] =>
  byStart(one, other) <= 0 ? [one.runId, other.runId] : [other.runId, one.runId];

/** The run to compare a run with: a fork or its original, or else one with the same request; undefined if there is none. */
export function closestTo(run: InspectedRun, runs: readonly InspectedRun[]): InspectedRun | undefined {
  const isFork = (one: InspectedRun, other: InspectedRun): boolean => one.forkedFrom?.runId === other.runId;
  const distance = (other: InspectedRun): number => (isFork(run, other) || isFork(other, run) ? 0 : 1);
  return runs
    .filter(({ runId, kind, status }) => runId !== run.runId && kind === run.kind && status !== 'damaged')
    .filter((other) => other.title === run.title || distance(other) === 0)
    .toSorted((one, other) => distance(one) - distance(other) || byStart(other, one))[0];
}

/** A status with how far its answer can be trusted, or why not. */
export interface StatusWords {
  readonly text: string;
  readonly tone: 'ok' | 'warn' | 'bad' | 'plain';
}

const WAITS: Readonly<Record<string, string>> = { direction: 'a direction', timer: 'a delay to pass' };

/** A journal may contain any text. */
const waitWords = (what: string): string => (Object.hasOwn(WAITS, what) ? (WAITS[what] ?? '') : excerpt(what, 40));

/** The codes of reasons that other words describe better. */
const REASONS: Readonly<Record<string, string>> = {
  capability_failed: 'tool failed',
  capability_denied: 'tool not approved',
  rounds_ended: 'limit of tool runs reached',
  no_evidence: 'nothing found',
  zero_passes: 'no cycle completed',
  not_converged: 'answer not settled',
  prose_replies: 'replies in prose',
  not_grounded: 'unsupported',
  context_over_limit: 'context too large',
  synthesis_failed: 'answer not written',
};

/** Why an answer is degraded, in a few words. */
export const reasonWords = (reason: string): string =>
  (Object.hasOwn(REASONS, reason) ? REASONS[reason] : undefined) ?? excerpt(reason, 60).replaceAll('_', ' ');

/** How a completed system ended. Any state can be final, so "ended" does not mean success. */
export const endedText = ({ ending }: InspectedRun): string =>
  ending?.states ? `ended in ${excerpt(ending.states, 80)}` : 'ended';

export function statusWords(run: InspectedRun): StatusWords {
  const { confidence = null, unsupported, reason, phase, waitingFor } = run.summary ?? {};
  const score = confidence === null ? '' : `, confidence ${confidence.toFixed(2)}`;
  const state = stateOf(run);
  switch (state) {
    case 'ended':
      return { text: endedText(run), tone: 'plain' };
    case 'completed':
      return unsupported
        ? { text: `partly unsupported${score}`, tone: 'warn' }
        : { text: `completed${score}`, tone: 'ok' };
    case 'degraded': {
      if (!reason) return { text: `degraded${score}`, tone: 'warn' };
      return { text: `degraded: ${reasonWords(reason)}${reason === 'not_grounded' ? score : ''}`, tone: 'warn' };
    }
    case 'waiting':
      return { text: `waiting${waitingFor ? ` for ${waitWords(waitingFor)}` : ''}`, tone: 'warn' };
    case 'interrupted':
      return { text: `interrupted${waitingFor ? `, waiting for ${waitWords(waitingFor)}` : ''}`, tone: 'warn' };
    case 'damaged':
    case 'failed':
      return { text: state, tone: 'bad' };
    case 'running':
      return { text: phase ? `running in ${capitalize(phase)}` : 'running', tone: 'plain' };
    default:
      return { text: state, tone: 'plain' };
  }
}

const MAX_LISTED = 12;

/** Returns the first names of a list, and how many more there are. */
export const namesText = (names: readonly string[]): string =>
  `${names
    .slice(0, MAX_LISTED)
    .map((name) => excerpt(name, 60))
    .join(', ')}${names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : ''}`;

/** Returns the machine of a recorded durable actor, when its next timer is due, and what it waits for. */
export function actorText({ machine, waiting }: InspectedRun): string {
  const due = waiting?.dueAtMs == null ? null : startedText(waiting.dueAtMs);
  const parts = [
    machine === undefined ? '' : `actor of ${excerpt(machine, 80)}`,
    due === null ? '' : `timer due ${due}`,
    waitsForText(waiting),
  ];
  return parts.filter(Boolean).join(', ');
}

/** `waits for approval of {"pay":80}, cancel`; empty if it waits for neither approvals nor events. */
function waitsForText(waiting: InspectedRun['waiting']): string {
  const names = waiting === undefined ? [] : awaitedNames(waiting);
  return names.length === 0 ? '' : `waits for ${namesText(names)}`;
}

/** What an actor waits for: approvals with their questions, then events. */
export const awaitedNames = ({ approvals, events }: ActorWait): readonly string[] => [
  ...approvals.map(({ question }) => `approval of ${JSON.stringify(question)}`),
  ...events,
];

/** The duration of a run; of one in progress, up to now. Null if it is unknown. */
export function durationOf({ kind, status, startedAt, summary, ending }: InspectedRun, nowMs: number): number | null {
  if (kind === 'system') return status === 'running' ? elapsedMs(startedAt, nowMs) : (ending?.durationMs ?? null);
  const { durationMs = null, clockStartMs = null } = summary ?? {};
  return status === 'running' && clockStartMs !== null ? Math.max(durationMs ?? 0, nowMs - clockStartMs) : durationMs;
}

function elapsedMs(startedAt: string, nowMs: number): number | null {
  const startMs = Date.parse(startedAt);
  return Number.isNaN(startMs) ? null : Math.max(0, nowMs - startMs);
}

const AGES = [
  [60, 60, 'min'],
  [3_600, 24, 'h'],
  [86_400, 7, 'd'],
] as const;

/** `4 min ago`; the date if it is longer ago than a week. Null if it is not a time. */
export function ageText(iso: string, nowMs: number): string | null {
  const seconds = (nowMs - Date.parse(iso)) / 1_000;
  if (seconds >= 0 && seconds < 60) return 'just now';
  const [size, , unit] = AGES.find(([each, max]) => seconds >= each && seconds < each * max) ?? [];
  return size === undefined ? (startedText(iso)?.split(',')[0] ?? null) : `${Math.floor(seconds / size)} ${unit} ago`;
}

/** What many runs have in common, in numbers. */
export interface RunStatistics {
  readonly failing: number;
  readonly medianMs: number | null;
  readonly medianTokens: number | null;
  /** The median cost of the finished runs; null if fewer than two have a cost, or if their currencies differ. */
  readonly medianCost: { readonly amount: number; readonly currency: string } | null;
}

export function summaryOf(runs: readonly InspectedRun[]): RunStatistics {
  const finished = runs.filter(isFinished);
  const costs = finished.flatMap(({ summary }) => summary?.cost ?? []);
  const currencies = new Set(costs.map(({ currency }) => currency));
  const [currency] = currencies;
  const amount = median(costs.map((cost) => cost.amount));
  return {
    failing: runs.filter(hasFailures).length,
    medianMs: median(finished.flatMap((run) => knownMs(run) ?? [])),
    medianTokens: median(finished.flatMap((run) => tokensOf(run) ?? [])),
    medianCost:
      amount === null || currency === undefined || costs.length < 2 || currencies.size > 1
        ? null
        : { amount, currency },
  };
}

/** How many items have each value, the most frequent one first. */
export function countsOf<Item>(
  items: readonly Item[],
  of: (item: Item) => string | null,
): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const item of items) {
    const value = of(item);
    if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return [...counts].sort(([, one], [, other]) => other - one);
}

function median(numbers: readonly number[]): number | null {
  const sorted = numbers.toSorted((one, other) => one - other);
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]];
  return low === undefined || high === undefined ? null : (low + high) / 2;
}
