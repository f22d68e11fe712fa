import type { RunFold } from './run-fold.ts';
import { countUpTo, firstIndexWhere, lastStartedBy, lastUpTo } from './sorted.ts';
import type { PhaseSpan } from './spans.ts';

/** 1: next, -1: previous. Without one, the last or first entry. */
export type Direction = 1 | -1;

export function transitionFrom({ transitions: { seqs }, timeLine }: RunFold, at: number, to: Direction): number {
  return to === 1 ? (seqs[countUpTo(seqs, at)] ?? timeLine.count - 1) : (lastUpTo(seqs, at - 1) ?? 0);
}

/** The start of the phase, or of the previous one if already there. */
export function phaseFrom({ spans: { phases }, timeLine }: RunFold, at: number, to: Direction): number {
  if (to === -1) return lastStartedBy(phases, at - 1)?.from ?? 0;
  return phases[firstIndexWhere(phases, (phase) => phase.from > at)]?.from ?? timeLine.count - 1;
}

/** The start of the cycle, or of the previous one if already there. */
export function cycleFrom({ spans: { phases }, timeLine }: RunFold, at: number, to: Direction): number {
  const phase = lastStartedBy(phases, to === 1 ? at : at - 1);
  if (phase === undefined) return to === 1 ? (phases[0]?.from ?? timeLine.count - 1) : 0;
  const isTarget = ({ cycle }: PhaseSpan): boolean => (to === 1 ? cycle > phase.cycle : cycle >= phase.cycle);
  return phases[firstIndexWhere(phases, isTarget)]?.from ?? timeLine.count - 1;
}
