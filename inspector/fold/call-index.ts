import type { RunFold } from './run-fold.ts';
import type { AttemptSpan } from './spans.ts';

/** The task of the calls that write the answer. */
export const WRITING = 'synthesis';

/** The model calls of a run by the step that they belong to, which may not have begun yet. */
export interface CallIndex {
  /** From 1, over the whole run. */
  readonly numbers: Map<AttemptSpan, number>;
  readonly byStep: Map<number, AttemptSpan[]>;
  /** Those whose id names no step. */
  readonly others: AttemptSpan[];
}

const callIndexes = new WeakMap<RunFold, CallIndex>();

/** Reads only the calls that were added since it was last asked. */
export function callIndexOf(fold: RunFold): CallIndex {
  const index: CallIndex = callIndexes.get(fold) ?? { numbers: new Map(), byStep: new Map(), others: [] };
  callIndexes.set(fold, index);
  for (const call of fold.spans.attempts.slice(index.numbers.size)) {
    index.numbers.set(call, index.numbers.size + 1);
    const step = Number(/^s(\d+)\./u.exec(call.attemptId)?.[1] ?? Number.NaN);
    if (Number.isNaN(step) || call.task === WRITING) index.others.push(call);
    else index.byStep.set(step, [...(index.byStep.get(step) ?? []), call]);
  }
  return index;
}
