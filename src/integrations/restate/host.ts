import type { CallEvent, ChainEvent } from '../../../machines/contracts/events.ts';
import type { RuntimeEvent } from '../../../machines/contracts/journal.ts';

/** What came of a call: all of it, once. `atMs` is when it ended, milliseconds since the epoch. */
export interface CallOutcome {
  readonly type: 'call';
  readonly call: number;
  readonly events: readonly CallEvent[];
  /** What it told beside its answer. */
  readonly notes: readonly RuntimeEvent[];
  readonly atMs: number;
}

/** Somebody told the run something. `id` tells it from what is sent twice. */
export interface SentOutcome {
  readonly type: 'sent';
  readonly id: string;
  readonly event: ChainEvent;
  readonly atMs: number;
}

/** `interrupted`: the host itself wants the run to end. */
export type Outcome = CallOutcome | SentOutcome | { readonly type: 'slept' } | { readonly type: 'interrupted' };

/** What will come, on this process or on the one that goes on after it: the same outcome on each. JSON. */
export type Pending<Result extends Outcome = Outcome> = PromiseLike<Result>;

/**
 * What a run on a cluster stands on: whatever it asks of this is asked again, in the same order, when the run is played anew, and
 * gives the same again. So `act` is done once, and once more only where its process ended before it did.
 */
export interface Host {
  step(name: string, act: () => Promise<CallOutcome>): Pending;
  sleep(ms: number): Pending;
  /** The event of this number, from 0, that somebody sends. */
  sent(number: number): Pending;
  /** The outcome that came first: the same one on each process. */
  first(pending: readonly Pending[]): Promise<Outcome>;
}
