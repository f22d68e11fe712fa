import { type AnyActorRef, fromPromise, type PromiseActorLogic } from 'xstate';
import type { CallError } from '../../machines/contracts/events.ts';
import { unexpectedFailure } from '../../machines/policies/failures.ts';

export interface ActivityArgs<Input> {
  readonly input: Input;
  /** Aborts when the chart no longer waits for the result. */
  readonly signal: AbortSignal;
  readonly self: AnyActorRef;
}

/**
 * Returns actor logic for a call with one result. A rejection is reduced to what a journal keeps, because calls run user code and anything
 * may be thrown.
 */
export function promiseActivity<Output, Input>(
  work: (args: ActivityArgs<Input>) => Promise<Output>,
): PromiseActorLogic<Output, Input> {
  return fromPromise<Output, Input>(async ({ input, signal, self }) => {
    try {
      return await unlessAborted(signal, await work({ input, signal, self: self as AnyActorRef }));
    } catch (error) {
      return await unlessAborted(signal, Promise.reject(Object.assign(new Error(), activityError(error))));
    }
  });
}

/** A stopped actor can be started again, as React's StrictMode does: the result of its aborted work is not that of the new work. */
function unlessAborted<Value>(signal: AbortSignal, value: Value | Promise<Value>): Value | Promise<Value> {
  if (!signal.aborted) return value;
  if (value instanceof Promise) value.catch(() => {});
  return new Promise(() => {});
}

/** Returns the part of an error that a journal keeps and a chart reads. */
function activityError(thrown: unknown): CallError {
  const { message } = unexpectedFailure(thrown);
  try {
    const { name, code, status, retryAfterMs } = Object(thrown) as Record<string, unknown>;
    return {
      name: typeof name === 'string' ? name : 'Error',
      message,
      ...(typeof code === 'string' && { code }),
      ...(typeof status === 'number' && { status }),
      ...(typeof retryAfterMs === 'number' && Number.isFinite(retryAfterMs) && { retryAfterMs }),
    };
  } catch {
    return { name: 'Error', message };
  }
}

/** Finds the surroundings of a call by its actor. */
export type ScopeOf<Scope> = (self: AnyActorRef) => Scope;
