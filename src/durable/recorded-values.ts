import type { Json } from './codec.ts';
import { currentStep, type Outcome } from './step-log.ts';

/**
 * Returns what `work` returns, or throws an error with its message. In a durable actor the outcome is recorded, and a replay uses it
 * instead of calling `work`: for code in actions and guards that is not a function of its arguments, such as rules that users supply. The
 * value must be JSON. Without `work`, only a recorded outcome counts. The idea is Temporal's side effect.
 */
export function recordOnce(name: string, work: (() => unknown) | undefined): unknown {
  const step = currentStep();
  if (step === null) return work?.();
  const outcome = step.recorded(name) ?? (work && outcomeOf(work));
  if (outcome === undefined) return undefined;
  step.record(name, outcome);
  if (outcome.error !== null) throw new Error(outcome.error);
  return outcome.value ?? undefined;
}

function outcomeOf(work: () => unknown): Outcome {
  try {
    return { value: (work() ?? null) as Json, error: null };
  } catch (error) {
    return { value: null, error: error instanceof Error ? error.message : String(error) };
  }
}
