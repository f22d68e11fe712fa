import type { AttachedFile, Attachment } from '../../../machines/contracts/attachment.ts';
import type { RetryRule } from '../../../machines/contracts/journal.ts';
import { type Clock, systemClock } from '../../durable/clock.ts';
import { type ActivityDispatcher, inlineDispatcher } from '../../llm/activities.ts';
import { noopObserver, type RunObserver } from './run-events.ts';

export interface RunScope {
  readonly dispatcher: ActivityDispatcher;
  readonly observer: RunObserver;
  readonly clock: Clock;
  /** Records what a rule of the retry policy returns; by default rules are only called. */
  readonly applyRule?: ApplyRule;
  readonly fileOf?: (attachment: Attachment) => AttachedFile;
}

/**
 * Calls a rule of a retry policy, if there is one, and returns or throws what it does. In a replay, the recorded result replaces the call.
 */
export type ApplyRule = (attemptId: string, rule: RetryRule, work: (() => unknown) | undefined) => unknown;

/** Returns the scope of the run that is executing. Call it before the first `await`, because other runs may execute after it. */
export type ScopeSource = () => RunScope;

/** For code that evaluates the charts outside a run, for example `snapshot.can(event)`. */
const outsideRuns: RunScope = { dispatcher: inlineDispatcher, observer: noopObserver, clock: systemClock };

let current = outsideRuns;

/**
 * Executes `act` in the scope of a run. All runs of a chain share one machine and its actors, because `.provide` takes more time and memory
 * than anything else at the start of a run. The actors and guards find their run here.
 */
export function inScope<Result>(scope: RunScope, act: () => Result): Result {
  const outer = current;
  current = scope;
  try {
    return act();
  } finally {
    current = outer;
  }
}

export const currentScope: ScopeSource = () => current;

/** Returns a getter of a value per run, which is created on first use. */
export function oncePerRun<Value>(scope: ScopeSource, create: () => Value): () => Value {
  const values = new WeakMap<RunScope, Value>();
  return () => {
    const run = scope();
    const value = values.get(run) ?? create();
    values.set(run, value);
    return value;
  };
}

export function scopedDispatcher(scope: ScopeSource): ActivityDispatcher {
  return {
    dispatch: (activity) => scope().dispatcher.dispatch(activity),
    isRecorded: (actor) => scope().dispatcher.isRecorded?.(actor) ?? false,
  };
}
