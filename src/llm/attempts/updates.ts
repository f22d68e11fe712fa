import type { AttemptExecution } from '../../../machines/contracts/attempt.ts';
import type { Failure } from '../../../machines/contracts/failure.ts';

/**
 * What happens to a value in progress. `execution` is the immutable state of all attempts at that moment: a new one with every
 * `reset`, which ends an attempt and begins the next, and with the `value`. Partials share the latest one. `attempt` counts from 1.
 *
 * - `partial`: the value received so far, not yet validated. It is a live, read-only view that grows: read it, do not keep it.
 * - `reset`: the attempt failed and all its partials are void. `retryInMs` is the wait before the next attempt, or null if there is none.
 * - `value`: the validated value; the last update.
 */
export type StructuredUpdate<Input = unknown, Output = Input> =
  | {
      readonly type: 'partial';
      readonly attempt: number;
      readonly value: DeepPartial<Input>;
      readonly execution: AttemptExecution;
    }
  | ResetUpdate
  | {
      readonly type: 'value';
      readonly attempt: number;
      readonly value: Output;
      readonly execution: AttemptExecution;
    };

export interface ResetUpdate {
  readonly type: 'reset';
  readonly attempt: number;
  readonly failure: Failure;
  readonly retryInMs: number | null;
  readonly execution: AttemptExecution;
}

/** A complete, validated item of an array, or a reset: all items of an attempt are void. Items come in order; `index` counts from 0. */
export type ElementUpdate<Item = unknown> =
  | { readonly type: 'element'; readonly attempt: number; readonly index: number; readonly value: Item }
  | ResetUpdate;

/**
 * A value received so far: every part may still be missing, and a string may be cut off, even one of an enum. A live, read-only view.
 */
export type DeepPartial<T> = T extends string
  ? string
  : T extends readonly (infer Item)[]
    ? readonly DeepPartial<Item>[]
    : T extends object
      ? { readonly [K in keyof T]?: DeepPartial<T[K]> }
      : T;
