import type { Timer } from '../../durable/actor-system.ts';
import type { Cluster, PendingOutcome } from './cluster.ts';

/** A cluster need not support longer sleeps: another one follows. */
const MAX_SLEEP_MS = 365 * 24 * 60 * 60 * 1_000;

interface Sleep {
  readonly dueMs: number;
  readonly pending: PendingOutcome;
}

/**
 * Maps all timers of a run to a few sleeps. Charts set a deadline for nearly everything and usually cancel it, but a cluster's sleep cannot be
 * canceled. So only the next due timer has a sleep, and the sleep of a canceled timer is reused for a later one: it ends early, and another
 * sleep follows.
 */
export function createTimers(
  cluster: Pick<Cluster, 'sleep'>,
  timersNow: () => ReadonlyMap<number, Pick<Timer, 'number' | 'dueMs'>>,
) {
  /** In the order in which they end. */
  let sleeps: readonly Sleep[] = [];

  return {
    /** Returns a sleep that ends when the next timer is due, or earlier; none if no timer is set. */
    pending(nowMs: number): readonly PendingOutcome[] {
      const timers = timersNow();
      if (timers.size === 0) return [];
      const nextMs = Math.min(...[...timers.values()].map(({ dueMs }) => dueMs));
      sleeps = sleeps.filter(({ dueMs }) => dueMs > nowMs);
      const [soonest] = sleeps;
      if (soonest !== undefined && soonest.dueMs <= nextMs) return [soonest.pending];
      const dueMs = Math.ceil(Math.min(nextMs, nowMs + MAX_SLEEP_MS));
      const pending = cluster.sleep(dueMs);
      sleeps = [{ dueMs, pending }, ...sleeps];
      return [pending];
    },
    /** Ends the first sleep and returns its time. */
    endSleep(): number {
      const [soonest, ...later] = sleeps;
      sleeps = later;
      return soonest?.dueMs ?? 0;
    },
    /** Returns these timers in the order in which they are due. One may cancel a later one. */
    due(isDue: (dueMs: number) => boolean): readonly number[] {
      const due = [...timersNow().values()].filter(({ dueMs }) => isDue(dueMs));
      due.sort((one, other) => one.dueMs - other.dueMs);
      return due.map(({ number }) => number);
    },
  };
}
