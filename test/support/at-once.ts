import type { Steps } from '../../src/internal/async.ts';

/** Runs stepwise work to its end without a pause. */
export function atOnce<Value>(steps: Steps<Value>): Value {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
