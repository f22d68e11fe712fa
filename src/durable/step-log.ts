import type { AnyTransitionDefinition } from 'xstate';
import type { Codec, Json } from './codec.ts';

/** A guard that was evaluated for a transition. */
export interface EvaluatedGuard {
  readonly transition: AnyTransitionDefinition;
  readonly holds: boolean;
  /** The inputs of the guards that gave some, by name, or of the only one. */
  readonly inputs: unknown;
}

/**
 * What code outside the machine returned or threw: `error` is the message. If what it returned cannot be stored, `value` is the error that
 * names it.
 */
export interface Outcome {
  readonly value: Json;
  readonly error: string | null;
}

/** What the custom code of a step reports to its actor system. */
export interface StepLog {
  evaluated: EvaluatedGuard[];
  /** Inputs of the named guards evaluated since the last transition's guard began. */
  inputs: [string, unknown][];
  readonly codec: Codec;
  /** The outcome of `recordOnce` in the journal, if this is a replay. */
  readonly recorded: (name: string) => Outcome | undefined;
  readonly record: (name: string, outcome: Outcome) => void;
}

let current: StepLog | null = null;

/** The log of the step in progress; null outside of steps. Guards and actions do not know their system, and steps are synchronous. */
export const currentStep = (): StepLog | null => current;

/** Executes `act` within the step of a log; with null, outside of any step. */
export function inStep<Result>(log: StepLog | null, act: () => Result): Result {
  const outer = current;
  current = log;
  try {
    return act();
  } finally {
    current = outer;
  }
}
