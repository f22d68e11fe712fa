import type { AnyMachineSnapshot, AnyStateMachine, EmittedFrom, EventFromLogic, InputFrom, SnapshotFrom } from 'xstate';
import { PostChainError } from '../../machines/contracts/error.ts';
import { nextTurn, onAbort, pauses, withPauses } from '../internal/async.ts';
import { collectIn, DurableActorSystem, identityOf, POSTED_ONCE, type SystemParts } from './actor-system.ts';
import type { ApprovalGiven } from './approval.ts';
import { requireDurable, requireEvent, requireFlat, requireOptions } from './checks.ts';
import { type Clock, systemClock, wallClockOf } from './clock.ts';
import { type Codec, copyOfJson, createCodec, type Json } from './codec.ts';
import { inRealWorld } from './determinism.ts';
import {
  closed,
  type DurableActor,
  MAX_REOPENS,
  RunningActor,
  type RunningActorOptions,
  requireEventId,
  type SendOptions,
} from './durable-actor.ts';
import { endOfStep, startOfStep } from './durable-format.ts';
import type { EnqueueOptions } from './enqueue.ts';
import {
  type Attributes,
  crashesIn,
  type DurableEntry,
  type DurableEvent,
  hasEnded,
  isPartial,
  type RecordedMachine,
  type StartEntry,
} from './entries.ts';
import { hasCode, isRaceLost, rejectHeld } from './error.ts';
import type {
  ActorSummary,
  JournalStore,
  JournalWriter,
  ListOptions,
  OpenedJournal,
  OpenJournalOptions,
} from './journals/journal-store.ts';
import { entriesOf, FULL_LIST } from './journals/journal-store.ts';
import { requireId } from './journals/line-store.ts';
import type { Message } from './journals/mailbox.ts';
import type { QueueOptions } from './journals/queue.ts';
import { requireKnown } from './known-options.ts';
import { lastMachineIn, machineIn, recordedMachine, versionFor } from './machine-versions.ts';
import type { HostMail } from './mail.ts';
import type { Migration } from './migrate.ts';
import { type Pending, pendingOf } from './pending.ts';
import type { PostedEvent } from './post-event.ts';
import type { RepairAction, RepairOptions, RepairResult, StepRepair } from './repair.ts';
import {
  clockStartOf,
  type Divergence,
  isSameBuild,
  isSameButKeyframes,
  isSameMachine,
  otherRuntime,
  type ReplayedSystem,
  type ReplayStep,
  replaySteps,
  requireSame,
  type SameEntry,
  startEntry,
  startOf,
} from './replay.ts';
import type { RepliedStep } from './reply.ts';
import { type ReusedCalls, type ReuseOptions, reusedCalls } from './reused-calls.ts';
import type { ValueCodec } from './value-codecs.ts';

export interface DurableMachineOptions<Machine extends AnyStateMachine = AnyStateMachine> {
  /** Where the journals are stored: `fileJournals(folder)`, `sqliteJournals(file)`, `postgresJournals(source)`, `memoryJournals()`, or your own. */
  readonly journals: JournalStore;
  /** Earlier versions of the machine, by their `version`: actors that were started on one of them continue on it. */
  readonly versions?: Readonly<Record<string, AnyStateMachine>>;
  /**
   * How actors of these `versions` move to the current machine when they are opened, if they only wait for events, delays or approvals.
   * If a migration fails, the `logger` receives the reason, and the actor continues on its version.
   */
  readonly migrate?: Readonly<Record<string, Migration>>;
  /** How values of your classes are stored. JSON, Date, Map, Set, Error and BigInt need none. */
  readonly codecs?: readonly ValueCodec[];
  /**
   * Whether the time in which no process holds the actor counts toward delays: `counts` (default) or `pauses`. A function decides by the
   * type of the delay's event, for example `xstate.after.patience.order.waiting`; for the machine's `Date`, time then pauses.
   */
  readonly timeWithoutProcess?: 'counts' | 'pauses' | ((event: string) => 'counts' | 'pauses');
  /** Parks actors that have only waited for this long, in milliseconds; by default never. */
  readonly parkAfterMs?: number;
  /** The time source; by default that of the store if it has one and time without a process counts, otherwise the system clock. */
  readonly clock?: Clock;
  /** Describes a call, for readers of the journal: JSON that its entry contains. Null for nothing. */
  readonly describeCall?: (source: string, input: unknown) => Json;
  /** A summary of how an actor ended, from its last snapshot: JSON that its last entry contains. Null for nothing. */
  readonly describeEnd?: (snapshot: AnyMachineSnapshot) => Json;
  /** Describes what a closed actor waits for, from its last snapshot: JSON that lists show. Null for nothing. */
  readonly describeWait?: (snapshot: AnyMachineSnapshot) => Json;
  /**
   * What lists find the actor by, in every status, from its snapshot after each step: strings, numbers, booleans and nulls by name, at most
   * 2,000 characters as JSON. If it throws or returns anything else, the attributes stay as they were.
   */
  readonly describeAttributes?: (snapshot: AnyMachineSnapshot) => Attributes;
  /**
   * Required for `enqueue`. Limits how many actors may have begun and not ended (`concurrency`), and how many begin in any period (`rate`), of
   * the machine and of those with the same `key`; by default without limits. Requires a store in memory, SQLite or PostgreSQL.
   */
  readonly queue?: QueueOptions<InputFrom<Machine>>;
  /**
   * Receives what the action `log` prints, what stored errors lose, and errors of cleanups, of `onEntry`, of the `describe` functions, and
   * of actors that `wake` could not continue or that could not be migrated; by default the console.
   */
  readonly logger?: (...args: unknown[]) => void;
}

/** How an actor begins to run in this process. */
export interface RunActorOptions {
  /** Whether it waits for `begin`. A new one receives no event until then; its delays begin at the start. */
  readonly isPaused?: boolean;
  /** Receives the entries that follow, as they are made: they may not be stored yet. The `logger` receives what it throws. */
  readonly onEntry?: (entry: DurableEntry) => void;
  /** Whether it may leave memory while it only waits; by default always. */
  readonly mayPark?: () => boolean;
}

interface ResumeOptions extends RunActorOptions {
  /** Whether it is opened for one event. If it was waiting, `resumed` is stored with the step of the event. */
  readonly isForOneEvent?: boolean;
}

export interface AdvanceOptions extends RunActorOptions {
  /** Closes the actor, whatever it does. */
  readonly signal?: AbortSignal | undefined;
  /** Receives the actor before it continues, unless this durable machine had it open already. */
  readonly onOpen?: (actor: DurableActor<never>) => void;
}

export interface StartActorOptions<Machine extends AnyStateMachine> extends RunActorOptions {
  readonly input?: InputFrom<Machine>;
  /** The seed of `Math.random` and `crypto.randomUUID` in the machine, 32 bits; by default random. */
  readonly seed?: number;
  /** When the actor starts, in milliseconds since the epoch; by default now. */
  readonly startedAtMs?: number;
  /** JSON to store in the first entry. */
  readonly product?: Json;
  /** Notes to store after the first entry. */
  readonly notes?: readonly Json[];
  /** Recorded results to use instead of calls. */
  readonly reuse?: ReuseOptions;
}

export interface OpenActorOptions<Machine extends AnyStateMachine>
  extends Pick<OpenJournalOptions, 'force'>,
    RunActorOptions {
  /** Whether to reject with `unknown_journal`, instead of starting an actor, if there is none. */
  readonly mustExist?: boolean;
  /** For an actor that does not exist yet. Without it, an actor whose context is a function of `input` is not started: it must exist. */
  readonly input?: InputFrom<Machine>;
}

export interface ForkActorOptions<Machine extends AnyStateMachine> extends RunActorOptions {
  /** The entry after whose step the fork begins. */
  readonly at: number;
  /** Whether it begins before that step instead. */
  readonly isBefore?: boolean;
  /** An event to send to the fork. */
  readonly event?: EventFromLogic<Machine>;
  /** The id of the fork; by default random. */
  readonly id?: string;
  /** Another input: the machine evaluates the events of the past again. By default, the fork has the input and the entries of the original. */
  readonly input?: InputFrom<Machine>;
  /** By default that of the original. */
  readonly product?: Json;
  /** Recorded results to use instead of calls; `from` is where the fork begins. */
  readonly reuse?: Omit<ReuseOptions, 'entries' | 'from'>;
}

interface ListActorsOptions extends Omit<ListOptions, 'machine'> {
  /** Whether to list the actors of other machines in the same store too, and journals that cannot be read. */
  readonly allMachines?: boolean;
}

/** What an actor is, and what it waits for. */
export interface ActorView<Machine extends AnyStateMachine> {
  readonly snapshot: SnapshotFrom<Machine>;
  readonly pending: Pending;
}

type SentEvent<Machine extends AnyStateMachine> = EventFromLogic<Machine> | ApprovalGiven;

/** The reply of a machine to an event. */
export interface Reply<Machine extends AnyStateMachine> extends ActorView<Machine> {
  /** The events that the actor emitted in the step, not those of its children. */
  readonly emitted: readonly EmittedFrom<Machine>[];
}

export interface ActorReplay<Machine extends AnyStateMachine> extends ActorView<Machine> {
  /** The first difference from the journal, with which the replay has ended; null if there is none. */
  readonly divergence: Divergence | null;
  /** The number of the entry at which it began: 0, or that of a migration if this process lacks an earlier version. */
  readonly from: number;
  /** The version of the actor's machine; null if the machine has none. */
  readonly version: string | null;
  /** Null if opening the actor would not migrate it. `problem`: why the migration would fail; null if it would succeed. */
  readonly migration: { readonly problem: string | null } | null;
}

/** An actor that a process should continue. */
export interface DueActor {
  readonly id: string;
  /** How many processes in a row have continued it and died before anything happened. */
  readonly crashes: number;
}

/** A machine whose actors outlive processes. */
export interface DurableMachine<Machine extends AnyStateMachine> {
  /** The id of the machine. */
  readonly machineId: string;
  readonly machine: Machine;
  /** The store of its actors: the option `journals`. */
  readonly journals: DurableMachineOptions['journals'];
  /** The option `queue`. */
  readonly queue?: DurableMachineOptions<Machine>['queue'] | undefined;
  /**
   * Stores a new actor, which a worker or `wake` begins when the limits of `queue` allow. Resolves to whether it is new: to false if there already
   * is an actor with this id and the same input. Rejects with `journal_exists` if there is one with another input, with `invalid_option` without
   * `queue`, and with the errors of `start`.
   *
   * @example
   * await orders.enqueue('o-17', { input: { customer: 'c-1' }, priority: 5, delayMs: 60_000 });
   */
  enqueue(id: string, options?: EnqueueOptions<Machine>): Promise<boolean>;
  /** For workers: takes actors that may begin out of the queue, at most this many, and returns their ids. Then they are due. */
  claim(count: number): Promise<readonly string[]>;
  /**
   * Starts a new actor at once. Throws `journal_exists` if there is one with this id, `not_durable` if the input or the context cannot be
   * stored, and what the machine throws in its first step.
   */
  start(id: string, options?: StartActorOptions<Machine>): DurableActor<Machine>;
  /**
   * Starts an actor, or continues one. An actor that is open in this process is returned as it is. One whose process has ended is replayed,
   * its unfinished activities and effects start again, and its due timers fire. Rejects with `unknown_journal` if there is none and the machine
   * needs an input that is not given; with `journal_held` if another process holds it; with
   * `invalid_journal` if its journal is damaged; with `diverged` if the machine has changed; with `not_durable` if the input or the context
   * cannot be stored; with the actor's failure, for example `journal_failed`, if that has closed it meanwhile.
   */
  open(id: string, options?: OpenActorOptions<Machine>): Promise<DurableActor<Machine>>;
  /**
   * Continues actors that no process holds and that have a due timer or were interrupted: killed, or closed during a call. Closes each when it
   * only waits; `list()` then shows what it waits for. Resolves to their ids when their due timers have fired. An actor that cannot be continued
   * is skipped, and the `logger` receives its error.
   */
  wake(): Promise<readonly string[]>;
  /**
   * Sends an event, and resolves to the machine's reply once its step is stored; with the `id` of an event that was sent before, to the reply
   * to that event. Rejects with `event_ignored` if the event causes no transition, and with `invalid_journal` if another process holds the actor
   * and cannot decode the event.
   */
  send(id: string, event: SentEvent<Machine>, options: SendOptions & { readonly reply: true }): Promise<Reply<Machine>>;
  /**
   * Sends an event to an actor, as its own `send` does. If no process holds the actor, opens it, and closes it once it only waits again.
   * If another process holds it, stores the event for that process, and resolves to true once it is stored. Rejects with the errors of `open` too:
   * then the event was not processed, and may be sent again.
   */
  send(id: string, event: SentEvent<Machine>, options?: SendOptions): Promise<boolean>;
  /**
   * Continues an actor that has failed, as if the step in which it failed had not happened: a call or an effect that failed runs again; an event
   * whose processing threw is processed again, by the machine as it is now. Resolves when the actor only waits again or has ended. Rejects with
   * `not_repairable` if it has not failed or would fail again, and with the errors of `open`.
   */
  retry(id: string): Promise<void>;
  /**
   * As `retry`, but without what failed: a call counts as done with `output`, an effect as executed, and an event as never sent. Also rejects
   * with `not_repairable` for a delay, and for a call that is neither a promise nor an observable.
   */
  skip(id: string, options?: { readonly output?: unknown }): Promise<void>;
  /** Lets workers continue an actor again that they have quarantined. Rejects with `not_repairable` if they have not. */
  release(id: string): Promise<void>;
  /** For workers: lets none continue an actor until it is released or opened. */
  quarantine(id: string, reason: string): Promise<void>;
  /**
   * Repairs all actors that the options match, and that the action is for: `retry` and `skip` for failed ones, `release` for quarantined ones,
   * `stop` for all that have not ended. Those that continue are left to `wake` or a worker.
   *
   * @example
   * const preview = await orders.repair('retry', { where: { customer: 'c-1' }, dryRun: true });
   */
  repair(action: RepairAction, options?: RepairOptions): Promise<readonly RepairResult[]>;
  /**
   * As an actor's own `stop`. One that no process holds fires no due delay and starts no call again. If another process holds it, stores the request
   * for that process, and resolves to true once it is stored. Also rejects with the errors of `open`.
   */
  stop(id: string): Promise<boolean>;
  /**
   * Reads an actor after its last stored step, without continuing it: one that is open from memory, any other by a replay from its last
   * keyframes. Rejects with `unknown_journal`, `invalid_journal` or `diverged`. If an actor has ended, and the machine that it had is not among
   * `versions`, the snapshot has only its `status`, `output` and `error`.
   */
  query(id: string): Promise<ActorView<Machine>>;
  /** Whether this durable machine has the actor in memory, or is opening it. */
  isOpen(id: string): boolean;
  /**
   * Actors that no process holds and that have messages or a due timer, or were interrupted, without those that are quarantined. A store that
   * several processes share may return only some of many.
   */
  due(): Promise<readonly DueActor[]>;
  /** Calls `onDue` when messages arrive for actors that no process holds. Returns a function that stops it. */
  watch(onDue: () => void): () => void;
  /**
   * Continues an actor until it only waits, has ended, or the signal aborts, and closes it. Rejects with the errors of `open`, and with
   * `journal_failed` or `journal_fenced`.
   */
  advance(id: string, options?: AdvanceOptions): Promise<void>;
  /** Evaluates a journal again, without calls or effects. */
  replay(id: string): Promise<ActorReplay<Machine>>;
  /**
   * Evaluates the entries of a journal again, one step at a time. Entries may be appended until the last step. `isSame` decides whether the
   * machine does the same now; by default, all members must be equal. Pass the `id` of a fork, whose approvals have their own digests.
   */
  replaySteps(
    entries: readonly DurableEntry[],
    isSame?: SameEntry,
    id?: string,
  ): Generator<ReplayStep, ActorReplay<Machine>>;
  /**
   * Starts another actor with the same past, up to an entry. Takes the id of an actor or its entries. If the event is invalid, rejects with the
   * errors of `send` and creates nothing.
   */
  fork(actor: string | readonly DurableEntry[], options: ForkActorOptions<Machine>): Promise<DurableActor<Machine>>;
  /** The actors of the machine, the newest first, as `list` of the store filters them. */
  list(options?: ListActorsOptions): Promise<readonly ActorSummary[]>;
  /** Deletes an actor that no process holds. A child process is stopped first, and so is a parent with its children. Rejects with `invalid_journal` for that of another machine. */
  delete(id: string): Promise<void>;
}

/**
 * Makes a state machine durable: everything that enters it is journaled first, and after a crash an actor continues where it left off.
 * Throws `not_durable` with the reasons if the machine cannot be durable.
 *
 * @example
 * const orders = createDurableMachine(orderMachine, { journals: fileJournals('orders') });
 * const order = await orders.open('o-17', { input: { amount: 40 } });
 * await order.send({ type: 'APPROVE' });
 */
export function createDurableMachine<Machine extends AnyStateMachine>(
  machine: Machine,
  options: DurableMachineOptions<NoInfer<Machine>>,
): DurableMachine<Machine> {
  return new MachineHost(machine, options);
}

class MachineHost<Machine extends AnyStateMachine> implements DurableMachine<Machine> {
  readonly machineId: string;
  readonly machine: Machine;
  readonly journals: DurableMachineOptions['journals'];
  readonly queue: DurableMachineOptions<Machine>['queue'];
  readonly #options: DurableMachineOptions<Machine>;
  readonly #clock: Clock;
  readonly #codec: Codec;
  readonly #open = new Map<string, Promise<RunningActor<Machine>>>();
  /** How many processes crashed while they continued an actor, by id. Valid until the journal grows. */
  readonly #crashCounts = new Map<string, { readonly lastSeq: number; readonly crashes: number }>();
  #waking: Promise<readonly string[]> | null = null;
  #loadedMail: Promise<HostMail> | undefined;
  /** Cleanups in progress after a failed first step, by actor id. Opening the actor waits for them. */
  readonly #cleanups = new Map<string, Promise<void>>();

  constructor(machine: Machine, options: DurableMachineOptions<Machine>) {
    requireOptions(machine, options);
    this.machineId = machine.id;
    this.machine = machine;
    this.journals = options.journals;
    this.queue = options.queue;
    this.#options = options;
    this.#clock = options.clock ?? (this.#timeWithoutProcess === 'counts' ? wallClockOf(this.journals) : systemClock);
    this.#codec = createCodec(options.codecs, (loss) => inRealWorld(() => this.#log(loss)));
    for (const one of [machine, ...Object.values(options.versions ?? {})]) requireDurable(one, this.#codec);
  }

  start(id: string, options: StartActorOptions<Machine> = {}): DurableActor<Machine> {
    requireId(id);
    requireKnown('start', options);
    this.#requireNotOpen(id);
    const { actor, stored } = this.#start(id, this.journals.create(id), options);
    // An actor whose journal fails is closed with the reason.
    stored?.catch(() => {});
    void this.#once(id, async () => actor);
    actor.keepOpen();
    return actor;
  }

  async enqueue(id: string, options: EnqueueOptions<Machine> = {}): Promise<boolean> {
    requireId(id);
    requireKnown('enqueue', options);
    const { enqueueActor } = await import('./lazy-parts.ts');
    const host = {
      machine: this.machine,
      journals: this.journals,
      queue: this.queue,
      parts: this.#parts(id, this.machine),
      nowMs: this.#clock.now(),
      describeAttributes: this.#describeAttributes,
    };
    return enqueueActor(host, id, options);
  }

  async claim(count: number): Promise<readonly string[]> {
    if (this.queue === undefined) return [];
    const { perKey: keyLimits = {}, ...limits } = this.queue;
    const query = { machine: this.machineId, nowMs: this.#clock.now(), count, limits, keyLimits };
    return (await this.journals.claim?.(query)) ?? [];
  }

  async open(id: string, options: OpenActorOptions<Machine> = {}): Promise<DurableActor<Machine>> {
    requireId(id);
    requireKnown('open', options);
    for (let tries = 0; tries < MAX_REOPENS; tries += 1) {
      const actor = await this.#once(id, () => this.#startOrResume(id, options));
      if (!(await kept(actor))) continue;
      const taken = actor.hasMail && this.#takeMail(actor);
      // A paused actor takes nothing before it begins.
      if (!options.isPaused) await taken;
      if (actor.failure !== null) throw actor.failure;
      return actor;
    }
    throw closed(id);
  }

  isOpen(id: string): boolean {
    return this.#open.has(id);
  }

  /** Calls that overlap share their result. */
  wake(): Promise<readonly string[]> {
    this.#waking ??= this.#wake().finally(() => {
      this.#waking = null;
    });
    return this.#waking;
  }

  async #wake(): Promise<readonly string[]> {
    const woken: string[] = [];
    for (let ids = await this.claim(CLAIMED_AT_ONCE); ids.length > 0; ids = await this.claim(CLAIMED_AT_ONCE))
      await this.#advanceAll(ids, woken);
    const tried = new Set<string>();
    for (let isFull = true; isFull; ) {
      const due = await this.due();
      const ids = due.map(({ id }) => id).filter((id) => !tried.has(id));
      for (const id of ids) tried.add(id);
      await this.#advanceAll(ids, woken);
      isFull = due.length >= FULL_LIST && ids.length > 0;
    }
    return woken;
  }

  /** Adds the ids of those that it has continued. */
  async #advanceAll(ids: readonly string[], woken: string[]): Promise<void> {
    for (const id of ids) {
      if (this.#open.has(id)) continue;
      try {
        const opened: string[] = [];
        await this.advance(id, { onOpen: () => void opened.push(id) });
        woken.push(...opened);
        // If the store never yields to the event loop, other work of the process would wait for all of them.
        await nextTurn();
      } catch (error) {
        if (!isRaceLost(error)) this.#log(`actor ${id} could not be continued:`, error);
      }
    }
  }

  async due(): Promise<readonly DueActor[]> {
    const due = new Map<string, DueActor>();
    const add = (actor: DueActor): void => {
      if (!this.#open.has(actor.id) && !due.has(actor.id)) due.set(actor.id, actor);
    };
    const { journals, machineId: machine } = this;
    const receivers = (await journals.mail?.receivers()) ?? [];
    if (receivers.length > 0) for (const actor of (await (await this.#mail)?.due(receivers)) ?? []) add(actor);
    const pause = pauses();
    const interrupted = await journals.list({ machine, status: 'interrupted' });
    const listed = new Set(interrupted.map(({ id }) => id));
    for (const id of this.#crashCounts.keys()) if (!listed.has(id)) this.#crashCounts.delete(id);
    for (const { id, lastSeq, reason } of interrupted) {
      await pause();
      if (reason !== null || this.#open.has(id) || due.has(id)) continue;
      // What it waits for is known only after it has been continued. If its journal cannot be read, continuing it reports the error.
      add({ id, crashes: await this.#crashes(id, lastSeq).catch(() => 0) });
    }
    const now = this.#clock.now();
    const ids =
      (await journals.due?.(machine, now)) ?? (await journals.list({ machine, dueBefore: now })).map(({ id }) => id);
    for (const id of ids) add({ id, crashes: 0 });
    return [...due.values()];
  }

  watch(onDue: () => void): () => void {
    let isStopped = false;
    let stop = (): void => {
      isStopped = true;
    };
    void this.#mail?.then((mail) => {
      if (!isStopped) stop = mail.watchDue(onDue);
    });
    return () => stop();
  }

  async advance(id: string, given: AdvanceOptions = {}): Promise<void> {
    requireKnown('advance', given);
    const { signal, onOpen, ...options } = given;
    const wasOpen = this.#open.has(id);
    const actor = await this.#resumed(id, { ...options, wait: false });
    // Another process may have ended it since it was listed.
    if (!wasOpen && !actor.hadEnded) onOpen?.(actor as unknown as DurableActor<never>);
    const close = (): void => void actor.close();
    if (signal?.aborted) close();
    const forget = signal && onAbort(signal, close);
    if (actor.hasMail && !options.isPaused) await this.#takeMail(actor);
    if (!wasOpen && actor.hadEnded) void actor.close();
    await whenIdle(actor).finally(forget);
  }

  send(id: string, event: SentEvent<Machine>, options: SendOptions & { readonly reply: true }): Promise<Reply<Machine>>;
  send(id: string, event: SentEvent<Machine>, options?: SendOptions): Promise<boolean>;
  async send(
    id: string,
    event: SentEvent<Machine>,
    given: SendOptions & { readonly reply?: boolean } = {},
  ): Promise<boolean | Reply<Machine>> {
    requireKnown('send of a durable machine', given);
    const { reply = false, ...options } = given;
    let step: RepliedStep | null = null;
    let posted: string | undefined;
    const isNew = await this.#offer(id, (actor) => {
      const onStep = (entries: readonly DurableEntry[]): void => {
        step = { entries, snapshot: actor.getSnapshot(), pending: actor.pending };
      };
      return actor.send(event, options, reply ? onStep : undefined);
    }).catch((error) => {
      if (!hasCode(error, 'journal_held')) throw error;
      requireEvent(event, id);
      requireEventId(options.id, id);
      posted = options.id ?? `${POSTED_ONCE}${crypto.randomUUID()}`;
      const stored = this.#codec.encode(event, `event for ${id}`);
      return this.#postIfHeld(error, id, { id: posted, type: 'event', event: stored });
    });
    if (!reply) return isNew;
    if (posted !== undefined) await (await this.#mail)?.processed(id, posted);
    const { recordedStep, replyOf } = await import('./lazy-parts.ts');
    if (!isNew || posted !== undefined) {
      const entries = await entriesOf(this.journals.read(id));
      step = recordedStep(entries, posted ?? options.id, (past) => this.replaySteps(past));
    }
    return replyOf(id, event, step, this.#codec) as Reply<Machine>;
  }

  stop(id: string): Promise<boolean> {
    const stopped = this.#offer(id, (actor) => actor.stop(), { isPaused: true });
    return stopped.catch((error) => this.#postIfHeld(error, id, { id: crypto.randomUUID(), type: 'stop' }));
  }

  get #mail(): Promise<HostMail> | undefined {
    const { mail } = this.journals;
    if (mail === undefined) return undefined;
    this.#loadedMail ??= import('./lazy-parts.ts').then(
      ({ HostMail }) =>
        new HostMail(mail, {
          machineId: this.machineId,
          journals: this.journals,
          opened: async (id) => this.#open.get(id)?.catch(() => undefined),
          isOpen: (id) => this.#open.has(id),
          advance: (id) => this.advance(id),
          log: this.#log,
        }),
    );
    return this.#loadedMail;
  }

  /** Passes the messages that waited for an actor when it was opened to it. */
  async #takeMail(actor: RunningActor<Machine>): Promise<void> {
    actor.hasMail = false;
    await (await this.#mail)?.take(actor.id);
  }

  /** Stores a message for an actor that another process holds, and returns true. Rethrows any other error. */
  async #postIfHeld(error: unknown, id: string, message: Message): Promise<true> {
    const mail = hasCode(error, 'journal_held') ? await this.#mail : undefined;
    if (mail === undefined) throw error;
    await mail.post(id, message);
    return true;
  }

  async #offer(
    id: string,
    offer: (actor: RunningActor<Machine>) => Promise<boolean>,
    options?: RunActorOptions,
  ): Promise<boolean> {
    for (let tries = 0; tries < MAX_REOPENS; tries += 1) {
      const wasOpen = this.#open.has(id);
      const actor = await this.#resumed(id, { ...options, isForOneEvent: true });
      if (actor.hasMail && !options?.isPaused) await this.#takeMail(actor);
      const sent = offer(actor);
      // After the event: an actor that only waits is closed at once.
      const closing = wasOpen ? undefined : actor.closeWhenIdle();
      if (!wasOpen) actor.begin();
      try {
        return await sent;
      } catch (error) {
        // It was closed before it received the event.
        const wasClosed = hasCode(error, 'cancelled');
        if (!wasClosed || !actor.isClosed || actor.failure !== null) throw error;
      } finally {
        await closing;
        if (actor.isClosed) await actor.closed;
      }
    }
    throw closed(id);
  }

  async retry(id: string): Promise<void> {
    await this.#takeMailUntilIdle(await this.#repaired(id, { action: 'retry' }));
  }

  async skip(id: string, options: { readonly output?: unknown } = {}): Promise<void> {
    requireKnown('skip', options);
    await this.#takeMailUntilIdle(await this.#repaired(id, { action: 'skip', output: options.output }));
  }

  async #takeMailUntilIdle(actor: RunningActor<Machine> | null): Promise<void> {
    if (actor?.hasMail) await this.#takeMail(actor);
    await whenIdle(actor);
  }

  async release(id: string): Promise<void> {
    await (await import('./lazy-parts.ts')).appendAlone(this.journals, id, { type: 'released' });
  }

  async quarantine(id: string, reason: string): Promise<void> {
    const { appendAlone } = await import('./lazy-parts.ts');
    await appendAlone(this.journals, id, { type: 'quarantined', reason }, this.#crashCounts.get(id)?.lastSeq);
  }

  async repair(action: RepairAction, options: RepairOptions = {}): Promise<readonly RepairResult[]> {
    requireKnown('repair', options);
    const { repairAll } = await import('./lazy-parts.ts');
    return repairAll(this, action, options, async (id, repair) => {
      await (await this.#repaired(id, repair, { isPaused: true, dryRun: options.dryRun }))?.close();
    });
  }

  /** Stores the step that replaces the one in which an actor failed, and returns the actor; null for a dry run. */
  async #repaired(
    id: string,
    repair: StepRepair,
    { dryRun = false, isPaused = false }: { readonly dryRun?: boolean | undefined; readonly isPaused?: boolean } = {},
  ): Promise<RunningActor<Machine> | null> {
    requireId(id);
    const { notRepairable, repairedSystem } = await import('./lazy-parts.ts');
    const known = await this.#open.get(id)?.catch(() => null);
    if (known?.isClosed === false) throw notRepairable(id, 'it, or one of its effects, is still running.');
    await known?.closed;
    const repaired = (entries: readonly DurableEntry[]): Promise<ReplayedSystem> =>
      repairedSystem(id, entries, repair, {
        codec: this.#codec,
        replay: async (all) => {
          const replayed = await this.#latest(id, all);
          requireSame(id, replayed.divergence);
          return replayed;
        },
        optionsOf: (replayed) => this.#runningOptions(id, replayed),
      });
    if (dryRun) {
      (await repaired(await entriesOf(this.journals.read(id, this.#readOptions)))).system.close();
      return null;
    }
    if (this.#open.has(id)) throw notRepairable(id, 'this process is opening or repairing it.');
    return this.#once(id, async () => {
      const { entries, writer, hasMail = false } = await this.journals.open(id, this.#readOptions);
      try {
        const system = await repaired(entries);
        const actor = await this.#continue(system, writer, { ...this.#runningOptions(id, system), isPaused });
        return Object.assign(actor, { hasMail });
      } catch (error) {
        await writer.close();
        throw error;
      }
    }).catch(rejectHeld);
  }

  async query(id: string): Promise<ActorView<Machine>> {
    requireId(id);
    const actor = await this.#open.get(id)?.catch(() => undefined);
    if (actor?.isStored) return { snapshot: actor.getSnapshot(), pending: actor.pending };
    // When a delay that pauses is due depends on all processes that had the actor.
    const entries = await entriesOf(this.journals.read(id, { fromKeyframe: this.#timeWithoutProcess === 'counts' }));
    try {
      const { divergence, snapshot, pending } = ended<Machine>(await this.#latest(id, entries));
      requireSame(id, divergence);
      return { snapshot, pending };
    } catch (error) {
      const end = hasEnded(entries) ? entries.findLast(({ type }) => type === 'end') : undefined;
      const isMissing =
        hasCode(error, 'diverged') && [machineIn(entries), lastMachineIn(entries)].some(this.#isMissing);
      if (end?.type !== 'end' || !isMissing) throw error;
      const { status, output, error: failure } = end;
      const last = {
        status,
        output: this.#codec.decode(output),
        error: status === 'error' ? this.#codec.decode(failure) : undefined,
      };
      return { snapshot: last as unknown as SnapshotFrom<Machine>, pending: nothingPending };
    }
  }

  async replay(id: string): Promise<ActorReplay<Machine>> {
    const replayed = await this.#replayed(id, await this.#read(id));
    const migrated = await this.#migrated(id, replayed).catch((error: unknown) => error as Error);
    if (migrated === replayed) return ended<Machine>(replayed);
    const problem = migrated instanceof Error ? migrated.message : null;
    if (!(migrated instanceof Error)) migrated.system.close();
    return { ...ended<Machine>(replayed), migration: { problem } };
  }

  *replaySteps(
    entries: readonly DurableEntry[],
    isSame?: SameEntry,
    id?: string,
  ): Generator<ReplayStep, ActorReplay<Machine>> {
    const start = startOf(entries);
    const parts = this.#parts(id ?? start.actorId, this.#machineOf(entries));
    return ended<Machine>(yield* replaySteps(entries, parts, isSame));
  }

  async fork(
    actor: string | readonly DurableEntry[],
    options: ForkActorOptions<Machine>,
  ): Promise<DurableActor<Machine>> {
    requireKnown('fork', options);
    const { at, isBefore, event, id = crypto.randomUUID(), input, product, reuse, ...run } = options;
    const entries = Array.isArray(actor) ? (actor as readonly DurableEntry[]) : await this.#read(actor as string);
    if (isPartial(entries))
      throw new PostChainError(
        'invalid_option',
        'fork: expected all entries of an actor; received those since a keyframe. Pass the id of the actor.',
      );
    if (!Number.isInteger(at) || at < 0 || at >= entries.length)
      throw new PostChainError(
        'invalid_option',
        `at: expected the number of an entry, from 0 to ${entries.length - 1}; received ${at}.`,
      );
    requireId(id);
    if (event !== undefined) {
      requireEvent(event, id);
      this.#codec.encode(event, `event for ${id}`);
    }
    const original = startOf(entries);
    const from = isBefore ? startOfStep(entries, at) : endOfStep(entries, at);
    // The time until another process continued the original is not part of the step.
    const isOfStep = ({ type }: DurableEntry, seq: number) => seq <= at || (type !== 'closed' && type !== 'resumed');
    const shared = entries.slice(1, entries.slice(0, from).findLastIndex(isOfStep) + 1);
    const actorId = typeof actor === 'string' ? actor : original.actorId;
    const forkedAt = new Date(this.#clock.now()).toISOString();
    const { parent: _, ...orphan } = original;
    const start: StartEntry = {
      ...orphan,
      ...(input !== undefined && { actorId: id, input: this.#codec.encode(input, 'input') }),
      ...(product !== undefined && { product }),
      forkedFrom: { actorId, seq: at, clockStartMs: this.#clock.now() - (shared.at(-1)?.atMs ?? 0), forkedAt },
    };
    const hasChildren = shared.some((entry) => childrenIn(entry).length > 0);
    const own = hasChildren
      ? (await import('./lazy-parts.ts')).withOwnChildren(shared, id, identityOf(id, start))
      : shared;
    const past = [{ ...start, seq: 0, atMs: entries[0]?.atMs ?? 0 }, ...own];
    const parts = this.#parts(id, this.#machineOf(entries, actorId));
    // Loaded on use: most forks keep their input.
    const derived =
      input === undefined
        ? null
        : await (await import('./lazy-parts.ts')).deriveSystem(past, start, parts, reuse?.keyOf);
    this.#requireNotOpen(id);
    const writer = this.journals.create(id);
    const reused = reuse && reusedCalls({ ...reuse, entries, from });
    const fork = await this.#once(id, async () => {
      await writer.write(derived?.entries ?? past);
      if (writer.failure !== null) {
        await writer.close();
        // Nobody else knows a new journal: if it is fenced, it was not new.
        throw new PostChainError(writer.isFenced ? 'journal_exists' : 'journal_failed', writer.failure);
      }
      const options = { ...run, isPaused: true };
      const opened = derived
        ? await this.#continue(derived, writer, { ...this.#runningOptions(id, derived), ...options, reuse: reused })
        : await this.#resume(id, past, writer, options, reused);
      if (event !== undefined) void opened.send(event).catch(() => {});
      if (!run.isPaused) opened.begin();
      return opened;
    });
    await kept(fork);
    return fork;
  }

  async list(options: ListActorsOptions = {}): Promise<readonly ActorSummary[]> {
    requireKnown('list of a durable machine', options);
    const { allMachines, ...only } = options;
    return this.journals.list({ ...only, ...(!allMachines && { machine: this.machineId }) });
  }

  async delete(id: string): Promise<void> {
    requireId(id);
    const actor = await this.#open.get(id)?.catch(() => null);
    if (actor?.isClosed === false)
      throw new PostChainError('journal_held', `actor ${id}: it is open in this process; close() it before delete().`);
    await actor?.closed;
    const { start, children } = await relativesIn(this.journals.read(id, this.#readOptions));
    if (start !== null) this.#machineOf([start], id);
    if (start?.parent !== undefined || children.length > 0) await this.#stopFirst(id, children);
    await this.journals.delete?.(id);
    this.#crashCounts.delete(id);
  }

  /** Its parent waits for its end, and its children would continue. If it cannot be opened, their hosts stop them. */
  async #stopFirst(id: string, children: readonly string[]): Promise<void> {
    const stopped = this.#offer(id, (actor) => actor.stop(), { isPaused: true });
    await stopped.catch(async (error: unknown) => {
      if (hasCode(error, 'journal_held')) throw error;
      const message = { id: crypto.randomUUID(), type: 'stop' } as const;
      const posting = children.map((child) => this.journals.mail?.post(child, message.id, message));
      const failed = (await Promise.allSettled(posting)).find(
        (one) => one.status === 'rejected' && !hasCode(one.reason, 'unknown_journal'),
      );
      if (failed?.status === 'rejected') throw failed.reason;
    });
  }

  /** An actor that is being opened may not have a journal yet. */
  #requireNotOpen(id: string): void {
    if (!this.#open.has(id)) return;
    throw new PostChainError(
      'journal_exists',
      `actor ${id}: expected a new id; received that of an actor that this process has open or is opening. Use another id, or open().`,
    );
  }

  /** Returns the open actor of an id, or opens it. */
  #once(id: string, open: () => Promise<RunningActor<Machine>>): Promise<RunningActor<Machine>> {
    const known = this.#open.get(id);
    if (known !== undefined) return known;
    const opened = open();
    this.#open.set(id, opened);
    if (this.#open.size === 1) this.#watchMail();
    const forget = (): void => {
      if (this.#open.get(id) === opened && this.#open.delete(id) && this.#open.size === 0) this.#watchMail();
    };
    opened.then((actor) => actor.closed.then(forget), forget);
    return opened;
  }

  /** Messages for open actors are passed to them as they arrive. */
  #watchMail(): void {
    void this.#mail?.then((mail) => mail.watch(this.#open.size > 0));
  }

  #resumed(id: string, options: ResumeOptions & Pick<OpenJournalOptions, 'wait'> = {}): Promise<RunningActor<Machine>> {
    requireId(id);
    return this.#once(id, () => this.#startOrResume(id, { ...options, mustExist: true })).catch(rejectHeld);
  }

  async #startOrResume(
    id: string,
    options: OpenActorOptions<Machine> & ResumeOptions & Pick<OpenJournalOptions, 'wait'>,
  ): Promise<RunningActor<Machine>> {
    const { journals } = this;
    const { force = false, wait = true } = options;
    await this.#cleanups.get(id);
    const lacksInput = !('input' in options) && this.#needsInput;
    const mustExist = options.mustExist || lacksInput;
    const created = mustExist || (await journals.has?.(id)) ? null : this.#createJournal(id);
    if (created === null) {
      const opening = journals.open(id, { force, wait, ...this.#readOptions });
      const {
        entries,
        writer,
        hasMail = false,
      } = await opening.catch((error: Error) => {
        if (!options.mustExist && lacksInput && hasCode(error, 'unknown_journal'))
          throw new PostChainError('unknown_journal', `${error.message}; to start an actor with this id, pass "input"`);
        throw error;
      });
      return Object.assign(await this.#resume(id, entries, writer, { ...options, hasMail }), { hasMail });
    }
    const { actor, stored } = this.#start(id, created, options);
    try {
      await stored;
    } catch (error) {
      if (!(await journals.has?.(id))) throw error;
      // Another process created the journal first.
      await actor.closed;
      return this.#startOrResume(id, options);
    }
    return actor;
  }

  /** Whether the initial context may depend on the input. XState does not say whether a machine has one. */
  get #needsInput(): boolean {
    const { context } = this.machine.config as { readonly context?: unknown };
    return typeof context === 'function' && context.length > 0;
  }

  /** Returns null if a journal may exist already: opening it shows whether it does. */
  #createJournal(id: string): JournalWriter | null {
    try {
      return this.journals.create(id);
    } catch (error) {
      if (PostChainError.isInstance(error) && !MAY_EXIST.includes(error.code)) throw error;
      return null;
    }
  }

  /** Executes the first step of a new actor, and then starts its effects. */
  #start(
    id: string,
    writer: JournalWriter,
    { notes = [], isPaused = false, onEntry, mayPark, reuse, input, ...about }: StartActorOptions<Machine>,
  ): { readonly actor: RunningActor<Machine>; readonly stored: void | Promise<void> } {
    try {
      const start = startEntry(this.machine, {
        actorId: id,
        input: this.#codec.encode(input, 'input'),
        startedAtMs: this.#clock.now(),
        ...about,
      });
      const events: DurableEvent[] = [
        start,
        ...notes.map((note) => ({ type: 'note', note: copyOfJson(note, `note of ${id}`) }) as const),
      ];
      const system = new DurableActorSystem(start, this.#parts(id, this.machine), collectIn(events));
      if (isPaused) system.create();
      else system.begin();
      const { status, error } = system.root.getSnapshot() as { status: string; error?: unknown };
      if (status === 'error') throw error;
      const first = { ...start, seq: 0, atMs: 0 };
      const running = this.#runningOptions(id, { start, machine: this.machine, entries: [first] });
      const options = { ...running, onEntry, mayPark, reuse: reuse && reusedCalls(reuse) };
      const actor = new RunningActor<Machine>({ system }, [], writer, options);
      const stored = actor.store(events);
      if (!isPaused) actor.begin(system.effects);
      return { actor, stored };
    } catch (error) {
      this.#cleanups.set(id, this.#removeFailed(id, writer));
      throw error;
    }
  }

  /**
   * Closes the writer and deletes the journal of an actor whose first step failed. Keeps the journal if it may belong to another process: the
   * writer has failed (the id may be taken), or the store has `has`, and so stores nothing without entries.
   */
  async #removeFailed(id: string, writer: JournalWriter): Promise<void> {
    const { journals } = this;
    try {
      await writer.close();
      if (journals.has === undefined && writer.failure === null) await journals.delete?.(id);
    } catch {
      // The error of the first step is reported.
    }
    this.#cleanups.delete(id);
  }

  async #resume(
    id: string,
    entries: readonly DurableEntry[],
    writer: JournalWriter,
    options: ResumeOptions & Pick<OpenedJournal, 'hasMail'>,
    reuse?: ReusedCalls,
  ): Promise<RunningActor<Machine>> {
    try {
      const replayed = await this.#latest(id, entries);
      requireSame(id, replayed.divergence);
      const latest = await this.#migrated(id, replayed).catch((error: Error) => {
        this.#log(`${error.message}. It continues on the earlier version.`);
        return replayed;
      });
      return await this.#continue(latest, writer, { ...this.#runningOptions(id, latest), ...options, reuse });
    } catch (error) {
      await writer.close();
      throw error;
    }
  }

  async #continue(
    replayed: ReplayedSystem,
    writer: JournalWriter,
    {
      isPaused = false,
      isForOneEvent = false,
      hasMail = false,
      ...options
    }: RunningActorOptions & Pick<ResumeOptions, 'isPaused' | 'isForOneEvent'> & Pick<OpenedJournal, 'hasMail'>,
  ): Promise<RunningActor<Machine>> {
    const { entries, unstored, changedAtMs } = replayed;
    const actor = new RunningActor<Machine>(replayed, entries, writer, options);
    const machine = machineNow(replayed);
    const isChanged = changedAtMs !== undefined;
    const { openEffects, effects } = replayed.system;
    const isOther = machine !== lastMachineIn(entries) && !unstored.some(({ type }) => type === 'migrated');
    const resumedAt = new Date(this.#clock.now()).toISOString();
    const resumed: DurableEvent = { type: 'resumed', resumedAt, ...(isOther && { machine }) };
    // First: the delays of a step that the last process did not store begin now.
    const isOver = hasEnded([...entries, ...unstored]) && !isChanged;
    const mayDefer = isForOneEvent && unstored.length === 0 && Object(entries.at(-1)).waiting !== undefined;
    await actor.store(isOver ? unstored : [resumed, ...unstored], changedAtMs ?? replayed.beginsAtMs, mayDefer);
    if (isPaused) return actor;
    // Before its calls start; the message is removed later.
    if (hasMail && (await this.#shouldStop(actor.id, entries))) actor.stop().catch(() => {});
    actor.begin(isChanged ? [...new Set([...openEffects.values(), ...effects])] : undefined);
    return actor;
  }

  /** Whether a message stops an actor before any other event, or before its first step. */
  async #shouldStop(id: string, entries: readonly DurableEntry[]): Promise<boolean> {
    const messages = (await this.journals.mail?.read(id)) ?? [];
    const isNew = !isPartial(entries) && !entries.some(({ type }) => type === 'resumed');
    return messages.find(({ type }) => type === 'stop' || (type === 'event' && !isNew))?.type === 'stop';
  }

  /** Replays a journal from a keyframe if this build wrote it and it leads to the next one; otherwise from the start. */
  async #latest(id: string, entries: readonly DurableEntry[]): Promise<ReplayedSystem> {
    if (!isPartial(entries)) return await this.#replayed(id, entries, isSameButKeyframes);
    try {
      const recorded = machineIn(entries);
      // Another version with the same states has the same digest.
      const isKnown = recorded === startOf(entries).machine || !this.#isMissing(recorded);
      if (isKnown && isSameBuild(entries, this.#machineOf(entries))) {
        const continued = await this.#replayed(id, entries);
        if (continued.divergence === null) return continued;
        continued.system.close();
      }
    } catch {
      // Replaying the whole journal reports the cause.
    }
    const all = await entriesOf(this.journals.read(id));
    // `entries` may end with one that is not stored yet.
    return this.#replayed(id, [...all, ...entries.filter(({ seq }) => seq >= all.length)], isSameButKeyframes);
  }

  /** Replays a journal on the version of the machine that recorded it, or else on the current one. */
  async #replayed(id: string, all: readonly DurableEntry[], isSame?: SameEntry): Promise<ReplayedSystem> {
    const hasMoved = this.#readOptions.fromKeyframe && all.some(({ type }) => type === 'migrated');
    const entries = hasMoved ? (await import('./lazy-parts.ts')).withoutMissingVersions(all, this.#isMissing) : all;
    const machine = this.#machineOf(entries, id);
    return await withPauses(replaySteps(entries, this.#parts(id, machine), isSame));
  }

  /** Continues an actor on the current version of the machine, if `migrate` says how. Rejects with the reason if that fails. */
  async #migrated(id: string, replayed: ReplayedSystem): Promise<ReplayedSystem> {
    const { machine, divergence } = replayed;
    const rule = this.#options.migrate?.[machine.version ?? ''];
    if (rule === undefined || machine === this.machine || divergence !== null) return replayed;
    const { migratedSystem } = await import('./lazy-parts.ts');
    return migratedSystem(id, replayed, rule, this.#parts(id, this.machine), this.#runningOptions(id, replayed));
  }

  /** Returns the machine that recorded the first of these entries. Throws `invalid_journal` for an actor of another machine. */
  #machineOf(entries: readonly DurableEntry[], id = startOf(entries).actorId): AnyStateMachine {
    const recorded = machineIn(entries);
    if (recorded.id !== this.machine.id)
      throw new PostChainError(
        'invalid_journal',
        `actor ${id}: expected an actor of the machine "${this.machine.id}"; received one of "${recorded.id}". Open it with its own machine.`,
      );
    return entries[1]?.type === 'migrated' ? this.#migratedVersion(id, recorded) : this.#versionOf(recorded);
  }

  readonly #isMissing = ({ version }: RecordedMachine): boolean =>
    version !== (this.machine.version ?? null) && this.#options.versions?.[version ?? ''] === undefined;

  #versionOf(recorded: RecordedMachine): AnyStateMachine {
    return versionFor(recorded, this.machine, this.#options.versions);
  }

  /** Throws `diverged` if this process does not have the version to which an actor was migrated: its code may be older. */
  #migratedVersion(id: string, recorded: RecordedMachine): AnyStateMachine {
    if (!this.#isMissing(recorded)) return this.#versionOf(recorded);
    throw new PostChainError(
      'diverged',
      `actor ${id}: it was migrated to version "${recorded.version}", which this process lacks. Add it to "versions".`,
    );
  }

  #parts(actorId: string, machine: AnyStateMachine): SystemParts {
    return {
      machine,
      versionOf: (recorded) => this.#migratedVersion(actorId, recorded),
      actorId,
      codec: this.#codec,
      describeCall: (source, input) =>
        this.#described('describeCall', (options) => options.describeCall?.(source, input)),
      describeEnd: (snapshot) => this.#described('describeEnd', (options) => options.describeEnd?.(snapshot)),
      journals: this.journals,
      post: inTurn(async (event: PostedEvent) => (await import('./lazy-parts.ts')).postEvent(event, this.journals)),
      logger: this.#log,
      ...(this.#timeWithoutProcess === 'counts' && { nowMs: this.#clock.now() }),
    };
  }

  // biome-ignore lint/suspicious/noConsole: as in XState, the console is the default
  readonly #log = (...args: unknown[]): void => (this.#options.logger ?? console.log)(...args);

  /** Returns null if the user's code throws or returns anything but JSON: a description must not end an actor. */
  #described(name: string, describe: (options: DurableMachineOptions) => Json | undefined): Json {
    try {
      return copyOfJson(describe(this.#options) ?? null, name);
    } catch (error) {
      this.#log(`${name} failed; its result is not stored:`, error);
      return null;
    }
  }

  #runningOptions(
    id: string,
    { start, machine, entries }: Pick<ReplayedSystem, 'start' | 'machine' | 'entries'>,
  ): RunningActorOptions {
    const recorded = machineNow({ machine, entries });
    return {
      id,
      codec: this.#codec,
      clock: this.#clock,
      clockStartMs: clockStartOf(start),
      doesTimeCount: this.#timeWithoutProcess === 'counts',
      counts: this.#counts,
      parkAfterMs: this.#options.parkAfterMs ?? Number.POSITIVE_INFINITY,
      describeWait: (snapshot) => this.#described('describeWait', (options) => options.describeWait?.(snapshot)),
      // Those of another version stay as they were: its context may differ.
      describeAttributes: (snapshot) => (machine === this.machine ? this.#describeAttributes(snapshot) : null),
      logger: this.#log,
      keepsKeyframes: this.#readOptions.fromKeyframe && isSameMachine(recorded, machine),
      runtime: otherRuntime(start),
      machine: recorded.version === start.machine.version ? undefined : recorded,
    };
  }

  readonly #describeAttributes = (snapshot: AnyMachineSnapshot): Attributes | null =>
    this.#described('describeAttributes', (options) =>
      requireFlat(options.describeAttributes?.(snapshot)),
    ) as Attributes | null;

  get #timeWithoutProcess() {
    return this.#options.timeWithoutProcess ?? 'counts';
  }

  readonly #counts = (event: string): boolean => {
    const rule = this.#timeWithoutProcess;
    return (typeof rule === 'string' ? rule : rule(event)) === 'counts';
  };

  /** If only some delays count, every pause of a delay must be known. */
  get #readOptions() {
    return { fromKeyframe: typeof this.#timeWithoutProcess === 'string' };
  }

  async #read(id: string): Promise<readonly DurableEntry[]> {
    requireId(id);
    const actor = await this.#open.get(id);
    return actor === undefined || isPartial(actor.entries) ? entriesOf(this.journals.read(id)) : actor.entries;
  }

  /** For an actor that was killed, or closed while something was in progress. */
  async #crashes(id: string, lastSeq: number): Promise<number> {
    const known = this.#crashCounts.get(id);
    if (known?.lastSeq === lastSeq) return known.crashes;
    const crashes = crashesIn(await entriesOf(this.journals.read(id, this.#readOptions)));
    this.#crashCounts.set(id, { lastSeq, crashes });
    return crashes;
  }
}

/** Closes an actor when it only waits, unless it is kept open. Rejects with its failure. */
async function whenIdle(
  actor: Pick<RunningActor<AnyStateMachine>, 'closeWhenIdle' | 'isKept' | 'closed' | 'failure'> | null,
): Promise<void> {
  await actor?.closeWhenIdle();
  if (actor?.isKept === false) await actor.closed;
  if (actor && actor.failure !== null) throw actor.failure;
}

/** Returns the machine of an actor as its journal records it if the version is the same, otherwise as a new journal would. */
function machineNow({ machine, entries }: Pick<ReplayedSystem, 'machine' | 'entries'>): RecordedMachine {
  const recorded = lastMachineIn(entries);
  return recorded.version === (machine.version ?? null) ? recorded : recordedMachine(machine);
}

function ended<Machine extends AnyStateMachine>(replayed: ReplayedSystem): ActorReplay<Machine> {
  const { system, divergence, zeroMs, entries } = replayed;
  const from = isPartial(entries) ? (entries[1]?.seq ?? 0) : 0;
  const snapshot = system.root.getSnapshot() as SnapshotFrom<Machine>;
  const pending = pendingOf(system, (ms) => zeroMs + ms);
  system.close();
  return { divergence, from, version: machineNow(replayed).version, migration: null, snapshot, pending };
}

/**
 * Keeps an actor open. Resolves to false when the actor has been closed: it has to be opened again. Rejects with its failure: opening it again
 * would repeat its calls.
 */
async function kept(actor: Pick<RunningActor<AnyStateMachine>, 'keepOpen' | 'closed' | 'failure'>): Promise<boolean> {
  if (actor.keepOpen()) return true;
  await actor.closed;
  if (actor.failure !== null) throw actor.failure;
  return false;
}

/** Calls `act` when its last call has settled: the store must get messages in the order in which they were sent. */
function inTurn<Given>(act: (given: Given) => Promise<void>): typeof act {
  let last = Promise.resolve();
  return (given) => {
    const next = last.then(() => act(given));
    last = next.catch(() => {});
    return next;
  };
}

const nothingPending: Pending = { activities: [], effects: [], timers: [], events: [], approvals: [] };

/** How many actors `wake` takes out of the queue before it continues them. */
const CLAIMED_AT_ONCE = 10;

/** The codes of a store whose journal may be opened instead of created. */
const MAY_EXIST: readonly string[] = ['journal_exists', 'journal_held', 'invalid_journal'];

/** Returns the children that an entry names, by the ids of their journals. */
function childrenIn(entry: DurableEntry): readonly string[] {
  if (entry.type === 'keyframe') return Object.values(entry.state.children ?? {}).map(({ child }) => child);
  const { child } = Object(entry.type === 'effect' ? entry.subject : null) as { readonly child?: string };
  return child === undefined ? [] : [child];
}

/** Returns the first entry of a journal, null if it cannot be read, and the children that the actor has started. */
async function relativesIn(journal: AsyncIterable<DurableEntry>) {
  let start: Extract<DurableEntry, { type: 'start' }> | null = null;
  const children = new Set<string>();
  try {
    for await (const entry of journal) {
      if (entry.type === 'start') start = entry;
      for (const child of childrenIn(entry)) children.add(child);
    }
  } catch {
    // Deleting the journal reports that it does not exist. One that is damaged can be deleted.
  }
  return { start, children: [...children] };
}
