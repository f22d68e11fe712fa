import type { RunLog } from '../wire/run-log.ts';
import { answerUpTo } from './answer.ts';
import { entriesIn, entryAt } from './entry-index.ts';
import { pluralize } from './format.ts';
import type { RunFold } from './run-fold.ts';
import { answerSelection, RETRIEVAL, type Selection, selectionOf } from './selection.ts';
import { isFailed, LIMIT_RULES, limitStops } from './trace-items.ts';

/** Something that happened in a run and that a reader wants to see first, with the steps where it did. */
export interface Incident {
  readonly text: string;
  readonly tone: 'bad' | 'warn' | 'neutral';
  readonly steps: readonly Selection[];
}

const NOT_APPROVED: ReadonlySet<unknown> = new Set(['denied', 'approval_timed_out']);
const LIMIT_REASONS: ReadonlySet<string> = new Set(['deadline_passed', 'context_over_limit']);

interface Known {
  readonly log: RunLog;
  readonly count: number;
  readonly incidents: readonly Incident[];
}

const known = new WeakMap<RunFold, Known>();

/** What failed, reached a limit, or left the context. Computed once for each number of entries. */
export function incidentsOf(log: RunLog, fold: RunFold, count: number): readonly Incident[] {
  const cached = known.get(fold);
  if (cached?.count === count && cached.log === log) return cached.incidents;
  const incidents = [
    ...incident(failedTools(log, fold, count), 'bad', (number) => `${pluralize(number, 'tool call')} failed`),
    ...incident(failedSearches(log, fold, count), 'bad', (number) => `${pluralize(number, 'search')} failed`),
    ...incident(failedPhases(fold, count), 'bad', (number) => `${pluralize(number, 'phase')} failed`),
    ...incident(failedCalls(fold, count), 'warn', (number) => `${pluralize(number, 'model call')} failed`),
    ...incident(limits(log, fold, count), 'warn', (number) => `${pluralize(number, 'limit')} reached`),
    ...removals(fold),
  ];
  known.set(fold, { log, count, incidents });
  return incidents;
}

const incident = (
  steps: readonly Selection[],
  tone: Incident['tone'],
  words: (number: number, places: number) => string,
): readonly Incident[] => {
  if (steps.length === 0) return [];
  // One entry may remove several messages: a place counts once.
  const places = steps.filter(({ kind, from }, at) => steps[at - 1]?.kind !== kind || steps[at - 1]?.from !== from);
  return [{ text: words(steps.length, places.length), tone, steps: places }];
};

const failedTools = (log: RunLog, { spans }: RunFold, count: number): readonly Selection[] =>
  spans.capabilities
    .filter(({ error, to }) => error !== null && !NOT_APPROVED.has(entryAt(log, to, 'capability-end')?.result.code))
    .map((span) => selectionOf('capability', span, count));

const failedPhases = ({ spans }: RunFold, count: number): readonly Selection[] =>
  spans.phases.filter(isFailed).map((span) => selectionOf('phase', span, count));

function failedSearches(log: RunLog, { entries, spans }: RunFold, count: number): readonly Selection[] {
  return entriesIn(log, entries, 'retrieval').flatMap(({ seq, failure }) => {
    if (failure === null) return [];
    const call = spans.calls.findLast(({ source, from }) => source === RETRIEVAL && from <= seq);
    return [
      call === undefined ? ({ kind: 'entry', from: seq, to: seq } as const) : selectionOf('retrieval', call, count),
    ];
  });
}

/** Most of them were repeated; a phase whose last call fails has failed too. */
const failedCalls = ({ spans }: RunFold, count: number): readonly Selection[] =>
  spans.attempts.filter(isFailed).map((span) => selectionOf('attempt', span, count));

function limits(log: RunLog, fold: RunFold, count: number): readonly Selection[] {
  // The row of the stop names the limit.
  const toolRuns = limitStops(log, fold).map(({ seq }) => ({ kind: 'entry', from: seq, to: seq }) as const);
  const entry = entryAt(log, fold.entries.of('decision').at(-1), 'decision');
  const reasons = answerUpTo(log, fold, count - 1)?.answer.reasons ?? [];
  return [
    ...toolRuns,
    ...(entry !== null && LIMIT_RULES.has(entry.decision.rule)
      ? [{ kind: 'decision', from: entry.seq, to: entry.seq } as const]
      : []),
    ...reasons.filter(({ code }) => LIMIT_REASONS.has(code)).map(() => answerSelection(fold, count)),
  ];
}

/** Describes how many messages were removed, and how many the user restored. */
function removals({ context }: RunFold): readonly Incident[] {
  const all = context.operations.flatMap(({ operation, undoneAt }, index) =>
    operation.operation === 'PRUNE' ? [{ at: context.seqs[index] ?? 0, isUndone: undoneAt !== null }] : [],
  );
  const undone = all.filter(({ isUndone }) => isUndone).length;
  const steps = all.map(({ at }) => ({ kind: 'operations', from: at, to: at }) as const);
  return incident(steps, 'neutral', (number, places) =>
    [
      `${pluralize(number, 'message')} removed from the context${places > 1 ? ` in ${places} steps` : ''}`,
      ...(undone > 0 ? [`${undone} restored`] : []),
    ].join(', '),
  );
}
