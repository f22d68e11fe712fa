import type { DurableTime } from './durable-time.ts';
import type { Host, Pending } from './host.ts';

interface Sleep {
  readonly dueMs: number;
  readonly pending: Pending;
}

/**
 * All timers of a run on few sleeps. Charts set a deadline for everything they do, and nearly always take it back; a sleep of the host
 * cannot be taken back. So there is one only for the timer that is due next, and one that was made for a timer taken back serves a
 * later one: it ends early, and the next is slept for.
 */
export function createAlarm(host: Pick<Host, 'sleep'>, time: DurableTime) {
  const dueMsOf = new Map<number, number>();
  /** The soonest first. */
  let sleeps: readonly Sleep[] = [];

  return {
    wait(timer: number, waitMs: number): () => void {
      dueMsOf.set(timer, time.nowMs + waitMs);
      return () => void dueMsOf.delete(timer);
    },
    /** What ends when the next timer is due, or before; none where no timer is set. */
    pending(): readonly Pending[] {
      if (dueMsOf.size === 0) return [];
      const nextMs = Math.min(...dueMsOf.values());
      sleeps = sleeps.filter(({ dueMs }) => dueMs > time.nowMs);
      const [soonest] = sleeps;
      if (soonest !== undefined && soonest.dueMs <= nextMs) return [soonest.pending];
      const pending = host.sleep(Math.max(0, Math.ceil(nextMs - time.nowMs)));
      sleeps = [{ dueMs: nextMs, pending }, ...sleeps];
      return [pending];
    },
    /** The sleep is over. Gives the timers that are due, in the order in which they are. */
    ring(): readonly number[] {
      const [soonest, ...later] = sleeps;
      sleeps = later;
      if (soonest !== undefined) time.reach(soonest.dueMs);
      const due = [...dueMsOf].filter(([, dueMs]) => dueMs <= time.nowMs);
      due.sort(([one, oneMs], [other, otherMs]) => oneMs - otherMs || one - other);
      return due.map(([timer]) => timer);
    },
    /** The timer fires; false where it was taken back since. */
    take: (timer: number): boolean => dueMsOf.delete(timer),
  };
}
