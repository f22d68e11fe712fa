import type { ExternalEvent } from '../../../machines/contracts/journal-entry.ts';
import type { Clock } from '../attempts/clock.ts';
import type { ActivityExecutor } from './durable-actor.ts';

/** Calls are made at once, and time passes. */
export function liveExecutor(clock: Clock, deliver: (stimulus: ExternalEvent) => void): ActivityExecutor {
  return {
    execute: (call, { port, execute: perform }) =>
      perform((event) => deliver({ type: 'call-event', call, port, event })),
    wait(timer, waitMs) {
      const id = clock.setTimeout(() => deliver({ type: 'timer', timer }), waitMs);
      return () => clock.clearTimeout(id);
    },
  };
}
