import type { Json } from '../../durable/codec.ts';
import type { DurableEvent, ExternalEvent } from '../../durable/entries.ts';

/**
 * The operations of a cluster that a run uses. After a crash, the run makes the same requests in the same order and gets the same results, so
 * `act` runs again only if its process died before it finished.
 */
export interface Cluster {
  run(name: string, act: () => Promise<CallOutcome>): PendingOutcome;
  /** Ends at this time, in milliseconds since the epoch. Each process requests the same time. */
  sleep(untilMs: number): PendingOutcome;
  /** The user event with this number, from 0. */
  sent(number: number): PendingOutcome;
  /** Resolves to the outcome that came first: the same one in each process. */
  first(pending: readonly PendingOutcome[]): Promise<ClusterOutcome>;
  /** Whether an earlier process has made the next request. */
  isKnown(): boolean;
}

/** A future outcome: the same in this process and in one that takes over. JSON. */
export type PendingOutcome = PromiseLike<ClusterOutcome>;

/** `interrupted`: the cluster ends the run. */
export type ClusterOutcome = CallOutcome | SentOutcome | SleptOutcome | { readonly type: 'interrupted' };

/** `atMs`: when a process noticed the end, which may be long after it. */
interface SleptOutcome {
  readonly type: 'slept';
  readonly atMs: number;
}

/** The reports of a call or an effect since its last outcome, in order. */
export interface CallOutcome {
  readonly type: 'call';
  readonly call: string;
  readonly reports: readonly Report[];
  /** Whether it is an effect that has ended. */
  readonly isEnded: boolean;
  /** When it was recorded, in milliseconds since the epoch. */
  readonly atMs: number;
}

export type RecordedValue = Extract<DurableEvent, { type: 'value' }>;
export type Report = ExternalEvent | RecordedValue | Extract<DurableEvent, { type: 'note' }>;

/** A user event. Only the first with an `id` counts. */
export interface SentOutcome {
  readonly type: 'sent';
  readonly id?: string;
  readonly event: Json;
  readonly atMs: number;
}
