import { CancelledError, RestatePromise, type WorkflowContext } from '@restatedev/restate-sdk';
import type { Host, Outcome } from './host.ts';
import { promiseName } from './sent-events.ts';

/**
 * A workflow of Restate as the host of a run. The order of what comes is the order of Restate's own journal: so nothing here is awaited
 * but by the SDK's combinators, never by `then` or `Promise.race`.
 */
export function restateHost(ctx: WorkflowContext): Host {
  return {
    step: (name, act) => ctx.run(name, act),
    sleep: (ms) => ctx.sleep(ms).map((): Outcome => ({ type: 'slept' })),
    sent: (number) => ctx.promise<Outcome>(promiseName(number)).get(),
    async first(pending) {
      try {
        return await RestatePromise.race(pending as readonly RestatePromise<Outcome>[]);
      } catch (error) {
        if (error instanceof CancelledError) return { type: 'interrupted' };
        throw error;
      }
    },
  };
}
