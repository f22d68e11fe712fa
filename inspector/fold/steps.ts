import type { RunFold } from './run-fold.ts';
import { countStartedBy, countUpTo, lastStartedBy, lastUpTo } from './sorted.ts';
import { cycleStarts } from './spans.ts';

/** 1: next, -1: previous. Without one, the last or first entry. */
export type StepDirection = 1 | -1;

export function transitionFrom({ transitions: { seqs }, timeLine }: RunFold, at: number, to: StepDirection): number {
  return to === 1 ? (seqs[countUpTo(seqs, at)] ?? timeLine.count - 1) : (lastUpTo(seqs, at - 1) ?? 0);
}

/** The start of the phase, or of the previous one if already there. */
export const phaseFrom = ({ spans, timeLine }: RunFold, at: number, to: StepDirection): number =>
  startFrom(spans.phases, timeLine.count, at, to);

/** The start of the cycle, or of the previous one if already there. */
export const cycleFrom = ({ spans, timeLine }: RunFold, at: number, to: StepDirection): number =>
  startFrom(cycleStarts(spans), timeLine.count, at, to);

function startFrom(all: readonly { readonly from: number }[], count: number, at: number, to: StepDirection): number {
  if (to === -1) return lastStartedBy(all, at - 1)?.from ?? 0;
  return all[countStartedBy(all, at)]?.from ?? count - 1;
}
