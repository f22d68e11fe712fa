import type { Phase } from '../../machines/contracts/phase.ts';
import { PHASE_NAMES } from './format.ts';
import type { RunFold } from './run-fold.ts';
import { type Selection, selectionOf } from './selection.ts';
import { countUpTo, lastStartedBy } from './sorted.ts';
import type { AttemptSpan, PhaseSpan, Spans } from './spans.ts';

/** A phase over the whole run. */
interface MappedPhase {
  readonly phase: Phase;
  /** The model calls of this phase, wherever they started. */
  readonly calls: number;
  readonly visits: number;
  readonly failures: number;
}

/** Where a selected step is: its phase, and the way of its cycle so far. */
interface PhaseMap {
  readonly phases: readonly MappedPhase[];
  readonly current: Phase | 'answer' | null;
  readonly cycle: number;
  readonly cycles: number;
  /** From the first phase of the cycle to the current one, then to the answer. */
  readonly path: readonly (Phase | 'answer')[];
}

const counted = new WeakMap<Spans, { readonly calls: Map<Phase, number>; attempts: number }>();
const stepPhases = new WeakMap<Spans, { readonly byStep: Map<number, Phase>; phases: number }>();

/** The phase whose step made a call, which may start earlier; null for the writing of the answer. */
export function phaseOfAttempt(spans: Spans, { attemptId, phase }: AttemptSpan): Phase | null {
  const known = stepPhases.get(spans) ?? { byStep: new Map<number, Phase>(), phases: 0 };
  stepPhases.set(spans, known);
  for (; known.phases < spans.phases.length; known.phases += 1) {
    const span = spans.phases[known.phases] as PhaseSpan;
    known.byStep.set(span.step, span.phase);
  }
  const step = /^s(\d+)\./u.exec(attemptId)?.[1];
  return known.byStep.get(Number(step ?? Number.NaN)) ?? phase;
}

function callsByPhase(spans: Spans): ReadonlyMap<Phase, number> {
  const known = counted.get(spans) ?? { calls: new Map<Phase, number>(), attempts: 0 };
  counted.set(spans, known);
  // The last call may be for a phase that has not begun.
  const settled = Math.max(known.attempts, spans.attempts.length - 8);
  const add = (calls: Map<Phase, number>, attempts: readonly AttemptSpan[]): void => {
    for (const attempt of attempts) {
      const phase = phaseOfAttempt(spans, attempt);
      if (phase !== null) calls.set(phase, (calls.get(phase) ?? 0) + 1);
    }
  };
  add(known.calls, spans.attempts.slice(known.attempts, settled));
  known.attempts = settled;
  const all = new Map(known.calls);
  add(all, spans.attempts.slice(settled));
  return all;
}

export function phaseMapOf({ spans, entries }: RunFold, { from }: Pick<Selection, 'from'>): PhaseMap {
  const calls = callsByPhase(spans);
  const phases = PHASE_NAMES.map((phase) => {
    const visits = spans.phases.filter((span) => span.phase === phase);
    const failures = visits.filter(({ failure }) => failure !== null && failure.stage !== 'aborted').length;
    return { phase, calls: calls.get(phase) ?? 0, visits: visits.length, failures };
  });
  const last = spans.phases.at(-1);
  // The first phase starts after its first call.
  const span = lastStartedBy(spans.phases, from) ?? spans.phases[0];
  const hasEnded = entries.of('answer').length > 0 && last !== undefined && last.to !== null && from > last.to;
  const isDecision = countUpTo(entries.of('decision'), from) > countUpTo(entries.of('decision'), from - 1);
  const isAnswer = hasEnded && !isDecision;
  const index = span === undefined ? -1 : spans.phases.lastIndexOf(span);
  const way: Phase[] = [];
  for (let at = index; at >= 0 && spans.phases[at]?.cycle === span?.cycle; at -= 1)
    way.unshift(spans.phases[at]?.phase as Phase);
  return {
    phases,
    current: isAnswer ? 'answer' : (span?.phase ?? null),
    cycle: span?.cycle ?? 0,
    cycles: last?.cycle ?? 0,
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
