import type { Phase } from '../../machines/contracts/phase.ts';
import { followsPhases } from '../../machines/contracts/phase.ts';
import { phaseOf, searchPhase } from './call-index.ts';
import { PHASE_NAMES } from './format.ts';
import type { RunFold } from './run-fold.ts';
import { countsOf } from './run-list.ts';
import { type Selection, selectionOf } from './selection.ts';
import { countUpTo, firstIndexWhere, lastStartedBy } from './sorted.ts';
import type { AttemptSpan, PhaseSpan, Spans } from './spans.ts';

interface MappedPhase {
  readonly phase: Phase;
  /** The model calls of this phase, including those that started before it. */
  readonly calls: number;
  /** The visits that failed. */
  readonly failures: number;
  /** Whether a visit, a model call or a tool failed. */
  readonly hasFailed: boolean;
  readonly visits: number;
  /** The entry of its first visit. */
  readonly since: number;
}

/** Where a selected step is: its phase, and the way of its cycle so far. */
interface PhaseMap {
  readonly phases: readonly MappedPhase[];
  /** The model calls that wrote the answer. */
  readonly answerCalls: number;
  readonly current: Phase | 'answer' | null;
  /** From the last phase of the cycle before to the current one, then to the answer. */
  readonly path: readonly (Phase | 'answer')[];
}

/** The phase that used a call, which may start earlier, or in which an unused one started; null for a call for the answer. */
export const phaseOfAttempt = (spans: Spans, attempt: AttemptSpan): Phase | null =>
  followsPhases(attempt.task)
    ? null
    : ((phaseOf(spans, attempt) ?? lastStartedBy(spans.phases, attempt.from))?.phase ?? attempt.phase);

/** The calls, visits and failures are those of the whole run. */
export function phaseMapOf(
  { spans, entries }: RunFold,
  { kind, from }: Partial<Selection> & Pick<Selection, 'from'>,
): PhaseMap {
  const calls = new Map(countsOf(spans.attempts, (one) => phaseOfAttempt(spans, one) ?? 'answer'));
  const sums = new Map(PHASE_NAMES.map((phase) => [phase, { visits: 0, failures: 0, since: 0 }]));
  for (const { phase, failure, from: since } of spans.phases) {
    const sum = sums.get(phase);
    if (sum === undefined) continue;
    if (sum.visits === 0) sum.since = since;
    sum.visits += 1;
    if (failure !== null && failure.stage !== 'aborted') sum.failures += 1;
  }
  const troubled = new Set([
    ...spans.attempts.flatMap((one) => (one.failure === null ? [] : phaseOfAttempt(spans, one))),
    ...spans.capabilities.flatMap(({ error, from: at }) =>
      error === null ? [] : (lastStartedBy(spans.phases, at)?.phase ?? []),
    ),
  ]);
  const phases = [...sums].map(([phase, sum]) => ({
    phase,
    calls: calls.get(phase) ?? 0,
    hasFailed: sum.failures > 0 || troubled.has(phase),
    ...sum,
  }));
  const last = spans.phases.at(-1);
  const attempt =
    kind === 'attempt' ? spans.attempts[firstIndexWhere(spans.attempts, (one) => one.from >= from)] : null;
  // A call may start before its phase; the first of all does.
  const own = kind === 'retrieval' ? searchPhase(spans, from) : attempt && phaseOf(spans, attempt);
  const span = own ?? lastStartedBy(spans.phases, from) ?? spans.phases[0];
  const hasEnded = entries.of('answer').length > 0 && last !== undefined && last.to !== null && from > last.to;
  const isDecision = countUpTo(entries.of('decision'), from) > countUpTo(entries.of('decision'), from - 1);
  const isAnswer = followsPhases(attempt?.task ?? '') || (hasEnded && !isDecision);
  const index = span === undefined ? -1 : spans.phases.lastIndexOf(span);
  const way: Phase[] = [];
  for (let one = index; one >= 0 && spans.phases[one]?.cycle === span?.cycle; one -= 1)
    way.unshift(spans.phases[one]?.phase as Phase);
  const before = spans.phases[index - way.length]?.phase;
  if (before !== undefined) way.unshift(before);
  return {
    phases,
    answerCalls: calls.get('answer') ?? 0,
    current: isAnswer ? 'answer' : (span?.phase ?? null),
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
