import type { AttemptExecution } from '../../../machines/contracts/attempt.ts';
import type { Failure } from '../../../machines/contracts/failure.ts';

/**
 * What happens to a value under way. `execution` is the immutable state of all attempts at that moment, new with every finished
 * attempt; `attempt` counts from 1.
 *
 * - `partial`: the value as far as it has arrived. A live, read-only view that grows: read it, do not keep it. Not yet validated.
 * - `reset`: the attempt failed and all of its partials are void. `retryInMs` is the wait before the next; null, there is none.
 * - `value`: validated; the last update.
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

/** An item of a list, complete and validated, or that all items of an attempt are void. Items come in order; `index` is from 0. */
export type ElementUpdate<Item = unknown> =
  | { readonly type: 'element'; readonly attempt: number; readonly index: number; readonly value: Item }
  | ResetUpdate;

/**
 * A value as far as it has arrived: every part of it may still be missing, and a text may be cut, one of an enum too. A live,
 * read-only view.
 */
export type DeepPartial<T> = T extends string
  ? string
  : T extends readonly (infer Item)[]
    ? readonly DeepPartial<Item>[]
    : T extends object
      ? { readonly [K in keyof T]?: DeepPartial<T[K]> }
      : T;
