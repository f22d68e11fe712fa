import { nextTurn } from '../internal/async.ts';
import { describeValue } from '../internal/describe-value.ts';
import { type Clock, systemClock } from './clock.ts';
import type { DueActor } from './durable-machine.ts';
import { isRaceLost, PostChainError } from './error.ts';
import { requireKnown } from './known-options.ts';

/** A durable machine or a chain, whose actors or runs a worker continues. */
export interface WorkerHost {
  due(): Promise<readonly DueActor[]>;
  /**
   * Continues an actor until it only waits, has ended, or the signal aborts. Calls `onOpen` once it holds the actor, before continuing it,
   * unless the actor has already ended.
   */
  advance(id: string, options: { readonly signal: AbortSignal; readonly onOpen: () => void }): Promise<void>;
}

export interface WorkerOptions {
  /** Durable machines, and chains with `journals`. */
  readonly hosts: readonly WorkerHost[];
  /** How many actors it continues at a time; by default 10. */
  readonly concurrency?: number;
  /** How often it looks for work, in milliseconds; by default 5,000. */
  readonly pollMs?: number;
  /** An actor is quarantined after this many processes in a row died while they continued it, before anything happened; by default 3. */
  readonly maxCrashes?: number;
  /** The wait after an actor could not be continued, in milliseconds; by default 1,000. Doubles with each failure, up to an hour. */
  readonly backoffMs?: number;
  readonly clock?: Clock;
  /** Receives the events of the worker. Must not throw. */
  readonly onEvent?: (event: WorkerEvent) => void;
}

/**
 * `id` is that of an actor or a run. `idle`: it only waits or has ended, and any process may open it. `skipped`: another process, or this
 * program itself, continues it, or has ended or deleted it.
 */
export type WorkerEvent =
  | { readonly type: 'continued' | 'idle' | 'skipped'; readonly id: string }
  | { readonly type: 'failed'; readonly id: string; readonly error: unknown }
  | { readonly type: 'quarantined'; readonly id: string; readonly reason: string }
  /** The store of a host could not be listed. */
  | { readonly type: 'unlisted'; readonly error: unknown };

/** Continues the interrupted and due actors of stores. */
export interface Worker {
  /** Actors that it no longer continues, with the reason. */
  readonly quarantined: readonly { readonly id: string; readonly reason: string }[];
  /** Lets it continue an actor that was quarantined. Returns whether there was one. */
  release(id: string): boolean;
  /** Looks for work at once. Resolves when each actor that it found only waits, has ended or has failed. */
  poll(): Promise<void>;
  /** Stops looking for work, and closes the actors that it continues, so that any process can open them. */
  stop(): Promise<void>;
}

/** The longest wait after an actor could not be continued. */
const MAX_BACKOFF_MS = 3_600_000;

interface Trouble {
  readonly id: string;
  failures: number;
  restsUntilMs: number;
  /** How many processes it had ended when it was last quarantined. */
  crashes: number;
  /** Why it is quarantined. */
  reason: string | null;
}

/**
 * Starts a worker, which continues actors that were interrupted or have a due delay, until they only wait again. Skips actors that another
 * process holds. Throws `invalid_option`.
 *
 * @example
 * const worker = createWorker({ hosts: [orders, chain] });
 * process.once('SIGTERM', () => worker.stop());
 */
export function createWorker(options: WorkerOptions): Worker {
  requireKnown('createWorker', options);
  const { concurrency = 10, pollMs = 5_000, maxCrashes = 3, backoffMs = 1_000 } = options;
  for (const [name, value] of Object.entries({ concurrency, pollMs, maxCrashes, backoffMs }))
    if (typeof value !== 'number' || !(value >= 1))
      throw new PostChainError('invalid_option', `${name}: expected at least 1; received ${describeValue(value)}.`);
  const { hosts, clock = systemClock, onEvent = () => {} } = options;
  const isHost = (host: unknown): boolean => typeof (host as WorkerHost | null)?.due === 'function';
  if (!Array.isArray(hosts) || hosts.length === 0 || !hosts.every(isHost)) {
    const message = `hosts: expected a list of durable machines and chains; received ${describeValue(hosts)}.`;
    throw new PostChainError('invalid_option', message);
  }
  const troubles = new Map<string, Trouble>();
  const running = new Map<string, Promise<void>>();
  const ending = new AbortController();
  let timer: unknown;
  let polling: Promise<void> | null = null;

  function troubleOf(key: string, id: string): Trouble {
    const known = troubles.get(key) ?? { id, failures: 0, restsUntilMs: 0, crashes: 0, reason: null };
    troubles.set(key, known);
    return known;
  }

  /** Whether an actor may be continued now. One that ends its process again and again is quarantined. */
  function isReady(key: string, { id, crashes }: DueActor): boolean {
    const trouble = troubles.get(key);
    if (running.has(key) || (trouble && (trouble.reason !== null || trouble.restsUntilMs > clock.now()))) return false;
    if (crashes - (trouble?.crashes ?? 0) < maxCrashes) return true;
    const reason = `${crashes} processes in a row ended while they continued it`;
    Object.assign(troubleOf(key, id), { crashes, reason });
    onEvent({ type: 'quarantined', id, reason });
    return false;
  }

  async function advance(host: WorkerHost, key: string, id: string): Promise<void> {
    let isOpen = false;
    const onOpen = (): void => {
      isOpen = true;
      onEvent({ type: 'continued', id });
    };
    try {
      await host.advance(id, { signal: ending.signal, onOpen });
      if (isOpen) troubles.delete(key);
      onEvent({ type: isOpen ? 'idle' : 'skipped', id });
    } catch (error) {
      if (isRaceLost(error)) return onEvent({ type: 'skipped', id });
      const trouble = troubleOf(key, id);
      trouble.restsUntilMs = clock.now() + Math.min(MAX_BACKOFF_MS, backoffMs * 2 ** trouble.failures);
      trouble.failures += 1;
      onEvent({ type: 'failed', id, error });
    }
  }

  async function work(): Promise<void> {
    for (const [number, host] of hosts.entries()) {
      const listed = Promise.resolve().then(() => host.due());
      const due = await listed.catch((error: unknown) => {
        onEvent({ type: 'unlisted', error });
        return [];
      });
      for (const actor of due) {
        while (running.size >= concurrency) await Promise.race(running.values());
        if (ending.signal.aborted) return;
        // Actors of two hosts may have the same id.
        const key = `${number} ${actor.id}`;
        if (!isReady(key, actor)) continue;
        const advanced = advance(host, key, actor.id).finally(() => running.delete(key));
        running.set(key, advanced);
        // If the store never yields to the event loop, other work of the process would wait for all of them.
        await nextTurn();
      }
    }
  }

  function poll(): Promise<void> {
    if (ending.signal.aborted) return Promise.resolve();
    clock.clearTimeout(timer);
    polling ??= work().finally(() => {
      polling = null;
      if (!ending.signal.aborted) timer = clock.setTimeout(() => void poll(), pollMs);
    });
    return polling;
  }

  void poll();
  return {
    get quarantined() {
      return [...troubles.values()].flatMap(({ id, reason }) => (reason === null ? [] : [{ id, reason }]));
    },
    release(id) {
      const found = [...troubles.values()].filter((trouble) => trouble.id === id && trouble.reason !== null);
      for (const trouble of found) trouble.reason = null;
      return found.length > 0;
    },
    async poll() {
      await poll();
      await Promise.all(running.values());
    },
    async stop() {
      ending.abort();
      clock.clearTimeout(timer);
      await polling;
      await Promise.all(running.values());
    },
  };
}
