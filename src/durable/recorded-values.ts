import { type Codec, type Json, TAGGED_NULL } from './codec.ts';
import { currentStep, type Outcome } from './step-log.ts';

/**
 * Returns what `work` returns, or throws what it throws. In a durable actor the outcome is recorded, and a replay uses it instead of calling
 * `work`: for code in actions and guards that is not a function of its arguments, such as rules that users supply. The value is what a codec
 * restores from the journal, in the first process too. For a value without a codec, throws `not_durable`. Without `work`, only a recorded
 * outcome counts. The idea is Temporal's side effect.
 */
export function recordOnce(name: string, work: (() => unknown) | undefined): unknown {
  const step = currentStep();
  if (step === null) return work?.();
  const outcome = step.recorded(name) ?? (work && outcomeOf(name, work, step.codec));
  if (outcome === undefined) return undefined;
  step.record(name, outcome);
  const value = outcome.value === null ? undefined : step.codec.decode(outcome.value);
  if (outcome.error !== null) throw value ?? new Error(outcome.error);
  return value;
}

function outcomeOf(name: string, work: () => unknown, { encode }: Codec): Outcome {
  let returned: unknown;
  try {
    returned = work();
  } catch (error) {
    return { value: thrownValue(error, encode), error: messageOf(error) };
  }
  // Journals have `null` for `undefined`.
  if (returned === undefined || returned === null)
    return { value: returned === null ? TAGGED_NULL : null, error: null };
  try {
    return { value: encode(returned, `value of "${name}"`), error: null };
  } catch (problem) {
    return { value: encode(problem, 'error'), error: messageOf(problem) };
  }
}

/** Returns null for what cannot be stored: an error with its message is thrown instead. */
function thrownValue(thrown: unknown, encode: Codec['encode']): Json {
  try {
    return encode(thrown, 'error', 'thrown');
  } catch {
    return null;
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
