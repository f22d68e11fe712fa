import type { Json } from './codec.ts';
import type { DerivedEvent } from './entries.ts';

export type RecordedValue = Extract<DerivedEvent, { type: 'value' }>;

/** Records the values of a step, or supplies the recorded ones. */
export interface ValueLog {
  readonly recorded: (name: string) => RecordedValue | undefined;
  readonly record: (value: RecordedValue) => void;
}

/** The log of the step in progress. Steps are synchronous, and actions get no host. */
let current: ValueLog | null = null;

export function recordingValues<Result>(log: ValueLog, act: () => Result): Result {
  const outer = current;
  current = log;
  try {
    return act();
  } finally {
    current = outer;
  }
}

/**
 * Returns what `work` returns, or throws an error with its message. In a durable actor the outcome is recorded, and a replay uses it
 * instead of calling `work`: for code in actions and guards that is not a function of its arguments, such as rules that users supply. The
 * value must be JSON. Without `work`, only a recorded outcome counts. The idea is Temporal's side effect.
 */
export function recordOnce(name: string, work: (() => unknown) | undefined): unknown {
  if (current === null) return work?.();
  const value = current.recorded(name) ?? (work && outcomeOf(name, work));
  if (value === undefined) return undefined;
  current.record(value);
  if (value.error !== null) throw new Error(value.error);
  return value.value ?? undefined;
}

function outcomeOf(name: string, work: () => unknown): RecordedValue {
  try {
    return { type: 'value', name, value: (work() ?? null) as Json, error: null };
  } catch (error) {
    return { type: 'value', name, value: null, error: error instanceof Error ? error.message : String(error) };
  }
}
