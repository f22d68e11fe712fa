import { setTimeout as sleep } from 'node:timers/promises';
import type { RunList } from '../runs.ts';
import type { InspectedActor } from './actor-actions.ts';

/** The longest wait for a timer. */
const MAX_WAIT_MS = 60_000;
const PAUSE_MS = 1_000;
/** How many timers of an actor may fire after one action. */
const MAX_TIMERS = 1_000;

/** Continues actors after an action of a page. */
export interface ActorContinuer {
  /** Fires the timers of an actor until it has ended or its next one is due in more than a minute. Does not wait for that, and never throws. */
  start(actor: InspectedActor): void;
  /** Resolves when it holds no actor. */
  stop(): Promise<void>;
}

export function actorContinuer(runs: RunList): ActorContinuer {
  const ending = new AbortController();
  const { signal } = ending;
  const running = new Map<string, Promise<void>>();

  async function fireTimers({ id, host }: InspectedActor): Promise<void> {
    for (let fired = 0; fired < MAX_TIMERS; ) {
      // Calls of the last step may still run.
      if (host.isOpen(id)) await host.advance(id, { signal });
      await runs.refresh([id]);
      const { waiting } = (await runs.find(id))?.info() ?? {};
      const waitMs = (waiting?.dueAtMs ?? Number.POSITIVE_INFINITY) - Date.now();
      if (waitMs > MAX_WAIT_MS || signal.aborted) return;
      // Another action may start an earlier timer meanwhile.
      if (waitMs > 0) await sleep(Math.min(waitMs, PAUSE_MS), undefined, { signal, ref: false });
      else await host.advance(id, { signal });
      fired += waitMs > 0 ? 0 : 1;
    }
  }

  return {
    start(actor) {
      const { id } = actor;
      if (running.has(id) || signal.aborted) return;
      // The head of the actor shows that a timer is due, and why it cannot be continued here.
      const fired = fireTimers(actor).catch(() => {});
      running.set(
        id,
        fired.finally(() => running.delete(id)),
      );
    },
    async stop() {
      ending.abort();
      await Promise.all(running.values());
    },
  };
}
