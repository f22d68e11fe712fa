import type { Phase } from '../../machines/contracts/phase.ts';
import type { RunFold } from './run-fold.ts';
import { type Selection, selectionOf } from './selection.ts';
import { lastStartedBy } from './sorted.ts';
import type { PhaseSpan } from './spans.ts';

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
