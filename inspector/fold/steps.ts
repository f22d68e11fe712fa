import type { RunFold } from './run-fold.ts';
import { countUpTo, firstWhere, lastBegunBy, lastUpTo } from './sorted.ts';

/** Ways from one entry to another. `to` is 1 for the next, -1 for the one before. */
export type Direction = 1 | -1;

export function transitionFrom({ transitions: { seqs }, timeLine }: RunFold, at: number, to: Direction): number {
  return to === 1 ? (seqs[countUpTo(seqs, at)] ?? timeLine.count - 1) : (lastUpTo(seqs, at - 1) ?? 0);
}

/** The beginning of the phase, or of the one before where it stands at that already. */
export function phaseFrom({ spans: { phases }, timeLine }: RunFold, at: number, to: Direction): number {
  if (to === -1) return lastBegunBy(phases, at - 1)?.from ?? 0;
  return phases[firstWhere(phases, (phase) => phase.from > at)]?.from ?? timeLine.count - 1;
}

/** The same for cycles. */
export function cycleFrom({ spans: { phases }, timeLine }: RunFold, at: number, to: Direction): number {
  const cycle = lastBegunBy(phases, to === 1 ? at : at - 1)?.cycle ?? 0;
  if (to === -1) return phases[firstWhere(phases, (phase) => phase.cycle >= cycle)]?.from ?? 0;
  return phases[firstWhere(phases, (phase) => phase.cycle > cycle)]?.from ?? timeLine.count - 1;
}
