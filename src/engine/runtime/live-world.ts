import type { Stimulus } from '../../../machines/contracts/journal-entry.ts';
import type { Clock } from '../attempts/clock.ts';
import type { World } from './stage.ts';

/** Calls are made at once, and time passes. */
export function liveWorld(clock: Clock, deliver: (stimulus: Stimulus) => void): World {
  return {
    perform: (call, { port, perform }) => perform((event) => deliver({ type: 'call-event', call, port, event })),
    wait(timer, waitMs) {
      const id = clock.setTimeout(() => deliver({ type: 'timer', timer }), waitMs);
      return () => clock.clearTimeout(id);
    },
  };
}
