import type { Failure, FailureStage } from '../../machines/contracts/failure.ts';
import type { JournalEntry } from '../../machines/contracts/journal.ts';
import { NO_USAGE } from '../../machines/policies/usage.ts';
import { entryTitle, entryTrouble, entryWait } from '../../src/chain/presentation/entry-words.ts';
import type { RunLog } from '../wire/run-log.ts';
import { earlyCallWords, earlyWords } from './call-index.ts';
import { type EntryOf, entriesIn, entryAt, runStart } from './entry-index.ts';
import { capitalize, humanize, messageText, pluralize } from './format.ts';
import { decisionReason } from './guard-words.ts';
import type { RunFold } from './run-fold.ts';
import { RETRIEVAL, type Selection, selectionOf } from './selection.ts';
import { firstIndexWhere, numbersIn, startedIn } from './sorted.ts';
import { type AttemptSpan, type CallSpan, type CapabilitySpan, usageOf } from './spans.ts';
import { argumentWords, jsonExcerpt } from './text.ts';
import { lazy, type RowStatus, type TraceRow } from './trace-row.ts';
import { rejectionAfter } from './user-events.ts';

export interface TracedRun {
  readonly log: RunLog;
  readonly fold: RunFold;
  readonly count: number;
  readonly isOver: boolean;
}

/** Returns the rows of everything that starts in these entries. The model calls and searches are passed in. */
export function itemRows(
  run: TracedRun,
  from: number,
  to: number,
  calls: readonly AttemptSpan[],
  searches: readonly CallSpan[] = [],
): readonly TraceRow[] {
  const { spans } = run.fold;
  return [
    ...callRows(run, calls, to),
    ...startedIn(spans.capabilities, from, to).map((tool) => toolRow(run, tool)),
    ...searches.map((search) => searchRow(run, search, search.from < from ? earlyWords(spans, search.from) : '')),
    ...startedIn(spans.calls, from, to).flatMap((call) => activityRow(run, call)),
    ...Object.entries(ENTRY_ROWS).flatMap(([type, rowOf]) =>
      entriesIn(run.log, run.fold.entries, type as JournalEntry['type'], from, to).flatMap((entry) =>
        (rowOf as EntryRow<JournalEntry['type']>)(entry, run),
      ),
    ),
    ...timeLimitRows(run, from, to),
  ].sort((one, other) => one.from - other.from);
}

/** Returns the rows of model calls, and of the waits between them, up to an entry. */
export const callRows = (run: TracedRun, calls: readonly AttemptSpan[], to: number): readonly TraceRow[] =>
  calls.flatMap((call, index) => [callRow(run, call, calls[index - 1]), ...backOffRow(run, call, calls, to)]);

/** The status of a span without a failure. */
const statusOf = ({ isOver }: TracedRun, to: number | null, hasResult: boolean): RowStatus =>
  to !== null ? (hasResult ? 'done' : 'ended') : isOver ? 'ended' : 'open';

const isFailed = ({ failure }: { readonly failure: Failure | null }): boolean =>
  failure !== null && failure.stage !== 'aborted';

const REASONS: { readonly [Stage in FailureStage]?: string } = {
  transport: 'the request failed',
  deadline: 'it took too long',
  unexpected: 'it failed',
};

/** Why a call repeats the one before it in its phase; null if it does not. */
function repeatReason({ attempt, task }: AttemptSpan, before: AttemptSpan | undefined): string | null {
  if (before?.task !== task || before.failure === null || !isFailed(before)) return attempt > 1 ? 'it failed' : null;
  return REASONS[before.failure.stage] ?? 'the reply was invalid';
}

/** Whether a fork has copied a call. */
export const isReused = ({ log }: TracedRun, { from }: AttemptSpan): boolean =>
  from <= (runStart(log)?.forkedFrom?.seq ?? -1);

/** What calls used, without those that a fork has copied. */
export function ownUsage(run: TracedRun, calls: readonly AttemptSpan[]) {
  const own = calls.filter((call) => !isReused(run, call));
  return usageOf(own, run.fold.spans.currency);
}

/** What calls that a fork has copied used in its original. */
export function reusedTokens(run: TracedRun, calls: readonly AttemptSpan[]) {
  const copied = calls.filter((call) => isReused(run, call));
  const { inputTokens, outputTokens } = usageOf(copied, null);
  return copied.length === 0 ? {} : { reusedTokens: inputTokens + outputTokens };
}

export const taskWords = (task: string): string => (task === 'continuation' ? 'check for more tools' : humanize(task));

/** `before`: the call before it in its phase. */
function callRow(run: TracedRun, call: AttemptSpan, before: AttemptSpan | undefined): TraceRow {
  const { from, to, failure, usage, task, phase, phases, model } = call;
  const reason = repeatReason(call, before);
  const notes = [
    earlyCallWords(run.fold.spans, call),
    isReused(run, call) ? 'reused' : '',
    reason === null ? '' : `retry: ${reason}`,
    task === phase || task === 'synthesis' ? '' : taskWords(task),
    phases !== null && phases.length > 1 ? `for ${phases.join(', ')}` : '',
    model > 0 ? `fallback model${model > 1 ? ` ${model}` : ''}` : '',
  ];
  return {
    id: `call${from}`,
    kind: 'call',
    title: `Call ${call.number}`,
    note: notes.filter(Boolean).join(', '),
    text: messageText(failure?.message ?? ''),
    isRetry: reason !== null,
    status: isFailed(call) ? 'failed' : statusOf(run, to, usage !== null && failure === null),
    from,
    to,
    usage: usage === null ? NO_USAGE : ownUsage(run, [call]),
    ...reusedTokens(run, [call]),
    selection: selectionOf('attempt', call, run.count),
  };
}

function backOffRow(
  run: TracedRun,
  call: AttemptSpan,
  calls: readonly AttemptSpan[],
  until: number,
): readonly TraceRow[] {
  const { backOff, attemptId, attempt } = call;
  if (backOff === null || backOff.inMs === 0) return [];
  const next = calls.find((other) => other.attemptId === attemptId && other.attempt > attempt);
  const isOpen = next === undefined && until >= run.count - 1 && !run.isOver;
  // The wait ends before the call that follows it.
  const to = next === undefined ? (isOpen ? null : until) : next.from - 1;
  return [
    {
      ...plainRow('wait', backOff.at, 'Wait before the retry'),
      to,
      status: isOpen ? 'open' : 'noted',
      selection: selectionOf('entry', { from: backOff.at, to }, run.count),
    },
  ];
}

export function toolRow(run: TracedRun, tool: CapabilitySpan): TraceRow {
  const { from, to, error, capability } = tool;
  const hasResult = to !== null && run.fold.entries.typeOf(to) === 'capability-end';
  const result = lazy(() => (hasResult ? entryAt(run.log, to, 'capability-end')?.result : undefined));
  return {
    id: `tool${from}`,
    kind: 'tool',
    title: capability,
    get note() {
      return argumentWords(result()?.arguments ?? {});
    },
    get text() {
      return error ?? result()?.output ?? '';
    },
    status: error !== null ? 'failed' : statusOf(run, to, hasResult),
    from,
    to,
    usage: null,
    selection: selectionOf('capability', tool, run.count),
  };
}

function searchRow(run: TracedRun, search: CallSpan, early: string): TraceRow {
  const { from, to, activity, outcome } = search;
  const retrieval = lazy(() =>
    entriesIn(run.log, run.fold.entries, 'retrieval', from + 1, to ?? run.count).find(
      (entry) => entry.activity === undefined || entry.activity === activity,
    ),
  );
  const status = outcome === 'failed' ? 'failed' : statusOf(run, to, outcome === 'done');
  return {
    id: `search${from}`,
    kind: 'search',
    title: 'Search',
    get note() {
      const entry = status === 'done' ? retrieval() : undefined;
      const found = entry === undefined ? '' : `${pluralize(entry.passages, 'passage')} found`;
      return [found, early].filter(Boolean).join(', ');
    },
    get text() {
      const entry = retrieval();
      return entry?.failure ?? (status === 'failed' ? 'The search failed.' : (entry?.query ?? ''));
    },
    status,
    from,
    to,
    usage: null,
    selection: selectionOf('retrieval', search, run.count),
  };
}

const ACTIVITIES: Readonly<Record<string, string>> = {
  recallSession: 'Session: recall',
  appendTurn: 'Session: store',
  measureContext: 'Embeddings of the context',
  compareAnswers: 'Embeddings of the answers',
  gradeAnswer: 'Grading of the answer',
  validateArguments: 'Validation of arguments',
  validateReply: 'Validation of the reply',
  decideContinuation: 'Decision about more tools',
  callAhead: 'Early call',
  executeCapability: 'Tool',
  [RETRIEVAL]: 'Search',
};

const activityTitle = (actor: string): string =>
  (Object.hasOwn(ACTIVITIES, actor) && ACTIVITIES[actor]) || capitalize(humanize(actor));

/** Activities that have rows of their own: calls, tools and searches. */
const SHOWN_OTHERWISE: ReadonlySet<string> = new Set(['readReply', 'callAhead', 'executeCapability', RETRIEVAL]);

/** An activity that took no longer is not worth a row. */
const MIN_ACTIVITY_MS = 50;

function activityRow(run: TracedRun, activity: CallSpan): readonly TraceRow[] {
  const { source, subject, from, to, outcome } = activity;
  if (SHOWN_OTHERWISE.has(source)) return [];
  const { timeLine } = run.fold;
  const isShort = to !== null && timeLine.wallMs(to) - timeLine.wallMs(from) < MIN_ACTIVITY_MS;
  if (isShort && outcome !== 'failed') return [];
  const end = outcome === 'failed' ? entryAt(run.log, to, 'activity-event') : null;
  return [
    {
      ...plainRow('activity', from, activityTitle(source)),
      note: subject,
      text: end?.event.type === 'failed' ? end.event.error.message : '',
      status: outcome === 'failed' ? 'failed' : statusOf(run, to, outcome !== null),
      to,
    },
  ];
}

const entrySelection = (seq: number): Selection => ({ kind: 'entry', from: seq, to: seq });

export const plainRow = (kind: TraceRow['kind'], seq: number, title: string): TraceRow => ({
  id: `${kind}${seq}`,
  kind,
  title,
  text: '',
  status: 'done',
  from: seq,
  to: seq,
  usage: null,
  selection: entrySelection(seq),
});

/** The row between the steps that a fork has copied and its own. */
export const forkRow = (seq: number): TraceRow => ({
  ...plainRow('aside', seq, 'Fork begins'),
  text: 'the steps before it are copied from the original',
});

/** The row of an entry, in the words that every reader has for it. */
const entryRow = (kind: TraceRow['kind'], entry: JournalEntry): TraceRow => ({
  ...plainRow(kind, entry.seq, entryTitle(entry) ?? capitalize(humanize(entry.type))),
  status: entryTrouble(entry) ?? 'done',
});

type EntryRow<Type extends JournalEntry['type']> = (entry: EntryOf<Type>, run: TracedRun) => readonly TraceRow[];

/** Entries with a row of their own, by type. */
const ENTRY_ROWS: { readonly [Type in JournalEntry['type']]?: EntryRow<Type> } = {
  decision: ({ seq, decision }, { log }) => [
    {
      ...plainRow(
        LIMIT_RULES.has(decision.rule) ? 'limit' : 'decision',
        seq,
        decisionReason(decision, runStart(log)?.input.thresholds ?? null),
      ),
      next: decision.nextPhase === null ? 'Answer' : capitalize(decision.nextPhase),
      selection: { kind: 'decision', from: seq, to: seq },
    },
  ],
  recovery: (entry) => [{ ...entryRow('decision', entry), next: nextAfter(entry) }],
  'capability-stop': (entry) =>
    entryTrouble(entry) === null
      ? []
      : [{ ...entryRow('limit', entry), text: [entry.code, entry.problem].filter(Boolean).join(': ') }],
  'consent-asked': (entry, run) => waitRow(run, entry, endOfState(run, entry.seq)),
  'direction-asked': (entry, run) => waitRow(run, entry, endOfState(run, entry.seq)),
  'approval-asked': (entry, run) => {
    const answer = entriesIn(run.log, run.fold.entries, 'approval-resolved', entry.seq).find(
      ({ questionId, index }) => questionId === entry.questionId && index === entry.index,
    );
    const asked = argumentWords(entry.arguments);
    const decided = answer && `${answer.decision.replaceAll('_', ' ')} by the ${answer.by}`;
    const decision = [decided, answer?.reason].filter(Boolean).join(': ');
    return waitRow(run, entry, answer?.seq ?? null, [asked, decision].filter(Boolean).join(' · '));
  },
  delivery: (entry, { log, fold }) => {
    const { seq, event } = entry;
    const { type, questionId: _, ...values } = event as typeof event & { readonly questionId?: string };
    const rejection = rejectionAfter(log, seq);
    // The row of the question says how it was decided.
    if (event.type === 'approval.given' && rejection === null) return [];
    const asked = event.type === 'approval.given' ? askedWords(log, fold, event, seq) : '';
    const text = asked === '' && Object.keys(values).length > 0 ? jsonExcerpt(values, 300) : asked;
    return [
      {
        ...entryRow('event', entry),
        note: 'by the user',
        text: rejection === null ? text : `No effect: ${rejection}`,
        status: rejection === null ? 'done' : 'noted',
      },
    ];
  },
  resumed: (entry, run) => [
    entry.seq === run.fold.timeLine.forkStart
      ? forkRow(entry.seq)
      : {
          ...entryRow('event', entry),
          text: entry.wasPaused
            ? ''
            : 'The time limit of the run does not include the time since the last stored entry.',
        },
  ],
  closed: (entry) => (entry.waiting === undefined ? [] : [entryRow('event', entry)]),
  stopped: (entry) => [entryRow('event', entry)],
  failed: (entry) => [
    { ...entryRow('activity', entry), title: capitalize(humanize(entry.actor)), text: entry.error.message },
  ],
  'session-recalled': sessionRow,
  'session-stored': sessionRow,
};

const nextAfter = ({ phase, action }: EntryOf<'recovery'>): string =>
  ({ repeat: `${capitalize(phase)}, again`, skip: 'continue without it', finish: 'Answer' })[action];

type Delivered = EntryOf<'delivery'>['event'];

/** Returns the decision in an answer to an approval, such as `Approved (refund · A7)`; empty for any other entry. */
export function decidedWords(log: RunLog, fold: RunFold, seq: number): string {
  const entry = log.entry(seq);
  if (entry.type !== 'delivery' || entry.event.type !== 'approval.given') return '';
  return `${entryTitle(entry)} (${askedWords(log, fold, entry.event, seq)})`;
}

/** The tool that an answer is about, with its arguments. */
function askedWords(log: RunLog, { entries }: RunFold, answer: Delivered, seq: number): string {
  const { questionId, digest, arguments: edited } = answer as Extract<Delivered, { type: 'approval.given' }>;
  const asked = entriesIn(log, entries, 'approval-asked', 0, seq).find(
    (entry) => entry.questionId === questionId && entry.digest === digest,
  );
  return asked === undefined
    ? ''
    : [asked.capability, argumentWords(edited ?? asked.arguments)].filter(Boolean).join(' · ');
}

/** The rules of Yield that end a run at a limit. */
const LIMIT_RULES: ReadonlySet<string> = new Set(['cycleLimitReached', 'budgetExhausted']);

function sessionRow(entry: EntryOf<'session-recalled' | 'session-stored'>): readonly TraceRow[] {
  return entry.problem === null ? [] : [{ ...entryRow('activity', entry), text: entry.problem }];
}

function waitRow(run: TracedRun, entry: JournalEntry, end: number | null, text = ''): readonly TraceRow[] {
  const isOpen = end === null && !run.isOver;
  return [
    {
      ...plainRow('wait', entry.seq, `${isOpen ? 'Waiting' : 'Waited'} for ${entryWait(entry)}`),
      text: end === null && run.isOver ? 'There was no answer.' : text,
      status: isOpen ? 'open' : 'noted',
      to: end,
      selection: selectionOf('entry', { from: entry.seq, to: end }, run.count),
    },
  ];
}

/** The entry with which the chart leaves the state that asked; null if it is still there. */
function endOfState({ log, fold: { transitions } }: TracedRun, seq: number): number | null {
  const positions = transitions.positionsOf(runStart(log)?.machine.id ?? '');
  return positions[firstIndexWhere(positions, ({ since }) => since > seq)]?.since ?? null;
}

function timeLimitRows({ fold: { transitions } }: TracedRun, from: number, to: number): readonly TraceRow[] {
  const seqs = numbersIn(transitions.expired, from, to);
  return seqs.map((seq) => plainRow('limit', seq, 'Time limit of the run reached'));
}
