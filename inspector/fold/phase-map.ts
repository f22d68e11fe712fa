import type { Phase } from '../../machines/contracts/phase.ts';
import { phaseOf, searchPhase } from './call-index.ts';
import { PHASE_NAMES } from './format.ts';
import type { RunFold } from './run-fold.ts';
import { type Selection, selectionOf } from './selection.ts';
import { countUpTo, firstIndexWhere, lastStartedBy } from './sorted.ts';
import type { AttemptSpan, PhaseSpan, Spans } from './spans.ts';

interface MappedPhase {
  readonly phase: Phase;
  /** The model calls of this phase up to an entry, including those that started before the phase. */
  readonly calls: number;
  readonly failures: number;
  /** In the whole run. */
  readonly visits: number;
}

/** Where a selected step is: its phase, and the way of its cycle so far. */
interface PhaseMap {
  readonly phases: readonly MappedPhase[];
  /** The model calls that wrote the answer. */
  readonly answerCalls: number;
  readonly current: Phase | 'answer' | null;
  readonly cycle: number;
  /** From the first phase of the cycle to the current one, then to the answer. */
  readonly path: readonly (Phase | 'answer')[];
}

/** Returns the entries at which the calls of each phase start. */
type CallStarts = Map<Phase | 'answer', number[]>;

const indexed = new WeakMap<Spans, { readonly starts: CallStarts; attempts: number }>();

/** The phase whose step made a call, which may start earlier; null for the writing of the answer. */
export const phaseOfAttempt = (spans: Spans, attempt: AttemptSpan): Phase | null =>
  attempt.task === 'synthesis' ? null : (phaseOf(spans, attempt)?.phase ?? attempt.phase);

function callsByPhase(spans: Spans, at: number): (phase: Phase | 'answer') => number {
  const known = indexed.get(spans) ?? { starts: new Map(), attempts: 0 };
  indexed.set(spans, known);
  // The last call may be for a phase that has not begun.
  const settled = Math.max(known.attempts, spans.attempts.length - 8);
  const add = (starts: CallStarts, attempts: readonly AttemptSpan[]): CallStarts => {
    for (const attempt of attempts) {
      const phase = phaseOfAttempt(spans, attempt) ?? 'answer';
      const all = starts.get(phase) ?? [];
      all.push(attempt.from);
      starts.set(phase, all);
    }
    return starts;
  };
  add(known.starts, spans.attempts.slice(known.attempts, settled));
  known.attempts = settled;
  const newest = add(new Map(), spans.attempts.slice(settled));
  return (phase) => countUpTo(known.starts.get(phase) ?? [], at) + countUpTo(newest.get(phase) ?? [], at);
}

/** Counts the calls and failures up to the entry `at`. */
export function phaseMapOf(
  { spans, entries }: RunFold,
  { kind, from }: Partial<Selection> & Pick<Selection, 'from'>,
  at: number,
): PhaseMap {
  const callsOf = callsByPhase(spans, at);
  const sums = new Map(PHASE_NAMES.map((phase) => [phase, { visits: 0, failures: 0 }]));
  for (const { phase, failure, to } of spans.phases) {
    const sum = sums.get(phase);
    if (sum === undefined) continue;
    sum.visits += 1;
    if (failure !== null && failure.stage !== 'aborted' && to !== null && to <= at) sum.failures += 1;
  }
  const phases = [...sums].map(([phase, sum]) => ({ phase, calls: callsOf(phase), ...sum }));
  const last = spans.phases.at(-1);
  const attempt =
    kind === 'attempt' ? spans.attempts[firstIndexWhere(spans.attempts, (one) => one.from >= from)] : null;
  // A call may start before its phase; the first of all does.
  const own = kind === 'retrieval' ? searchPhase(spans, from) : attempt && phaseOf(spans, attempt);
  const span = own ?? lastStartedBy(spans.phases, from) ?? spans.phases[0];
  const hasEnded = entries.of('answer').length > 0 && last !== undefined && last.to !== null && from > last.to;
  const isDecision = countUpTo(entries.of('decision'), from) > countUpTo(entries.of('decision'), from - 1);
  const isAnswer = attempt?.task === 'synthesis' || (hasEnded && !isDecision);
  const index = span === undefined ? -1 : spans.phases.lastIndexOf(span);
  const way: Phase[] = [];
  for (let one = index; one >= 0 && spans.phases[one]?.cycle === span?.cycle; one -= 1)
    way.unshift(spans.phases[one]?.phase as Phase);
  return {
    phases,
    answerCalls: callsOf('answer'),
    current: isAnswer ? 'answer' : (span?.phase ?? null),
    cycle: span?.cycle ?? 0,
    path: isAnswer ? [...way, 'answer'] : way,
  };
}

/** The latest visit of a phase up to an entry in which something was called; else the latest, or the first after the entry. */
export function phaseVisit({ spans }: RunFold, phase: Phase, at: number, count: number): Selection | null {
  const visits = spans.phases.filter((span) => span.phase === phase);
  const before = visits.filter(({ from }) => from <= at);
  const isBusy = ({ from, to }: PhaseSpan): boolean => {
    const last = lastStartedBy(spans.calls, to ?? count - 1);
    return last !== undefined && last.from >= from;
  };
  const visit = before.findLast(isBusy) ?? before.at(-1) ?? visits[0];
  return visit === undefined ? null : selectionOf('phase', visit, count);
}
