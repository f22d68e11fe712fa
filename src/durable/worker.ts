import { PostChainError } from '../../machines/contracts/error.ts';
import { nextTurn } from '../internal/async.ts';
import { describeValue } from '../internal/describe-value.ts';
import { type Clock, systemClock } from './clock.ts';
import type { DueActor } from './durable-machine.ts';
import { isRaceLost } from './error.ts';
import { FULL_LIST } from './journals/journal-store.ts';
import { requireKnown } from './known-options.ts';

/** A durable machine or a chain, whose actors or runs a worker continues. */
export interface WorkerHost {
  due(): Promise<readonly DueActor[]>;
  /** Calls `onDue` when there may be more of them, so that they need not wait for the next poll. Returns a function that stops it. */
  watch?(onDue: () => void): () => void;
  /**
   * Continues an actor until it only waits, has ended, or the signal aborts. Calls `onOpen` once it holds the actor, before continuing it,
   * unless the actor has already ended.
   */
  advance(id: string, options: { readonly signal: AbortSignal; readonly onOpen: () => void }): Promise<void>;
  /** Takes actors that may begin out of the queue of the host, at most this many, and returns their ids. */
  claim?(count: number): Promise<readonly string[]>;
  /** Records that workers no longer continue an actor. */
  quarantine(id: string, reason: string): Promise<void>;
}

export interface WorkerOptions {
  /** Durable machines, and chains with `journals`. */
  readonly hosts: readonly WorkerHost[];
  /** How many actors it continues at a time; by default 10. */
  readonly concurrency?: number;
  /** How often it looks for work, in milliseconds; by default 5,000. */
  readonly pollMs?: number;
  /**
   * An actor is quarantined, until its host releases it, after this many processes in a row died while they continued it, before anything
   * happened; by default 3.
   */
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
  /** Looks for work at once. Resolves when each actor that it found only waits, has ended or has failed. */
  poll(): Promise<void>;
  /** Stops looking for work, and closes the actors that it continues, so that any process can open them. */
  stop(): Promise<void>;
}

/** The longest wait after an actor could not be continued. */
const MAX_BACKOFF_MS = 3_600_000;

interface Trouble {
  failures: number;
  restsUntilMs: number;
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
  return new PollingWorker(options);
}

/** A host, and those of its due actors that have not had their turn. */
interface Lane {
  readonly host: WorkerHost;
  /** Actors of two hosts may have the same id. */
  readonly keyOf: (id: string) => string;
  /** The actors that could not be continued, by id. */
  readonly troubles: Map<string, Trouble>;
  /** The next one is at the end. */
  due: DueActor[];
  listAtMs: number;
}

class PollingWorker implements Worker {
  readonly #lanes: readonly Lane[];
  readonly #clock: Clock;
  readonly #onEvent: (event: WorkerEvent) => void;
  readonly #limits: Required<Pick<WorkerOptions, 'concurrency' | 'pollMs' | 'maxCrashes' | 'backoffMs'>>;
  readonly #running = new Map<string, Promise<void>>();
  readonly #ending = new AbortController();
  #timer: unknown;
  #polling: Promise<void> | null = null;
  /** One for each slot in use: settles when its actor is closed and, if queued actors may begin, these have begun. */
  readonly #begins = new Set<Promise<void>>();
  /** The slots of actors that are being taken out of a queue. */
  #claiming = 0;
  /** Whether the poll in progress may miss what becomes due now. */
  #hasLooked = false;
  /** Whether due actors get the slots that become free; otherwise those in queues do. */
  #isWorking = false;
  /** How often queues had their turn. */
  #turns = 0;
  /** Whether something may have become due since the poll in progress began. */
  #isLate = false;
  readonly #stopWatching: readonly (() => void)[];

  constructor(options: WorkerOptions) {
    requireKnown('createWorker', options);
    const { hosts, clock = systemClock, onEvent = () => {} } = options;
    const { concurrency = 10, pollMs = 5_000, maxCrashes = 3, backoffMs = 1_000 } = options;
    this.#limits = { concurrency, pollMs, maxCrashes, backoffMs };
    for (const [name, value] of Object.entries(this.#limits))
      if (typeof value !== 'number' || !(value >= 1))
        throw new PostChainError('invalid_option', `${name}: expected at least 1; received ${describeValue(value)}.`);
    const isHost = (host: unknown): boolean => typeof (host as WorkerHost | null)?.due === 'function';
    if (!Array.isArray(hosts) || hosts.length === 0 || !hosts.every(isHost)) {
      const message = `hosts: expected a list of durable machines and chains; received ${describeValue(hosts)}.`;
      throw new PostChainError('invalid_option', message);
    }
    this.#lanes = hosts.map((host, number) => ({
      host,
      keyOf: (id) => `${number} ${id}`,
      troubles: new Map(),
      due: [],
      listAtMs: Number.NEGATIVE_INFINITY,
    }));
    this.#clock = clock;
    this.#onEvent = onEvent;
    this.#stopWatching = hosts.map((host) => host.watch?.(() => this.#pollAgain()) ?? (() => {}));
    void this.#poll();
  }

  async poll(): Promise<void> {
    const earlier = this.#polling;
    if (this.#hasLooked) this.#pollAgain();
    else void this.#poll();
    await earlier;
    await this.#polling;
    while (this.#begins.size > 0) await Promise.all(this.#begins);
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    for (const stop of this.#stopWatching) stop();
    this.#clock.clearTimeout(this.#timer);
    await this.#polling;
    while (this.#begins.size > 0) await Promise.all(this.#begins);
  }

  #isReady({ keyOf, troubles }: Lane, id: string): boolean {
    return !this.#running.has(keyOf(id)) && (troubles.get(id)?.restsUntilMs ?? 0) <= this.#clock.now();
  }

  /** Continues an actor. One that ends its process again and again is quarantined. */
  async #advance({ host, troubles }: Lane, { id, crashes }: DueActor): Promise<void> {
    let isOpen = false;
    const onOpen = (): void => {
      isOpen = true;
      this.#onEvent({ type: 'continued', id });
    };
    try {
      if (crashes >= this.#limits.maxCrashes) {
        const reason = `${crashes} processes in a row ended while they continued it`;
        await host.quarantine(id, reason);
        return this.#onEvent({ type: 'quarantined', id, reason });
      }
      await host.advance(id, { signal: this.#ending.signal, onOpen });
      if (isOpen) troubles.delete(id);
      this.#onEvent({ type: isOpen ? 'idle' : 'skipped', id });
    } catch (error) {
      if (isRaceLost(error)) return this.#onEvent({ type: 'skipped', id });
      const trouble = troubles.get(id) ?? { failures: 0, restsUntilMs: 0 };
      troubles.set(id, trouble);
      trouble.restsUntilMs =
        this.#clock.now() + Math.min(MAX_BACKOFF_MS, this.#limits.backoffMs * 2 ** trouble.failures);
      trouble.failures += 1;
      this.#onEvent({ type: 'failed', id, error });
    }
  }

  async #listed<Item>(list: () => Promise<readonly Item[]>): Promise<readonly Item[]> {
    try {
      return await list();
    } catch (error) {
      this.#onEvent({ type: 'unlisted', error });
      return [];
    }
  }

  #run(lane: Lane, actor: DueActor): void {
    const key = lane.keyOf(actor.id);
    const advanced = this.#advance(lane, actor).finally(() => this.#running.delete(key));
    this.#running.set(key, advanced);
    const begun = advanced
      .then(() => (this.#isWorking ? undefined : this.#beginAll()))
      .finally(() => this.#begins.delete(begun));
    this.#begins.add(begun);
  }

  /** Queues take turns, so that a long one does not delay the others. */
  async #beginAll(most?: number): Promise<void> {
    this.#turns += 1;
    for (let turn = 0; turn < this.#lanes.length; turn += 1) {
      const lane = this.#lanes[(this.#turns + turn) % this.#lanes.length];
      if (lane === undefined || (this.#isWorking && most === undefined)) return;
      await this.#begin(lane, most);
    }
  }

  /** Begins actors from the queue of a host if there are free slots. */
  async #begin(lane: Lane, most = Number.POSITIVE_INFINITY): Promise<void> {
    const { host } = lane;
    if (host.claim === undefined || this.#ending.signal.aborted) return;
    const count = Math.min(most, Math.floor(this.#limits.concurrency) - this.#running.size - this.#claiming);
    if (count < 1) return;
    this.#claiming += count;
    const ids = await this.#listed(async () => (await host.claim?.(count)) ?? []);
    this.#claiming -= count;
    // What it has taken is due, and another worker continues it.
    if (this.#ending.signal.aborted) return;
    for (const id of ids) this.#run(lane, { id, crashes: 0 });
  }

  /** Waits until another actor may be continued. */
  async #freeSlot(): Promise<void> {
    while (this.#running.size + this.#claiming >= this.#limits.concurrency) await Promise.race(this.#begins);
  }

  async #work(): Promise<void> {
    await Promise.resolve();
    this.#hasLooked = true;
    for (const lane of this.#lanes) lane.listAtMs = Number.NEGATIVE_INFINITY;
    await this.#beginAll();
    this.#isWorking = true;
    await this.#continueDue().finally(() => {
      this.#isWorking = false;
    });
    await this.#beginAll();
  }

  /** Hosts and queues take turns, so that one with many actors does not delay the others. */
  async #continueDue(): Promise<void> {
    for (;;) {
      let isDone = true;
      for (const lane of this.#lanes) {
        await this.#freeSlot();
        const actor = await this.#next(lane);
        if (this.#ending.signal.aborted) return;
        if (actor === null) continue;
        isDone = false;
        this.#run(lane, actor);
        // If the store never yields to the event loop, other work of the process would wait for all of them.
        await nextTurn();
      }
      if (isDone) return;
      await this.#freeSlot();
      await this.#beginAll(1);
    }
  }

  /** Returns the next due actor of a host. Lists again if the last list was full, or if it is old; null if nothing is left to do. */
  async #next(lane: Lane): Promise<DueActor | null> {
    for (;;) {
      for (let actor = lane.due.pop(); actor !== undefined; actor = lane.due.pop())
        if (this.#isReady(lane, actor.id)) return actor;
      if (this.#clock.now() < lane.listAtMs) return null;
      const listed = await this.#listed(() => lane.host.due());
      const isFull = listed.length >= FULL_LIST && listed.some(({ id }) => this.#isReady(lane, id));
      lane.listAtMs = isFull ? Number.NEGATIVE_INFINITY : this.#clock.now() + this.#limits.pollMs;
      lane.due = listed.toReversed();
      if (listed.length < FULL_LIST) this.#forgetTroubles(lane);
    }
  }

  /** Clears the backoff of actors that are no longer due: they have ended, or another process has continued them. */
  #forgetTroubles(lane: Lane): void {
    const due = new Set(lane.due.map(({ id }) => id));
    for (const id of lane.troubles.keys()) if (!due.has(id) && this.#isReady(lane, id)) lane.troubles.delete(id);
  }

  #pollAgain(): void {
    this.#isLate = this.#polling !== null;
    void this.#poll();
  }

  #poll(): Promise<void> {
    if (this.#ending.signal.aborted) return Promise.resolve();
    this.#clock.clearTimeout(this.#timer);
    this.#polling ??= this.#work().finally(() => {
      this.#polling = null;
      this.#hasLooked = false;
      const isLate = this.#isLate;
      this.#isLate = false;
      if (isLate) void this.#poll();
      else if (!this.#ending.signal.aborted)
        this.#timer = this.#clock.setTimeout(() => void this.#poll(), this.#limits.pollMs);
    });
    return this.#polling;
  }
}
