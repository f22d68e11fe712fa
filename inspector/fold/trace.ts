import { followsPhases } from '../../machines/contracts/phase.ts';
import { phaseFinding } from '../../src/chain/journal/phase-finding.ts';
import type { RunLog } from '../wire/run-log.ts';
import { callsOfPhase, searchesBetween, searchesOf } from './call-index.ts';
import { answerUpTo, entriesIn, entryAt } from './entry-index.ts';
import { capitalize, formatNumber, formatScore, messageText } from './format.ts';
import { replyOf } from './output.ts';
import type { RunFold } from './run-fold.ts';
import { answerSelection, type Range, selectionOf } from './selection.ts';
import { countStartedBy, lastUpTo, startedIn } from './sorted.ts';
import type { AttemptSpan, PhaseSpan } from './spans.ts';
import { isReused, itemRows, ownUsage, reusedTokens, type TracedRun } from './trace-items.ts';
import { lazy, type TraceRow } from './trace-row.ts';

interface Run extends TracedRun {
  /** The entry with which the writing of the answer begins; `count` if it has not begun. */
  readonly end: number;
}

/**
 * A run with `count` entries as one tree: cycles, their phases, and the calls, tools, waits and events inside them; the
 * answer last. `isOver`: nothing runs any more. Rows of what has ended are made once.
 */
export function traceOf(log: RunLog, fold: RunFold, count: number, isOver: boolean): readonly TraceRow[] {
  const { phases, others, attempts } = fold.spans;
  const last = phases.at(-1)?.from ?? 0;
  const writing = others.find(({ task, from }) => followsPhases(task) && from > last);
  const answer = fold.entries.of('answer')[0] ?? count;
  const end = Math.min(writing?.from ?? answer, answer);
  const run = { log, fold, count, isOver, end };
  if (phases.length === 0)
    return [...itemRows(run, 0, end - 1, attempts, searchesBetween(fold.spans, 0, end - 1)), ...answerRows(run)];
  const firsts = phases.flatMap(({ cycle }, index) => (phases[index - 1]?.cycle === cycle ? [] : [index]));
  const cycles = firsts.map((first, index) => cycleRow(run, first, firsts[index + 1] ?? phases.length));
  const [only] = cycles;
  return [...(cycles.length === 1 ? (only?.children?.() ?? []) : cycles), ...answerRows(run)];
}

const cycleRows = new WeakMap<PhaseSpan, TraceRow>();

/** The cycle of the phases from `first` up to, but excluding, `next`. */
function cycleRow(run: Run, first: number, next: number): TraceRow {
  const { phases } = run.fold.spans;
  const members = phases.slice(first, next);
  const [start, after] = [members[0] as PhaseSpan, phases[next]];
  const cached = cycleRows.get(start);
  if (cached !== undefined) return cached;
  const calls = members.flatMap((phase, index) => callsOf(run, phase, phases[first + index + 1]));
  const from = first === 0 ? 0 : start.from;
  const until = (after?.from ?? run.end) - 1;
  const isClosed = after !== undefined && calls.every(({ to }) => to !== null);
  const decided = lastUpTo(run.fold.entries.of('decision'), until) ?? -1;
  const isDone = after !== undefined || run.end < run.count;
  const to = decided >= from ? decided : isDone || run.isOver ? until : null;
  const row: TraceRow = {
    id: `cycle${start.from}`,
    kind: 'cycle',
    title: `Cycle ${start.cycle}`,
    text: '',
    status: to === null ? 'open' : 'done',
    from: start.from,
    to,
    within: { from, to: until },
    usage: ownUsage(run, calls),
    selection: null,
    children: () =>
      members.flatMap((phase, index) => [
        phaseRow(run, phase, phases[first + index + 1], first + index === 0),
        ...(phase.to === null ? [] : itemRows(run, phase.to + 1, (phases[first + index + 1]?.from ?? run.end) - 1, [])),
      ]),
  };
  if (isClosed) cycleRows.set(start, row);
  return row;
}

/** The model calls of a phase, which may have started before it. */
function callsOf({ count, end, fold: { spans } }: Run, phase: PhaseSpan, next: PhaseSpan | undefined) {
  const { byStep, others } = spans;
  const { own } = callsOfPhase(spans, phase);
  // Calls for a phase that has not begun, or never did, are shown where they were made.
  const early =
    next === undefined
      ? [...byStep].flatMap(([step, later]) => (step > phase.step ? later : []))
      : callsOfPhase(spans, next).unused;
  const isFirst = phase === spans.phases[0];
  const unnamed = startedIn(others, isFirst ? 0 : phase.from, (next?.from ?? Math.min(end, count)) - 1);
  return own.length > 0 && early.length === 0 && unnamed.length === 0
    ? own
    : [...own, ...early, ...unnamed].sort((one, other) => one.from - other.from);
}

const phaseRows = new WeakMap<PhaseSpan, TraceRow>();

function phaseRow(run: Run, span: PhaseSpan, next: PhaseSpan | undefined, isFirst: boolean): TraceRow {
  const cached = phaseRows.get(span);
  if (cached !== undefined) return cached;
  const { log, fold, count, isOver } = run;
  const { phases } = fold.spans;
  const { from, to, phase, failure } = span;
  const calls = callsOf(run, span, next);
  // The calls of the first phase are recorded before it.
  const start = isFirst ? 0 : from;
  const isAborted = failure?.stage === 'aborted' || (to !== null && fold.entries.typeOf(to) !== 'phase-end');
  const until = to ?? (next?.from ?? run.end) - 1;
  const searches = searchesOf(fold.spans, span);
  const early = earlyStretch([...calls, ...searches], start);
  const forkedAt = fold.timeLine.forkStart ?? -1;
  const shown = new Map(failure === null ? [] : [[messageText(failure.message), 'the phase']]);
  const children = withoutRepeats(itemRows(run, start, until, calls, searches), shown);
  const text = lazy(() => {
    if (failure !== null) return messageText(failure.message);
    const finding = span.source === null ? '' : phaseFinding(phase, replyOf(log, span.source));
    // As in the terminal.
    const found = children.find(({ kind, status }) => kind === 'search' && status === 'done')?.note ?? '';
    const summaryOf = (end?: number | null) => entryAt(log, end, 'phase-end')?.summary ?? '';
    const before = phases[countStartedBy(phases, from) - 2];
    // Phases of one reply have the same summary.
    const summary = summaryOf(to) === summaryOf(before?.to) ? '' : summaryOf(to);
    return [finding, summary].filter(Boolean).join(' · ') || (to === null ? '' : found);
  });
  const note = lazy(() => {
    const called = callsNote(run, span, calls, start);
    const isNothing = called !== NO_CALL && text() === '' && to !== null;
    const isForkStart = forkedAt >= from && forkedAt <= until;
    const notes = [isNothing && 'nothing new', isForkStart && 'the fork begins here'];
    return [called, ...notes, ...contextNotes(run, from, until)].filter(Boolean).join(' · ');
  });
  const row: TraceRow = {
    id: `phase${from}`,
    kind: 'phase',
    title: capitalize(phase),
    get note() {
      return note();
    },
    get text() {
      return text();
    },
    status: to === null ? (isOver ? 'ended' : 'open') : isAborted ? 'ended' : failure === null ? 'done' : 'failed',
    phase,
    from,
    to,
    ...(early !== null && { early }),
    within: { from: Math.min(start, ...[...calls, ...searches].map((one) => one.from)), to: until },
    usage: calls.length === 0 ? null : ownUsage(run, calls),
    ...reusedTokens(run, calls),
    ...(calls.length === 0 && span.source !== null && { isElsewhere: true }),
    selection: selectionOf('phase', span, count),
    ...(children.length > 0 && { children: () => children }),
  };
  if (next !== undefined && calls.every((call) => call.to !== null)) phaseRows.set(span, row);
  return row;
}

/** Calls refer to the row above that shows their error: `shown` has its name by the error. */
const withoutRepeats = (rows: readonly TraceRow[], shown: Map<string, string>): readonly TraceRow[] =>
  rows.map((row) => {
    if (row.kind !== 'call') return row;
    const sameErrorAs = shown.get(row.text);
    if (row.status === 'failed' && sameErrorAs === undefined) shown.set(row.text, row.title.toLowerCase());
    return { ...row, sameErrorAs };
  });

/** From the start of the first call that started before its phase to the end of the last; null if none did. */
function earlyStretch(calls: readonly Range[], start: number): Range | null {
  const early = calls.filter(({ from }) => from < start);
  if (early.length === 0) return null;
  const ends = early.map(({ to }) => to);
  return {
    from: Math.min(...early.map(({ from }) => from)),
    to: ends.includes(null) ? null : Math.max(...ends.map(Number)),
  };
}

const NO_CALL = 'no model call';

/** The numbers of a phase's calls, or where its result is from if it made none. */
function callsNote(run: Run, { source, to, failure }: PhaseSpan, calls: readonly AttemptSpan[], start: number): string {
  const early = (calls[0]?.from ?? start) < start;
  if (calls.length > 0)
    return `${numbersText(calls)}${early ? `,${calls.length > 1 ? ' the first' : ''} started early` : ''}${calls.every((call) => isReused(run, call)) ? ', reused' : ''}`;
  if (to === null || failure !== null) return '';
  return source === null ? NO_CALL : `from call ${source.number}`;
}

/** `call 3`, `calls 3–5` or `calls 3, 7`; empty without calls. */
function numbersText(calls: readonly AttemptSpan[]): string {
  const numbers = calls.map(({ number }) => number);
  const [first = 0, last = 0] = [numbers[0], numbers.at(-1)];
  if (numbers.length < 2) return numbers.length === 0 ? '' : `call ${first}`;
  return `calls ${last - first < numbers.length ? `${first}–${last}` : numbers.join(', ')}`;
}

function contextNotes({ log, fold: { entries } }: Run, from: number, to: number): readonly string[] {
  return entriesIn(log, entries, 'context-evaluated', from, to).flatMap(({ statistics, problem }) => {
    const { pruned, summarized } = statistics;
    return [
      ...(pruned > 0 ? [`${formatNumber(pruned)} removed`] : []),
      ...(summarized > 0 ? [`${formatNumber(summarized)} summarized`] : []),
      ...(problem === null ? [] : ['importance not measured']),
    ];
  });
}

/** The answer with the calls that wrote it; nothing before the writing begins. */
function answerRows(run: Run): readonly TraceRow[] {
  const { log, fold, count, isOver, end } = run;
  if (end >= count) return [];
  const found = answerUpTo(log, fold, count - 1);
  const answer = found?.answer;
  const calls = fold.spans.attempts.slice(countStartedBy(fold.spans.attempts, end - 1));
  const failed = fold.spans.phases.flatMap(({ phase, failure }) =>
    failure === null ? [] : ([[messageText(failure.message), capitalize(phase)]] as const),
  );
  const children = withoutRepeats(itemRows(run, end, count - 1, calls), new Map(failed));
  const isDegraded = answer?.status === 'degraded';
  const confidence = answer === undefined ? '' : `confidence ${formatScore(answer.confidence)}`;
  return [
    {
      id: 'answer',
      kind: 'answer',
      title: answer === undefined || answer.status === 'completed' ? 'Answer' : `Answer, ${answer.status}`,
      note: [numbersText(calls), confidence].filter(Boolean).join(' · '),
      // The head has the answer and the reasons.
      text: '',
      status: answer === undefined ? (isOver ? 'ended' : 'open') : isDegraded ? 'noted' : 'done',
      from: end,
      to: found?.seq ?? (isOver ? count - 1 : null),
      within: { from: end, to: count - 1 },
      usage: calls.length === 0 ? null : ownUsage(run, calls),
      selection: answerSelection(fold, count),
      ...(children.length > 0 && { children: () => children }),
    },
  ];
}
