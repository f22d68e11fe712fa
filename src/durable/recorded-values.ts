import type { Codec } from './codec.ts';
import { currentStep, type Outcome } from './step-log.ts';

/**
 * Returns what `work` returns, or throws an error with its message. In a durable actor the outcome is recorded, and a replay uses it
 * instead of calling `work`: for code in actions and guards that is not a function of its arguments, such as rules that users supply. The
 * value is what a codec restores from the journal, in the first process too; `null` becomes `undefined`. For a value without a codec, throws
 * `not_durable`. Without `work`, only a recorded outcome counts. The idea is Temporal's side effect.
 */
export function recordOnce(name: string, work: (() => unknown) | undefined): unknown {
  const step = currentStep();
  if (step === null) return work?.();
  const outcome = step.recorded(name) ?? (work && outcomeOf(name, work, step.codec));
  if (outcome === undefined) return undefined;
  step.record(name, outcome);
  const value = step.codec.decode(outcome.value) ?? undefined;
  if (outcome.error !== null) throw value ?? new Error(outcome.error);
  return value;
}

function outcomeOf(name: string, work: () => unknown, { encode }: Codec): Outcome {
  let returned: unknown;
  try {
    returned = work() ?? null;
  } catch (error) {
    return { value: null, error: messageOf(error) };
  }
  try {
    return { value: encode(returned, `value of "${name}"`), error: null };
  } catch (problem) {
    return { value: encode(problem, 'error'), error: messageOf(problem) };
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
