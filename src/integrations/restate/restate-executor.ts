import { PostChainError } from '../../../machines/contracts/error.ts';
import { DurableActorSystem, type SystemOwner, type SystemParts } from '../../durable/actor-system.ts';
import type { Clock } from '../../durable/clock.ts';
import type { Json } from '../../durable/codec.ts';
import type { ActorPath, DurableEntry, DurableEvent, ExternalEvent, StartEntry } from '../../durable/entries.ts';
import { replaySystem } from '../../durable/replay.ts';
import { onAbort } from '../../internal/async.ts';
import { Calls, type OneOutcome } from './calls.ts';
import type {
  CallOutcome,
  Cluster,
  ClusterOutcome,
  PendingOutcome,
  RecordedValue,
  Report,
  SentOutcome,
} from './cluster.ts';
import { createTimers } from './timers.ts';

export interface ExecutorOptions extends Omit<SystemParts, 'actorId'> {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly onEntry?: (entry: DurableEntry) => void;
  /** Returns the receiver of a user event, and the event that it receives; null if there is none. */
  readonly receivedBy: (
    system: DurableActorSystem,
    event: { readonly type: string },
  ) => { readonly actor: ActorPath; readonly event: object } | null;
  /** The event that the system receives if the cluster ends the run. */
  readonly interruption: ExternalEvent;
  readonly oneOutcome?: OneOutcome;
}

const nameOf = (report: Report): string =>
  report.type === 'delivery' ? `the event "${(report.event as { readonly type: string }).type}"` : 'a stop';

/**
 * Runs an actor system in a cluster. Every external event comes from an outcome, one at a time, so that a process that takes over repeats the
 * same steps for the recorded outcomes and continues from there.
 */
export class RestateExecutor {
  system: DurableActorSystem;
  readonly #start: StartEntry;
  readonly #startMs: number;
  readonly #options: ExecutorOptions;
  readonly #parts: SystemParts;
  readonly #owner: SystemOwner;
  readonly #calls: Calls;
  readonly #timers: ReturnType<typeof createTimers>;
  readonly #entries: DurableEntry[] = [];
  /** The values that `recordOnce` recorded in this step, and those that it must return. */
  #values: readonly RecordedValue[] = [];
  #known: RecordedValue[] = [];
  /** Advanced by recorded outcomes only, never by a clock, and never back, even if clocks of two machines differ. */
  #nowMs = 0;
  #sentNumber = 0;
  #sent: PendingOutcome;
  #isInterrupted = false;

  constructor(start: StartEntry, options: ExecutorOptions) {
    const { cluster, clock, oneOutcome, logger } = options;
    this.#start = start;
    this.#startMs = Date.parse(start.startedAt);
    this.#options = options;
    this.#parts = { ...options, actorId: start.actorId };
    this.#calls = new Calls({
      cluster,
      clock,
      oneOutcome,
      system: () => this.system,
      lose: (report) => logger(`${start.actorId}: ${nameOf(report)} was sent outside of calls and effects; it is lost`),
    });
    this.#owner = {
      record: (event) => this.#record(event),
      receive: (report) => this.#calls.receive(report),
      note: (note, activity) => this.#calls.note(note, activity),
      recorded: () => this.#known.shift(),
    };
    this.system = new DurableActorSystem(start, this.#parts, this.#owner);
    this.#timers = createTimers({ sleep: (ms) => cluster.sleep(this.#startMs + ms) }, () => this.system.timers);
    this.#sent = cluster.sent(0);
    this.#record(start);
  }

  note(note: Json): void {
    this.#record({ type: 'note', note });
  }

  /** Begins, and runs until the end. `keep` receives new entries: at least one, in order. */
  async run(signal: AbortSignal, keep: (entries: readonly DurableEntry[]) => void): Promise<void> {
    const stopListening = onAbort(signal, () => this.system.close());
    let kept = 0;
    const keepNew = (): void => {
      if (this.#entries.length > kept) keep(this.#entries.slice(kept));
      kept = this.#entries.length;
    };
    await this.#perform(() => {
      this.system.begin();
      this.#printLog();
    });
    while (this.#isActive) {
      const next = this.pending();
      keepNew();
      const outcome = this.#isInterrupted
        ? ({ type: 'interrupted' } as const)
        : await this.#options.cluster.first(next);
      this.#isInterrupted = false;
      await this.#perform(this.#taken(outcome));
    }
    keepNew();
    stopListening();
  }

  /** Returns everything that may happen next, in the same order in each process. */
  pending(): readonly PendingOutcome[] {
    const calls = this.#calls.pending();
    return [this.#sent, ...this.#timers.pending(this.#nowMs), ...calls];
  }

  take(outcome: ClusterOutcome): void {
    this.#taken(outcome)();
  }

  /** Whether the machine or an effect is still running. */
  get #isActive(): boolean {
    return this.system.root.getSnapshot().status === 'active' || this.system.openEffects.size > 0;
  }

  #record(event: DurableEvent): void {
    const entry = { seq: this.#entries.length, atMs: this.#nowMs, ...event } as DurableEntry;
    this.#entries.push(entry);
    if (event.type === 'value') this.#values = [...this.#values, event];
    this.#options.onEntry?.(entry);
  }

  /** Takes an outcome. Returns its step: the timers that were due before it, then the events that the system still accepts. */
  #taken(outcome: ClusterOutcome): () => void {
    const atMs = 'atMs' in outcome ? Math.floor(outcome.atMs - this.#startMs) : this.#nowMs;
    this.#nowMs = Math.max(this.#nowMs, atMs);
    switch (outcome.type) {
      case 'call': {
        const ended = this.#calls.take(outcome);
        return () => {
          this.#fire((dueMs) => dueMs < atMs);
          this.#applyReports(outcome);
          if (ended !== undefined) this.#record(this.system.endEffects([ended]));
        };
      }
      case 'sent':
        this.#sentNumber += 1;
        this.#sent = this.#options.cluster.sent(this.#sentNumber);
        return () => {
          this.#fire((dueMs) => dueMs < atMs);
          this.#deliver(outcome);
        };
      case 'slept': {
        // An event that came before a later timer is the next outcome, so only the timers of this sleep fire.
        const endMs = this.#timers.endSleep();
        this.#nowMs = Math.max(this.#nowMs, endMs);
        return () => this.#fire((dueMs) => dueMs <= endMs);
      }
      case 'interrupted': {
        const { interruption } = this.#options;
        // A second interruption does not wait for effects.
        return () => (this.system.accepts(interruption) ? this.#apply(interruption) : this.system.openEffects.clear());
      }
    }
  }

  #fire(isDue: (dueMs: number) => boolean): void {
    for (const timer of this.#timers.due(isDue)) this.#apply({ type: 'timer', timer });
  }

  #applyReports({ reports }: CallOutcome): void {
    for (const report of reports) {
      if (report.type !== 'note') this.#apply(report as ExternalEvent);
      else if (this.system.activities.has(report.activity ?? -1)) this.#record(report);
    }
  }

  #deliver({ event, id }: SentOutcome): void {
    const received = this.#options.receivedBy(this.system, event as { readonly type: string });
    if (received === null) return;
    const { actorId } = this.#start;
    let stored: Json;
    try {
      stored = this.#parts.codec.encode(received.event, `event for ${actorId}`);
    } catch (error) {
      this.#parts.logger(`${actorId} ignores an event that it cannot store: ${(error as Error).message}`);
      return;
    }
    this.#apply({ type: 'delivery', actor: received.actor, event: stored, ...(id !== undefined && { id }) });
  }

  #apply(event: ExternalEvent): void {
    if (!this.system.accepts(event)) return;
    this.system.apply(event, this.#nowMs);
    this.#printLog();
  }

  /** Prints the log of the step. Logging is not an effect, so it has no outcome. */
  #printLog(): void {
    for (const { number, run } of this.system.effects) if (number < 0) run();
  }

  /**
   * Performs a step. The values that `recordOnce` records in it become an outcome of the cluster. If an earlier process recorded other values,
   * undoes the step and performs it again with those.
   */
  async #perform(step: () => void): Promise<void> {
    const { cluster, oneOutcome } = this.#options;
    const before = this.#entries.length;
    const { hasBegun } = this.system;
    this.#values = [];
    step();
    if (this.#values.length === 0 || oneOutcome !== undefined) return;
    const mine = {
      type: 'call',
      call: 'recordOnce',
      reports: this.#values,
      isEnded: false,
      atMs: this.#nowMs,
    } as const;
    const pending = [cluster.run(mine.call, async () => mine)];
    let outcome = await cluster.first(pending);
    for (; outcome.type !== 'call'; outcome = await cluster.first(pending)) this.#isInterrupted = true;
    if (JSON.stringify(outcome.reports) === JSON.stringify(mine.reports)) return;
    this.#entries.length = before;
    if (hasBegun) {
      const { system, divergence } = replaySystem(this.#entries, this.#parts);
      if (divergence !== null) throw new PostChainError('diverged', divergence.cause);
      this.system = system;
      system.owner = this.#owner;
    } else this.system = new DurableActorSystem(this.#start, this.#parts, this.#owner);
    this.#known = [...(outcome.reports as readonly RecordedValue[])];
    step();
  }
}
