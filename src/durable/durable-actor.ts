import type {
  ActorRefFrom,
  AnyMachineSnapshot,
  AnyStateMachine,
  EventFromLogic,
  OutputFrom,
  SnapshotFrom,
} from 'xstate';
import { isThenable } from '../internal/async.ts';
import { describeValue } from '../internal/describe-value.ts';
import type { Activity, DurableActorSystem, Effect, EffectEnd, Timer } from './actor-system.ts';
import type { ApprovalGiven } from './approval.ts';
import { type Clock, takeTurnOf } from './clock.ts';
import { type ClockStart, clockStartFor, clockStartsIn } from './clock-starts.ts';
import { type Codec, copyOfJson, type Json } from './codec.ts';
import { inRealWorld } from './determinism.ts';
import { type DurableEntry, type DurableEvent, type ExternalEvent, isExternal } from './entries.ts';
import { PostChainError } from './error.ts';
import { guardedWriter } from './journals/guarded-writer.ts';
import type { JournalWriter } from './journals/journal-store.ts';
import { requireKnown } from './known-options.ts';
import { type Pending, pendingOf, receivedBy } from './pending.ts';
import type { ReplayedSystem } from './replay.ts';
import type { ReusedCalls } from './reused-calls.ts';

export interface SendOptions {
  /** An event with an id that was already sent, even by another process, is ignored. */
  readonly id?: string;
}

export interface ParkOptions {
  /** Whether to wait until no call and no effect is in progress; by default false. */
  readonly wait?: boolean;
}

/** A state machine's actor whose journal this process writes. */
export interface DurableActor<Machine extends AnyStateMachine> {
  readonly id: string;
  /** The XState actor. Events sent to it, or to any actor of its system, go through the journal. */
  readonly ref: ActorRefFrom<Machine>;
  getSnapshot(): SnapshotFrom<Machine>;
  /**
   * Resolves when the event is stored and processed: to true, or to false if it changed nothing, because its id is known or the actor has
   * ended. Rejects with `invalid_option` for anything but an object with a `type`, with `not_durable` if the event cannot be stored, with
   * `cancelled` if the actor is closed, with `journal_fenced` if another process has taken over the actor, and with `journal_failed` if the
   * journal cannot be written. An answer to an `approval` resolves to false if no such question is open.
   */
  send(event: EventFromLogic<Machine> | ApprovalGiven, options?: SendOptions): Promise<boolean>;
  readonly pending: Pending;
  /** The journal so far. If the actor continued from a keyframe, only the first entry and those since the keyframe. */
  readonly entries: readonly DurableEntry[];
  /** Starts an actor that was opened with `isPaused`; does nothing if it has started. Events that it received before are processed first. */
  begin(): void;
  /** Adds JSON to the journal that does not affect the machine. It is stored at once, or with the step in progress. Throws `not_durable` for anything else. */
  note(note: Json): void;
  /** Resolves to the machine's output. Rejects with its error, or with `cancelled` if the actor is stopped or closed. */
  readonly output: Promise<OutputFrom<Machine>>;
  /** Ends the actor, with the status `stopped`. */
  stop(): Promise<void>;
  /**
   * Closes the actor if it only waits for events and delays, so that it leaves memory: any process with the store can continue it.
   * Resolves to whether it did: to false if a call or an effect is in progress (see `pending`), or if the actor has ended. With `wait`, waits
   * until those in progress have ended.
   */
  park(options?: ParkOptions): Promise<boolean>;
  /** Releases the actor: its activities are aborted, its effects end, it leaves memory, and any process may open it again. */
  close(): Promise<void>;
}

export interface HostOptions {
  readonly id: string;
  readonly codec: Codec;
  readonly clock: Clock;
  /** When the actor's clock stood at 0, in milliseconds since the epoch. */
  readonly clockStartMs: number;
  /** Whether the actor's clock includes the time while no process holds the actor. */
  readonly doesTimeCount: boolean;
  /** Whether a delay includes it. */
  readonly counts: (event: string) => boolean;
  readonly parkAfterMs: number;
  /** Whether the actor may leave memory while it only waits. */
  readonly mayPark?: (() => boolean) | undefined;
  readonly describeWait: (snapshot: AnyMachineSnapshot) => Json;
  /** Whether this machine and runtime started the actor. If not, its keyframes would not be used. */
  readonly keepsKeyframes: boolean;
  /** Receives the entries from now on. */
  readonly onEntry?: ((entry: DurableEntry) => void) | undefined;
  readonly logger: (...args: unknown[]) => void;
  readonly reuse?: ReusedCalls | undefined;
}

/** The approximate length of an entry. A keyframe delays the next one by its own length in entries, so they at most double a journal. */
const ENTRY_CHARS = 100;

/** Longer waits are split, so that a timer that came due while the computer was suspended fires within a minute of waking up. */
const MAX_WAIT_MS = 60_000;

/** Shorter pauses before the start are not recorded. After a crash, deadlines for users end earlier by that time. */
const RECORDED_PAUSE_MS = 1_000;

/** An external event, a note of a reused call, or effects that have ended after the events that they sent. */
interface Item {
  /** When it arrived. */
  readonly atMs: number;
  readonly event: ExternalEvent | Extract<DurableEvent, { type: 'note' }> | EffectEnd;
  /** Whether its receiver still waits for it. */
  readonly isOpen?: (() => boolean) | undefined;
  /** Of an event that a caller waits for. */
  readonly sender?: Sender | undefined;
}

interface Sender {
  readonly resolve: (isAccepted: boolean) => void;
  readonly reject: (error: unknown) => void;
}

interface SettleOutput<Machine extends AnyStateMachine> {
  readonly resolve: (output: OutputFrom<Machine>) => void;
  readonly reject: (error: unknown) => void;
}

/** Runs an actor system: gives it one external event at a time, stores each step, and then starts the step's calls and effects. */
export class ActorHost<Machine extends AnyStateMachine> implements DurableActor<Machine> {
  readonly id: string;
  readonly entries: DurableEntry[];
  readonly output: Promise<OutputFrom<Machine>>;
  /** Whether the actor and all its effects had already ended when it was opened. */
  readonly hadEnded: boolean;
  /** Resolves when another process, or this one, can open the actor. */
  readonly closed: Promise<void>;
  readonly #system: DurableActorSystem;
  readonly #options: HostOptions;
  readonly #writer: JournalWriter<DurableEntry>;
  #inbox: Item[] = [];
  #openedAtMs: number;
  #offsetMs: number;
  /** For the timers of earlier processes. */
  readonly #clockStarts: readonly ClockStart[];
  readonly #firstOwnTimer: number;
  /** Since when it waits, in milliseconds since the epoch. */
  #sinceMs: number;
  /** Since when it only waits, by its clock; null if it does not. */
  #idleSinceMs: number | null = null;
  readonly #settleOutput: SettleOutput<Machine>;
  readonly #reportClosed: () => void;
  /** Entries that are not stored yet. */
  #unstored: DurableEntry[] = [];
  /** The number of entries until the next keyframe. */
  #untilKeyframe: number;
  #writing: Promise<void> | null = null;
  #atMs: number;
  #isBusy = true;
  #isBegun = false;
  #isInStep = false;
  #failure: PostChainError | null = null;
  /** Until its effects have ended, it only stores what they and its calls report; nothing new starts. */
  #isClosed = false;
  #isReleased = false;
  #timer: unknown;
  /** Effects that have not returned yet. */
  #runningEffects = 0;
  #closesWhenIdle = false;
  isKept = false;
  /** The timers below this number may fire. Those that start later wait for a turn of the event loop, as with `setTimeout`. */
  #firstUnarmed: number;
  #whenDrained: (() => void)[] = [];

  constructor(
    replayed: Pick<ReplayedSystem, 'system'> & Partial<Pick<ReplayedSystem, 'unstored'>>,
    entries: readonly DurableEntry[],
    writer: JournalWriter<DurableEntry>,
    options: HostOptions,
  ) {
    this.id = options.id;
    this.#options = options;
    this.#system = replayed.system;
    this.#writer = guardedWriter(writer);
    this.entries = [...entries];
    this.hadEnded = this.#system.openEffects.size === 0 && entries.some(({ type }) => type === 'end');
    const last = entries.findLastIndex(({ type }) => type === 'keyframe');
    const every = (options.keepsKeyframes && writer.keyframeEvery) || Number.POSITIVE_INFINITY;
    this.#untilKeyframe = every + entriesFor(entries[last]) - (entries.length - 1 - last);
    this.#firstUnarmed = entries.length === 0 ? 0 : this.#system.timerCount;
    this.#atMs = entries.at(-1)?.atMs ?? 0;
    this.#openedAtMs = options.clock.now();
    const elapsedMs = this.#openedAtMs - options.clockStartMs;
    // If the clock of an earlier process was ahead, only the time since the last process closed the actor counts.
    const awayMs = elapsedMs < this.#atMs ? Math.max(0, this.#openedAtMs - leftAtMs(entries)) : elapsedMs - this.#atMs;
    this.#offsetMs = this.#atMs + (options.doesTimeCount ? awayMs : 0);
    this.#clockStarts = clockStartsIn(entries, options.clockStartMs);
    const unstored = replayed.unstored?.find((event) => event.type === 'timer-start');
    this.#firstOwnTimer = unstored?.timer ?? this.#system.timerCount;
    this.#sinceMs = sinceIn(entries) ?? Math.floor(this.#openedAtMs);
    let settle: SettleOutput<Machine> | undefined;
    this.output = new Promise((resolve, reject) => {
      settle = { resolve, reject };
    });
    this.#settleOutput = settle as never;
    let report: (() => void) | undefined;
    this.closed = new Promise((resolve) => {
      report = resolve;
    });
    this.#reportClosed = report as never;
    // An output that nobody awaits must not be an unhandled rejection.
    this.output.catch(() => {});
    this.#system.owner = {
      record: (event) => this.#append(event),
      receive: (event, isOpen) => this.#push(event, isOpen),
      recorded: () => undefined,
      note: (note, activity) => {
        if (!this.#isReleased) this.#appendNote({ type: 'note', note, activity });
      },
    };
  }

  /** Stores the entries so far. Throws or rejects with the reason if the journal cannot be written. */
  store(unstored: readonly DurableEvent[]): void | Promise<void> {
    this.#atMs = this.#nowMs;
    for (const event of unstored) this.#append(event);
    const afterWrite = (): void => {
      if (this.#failure !== null) throw this.#failure;
    };
    const written = this.#write();
    return written === undefined ? afterWrite() : written.then(afterWrite);
  }

  /** Starts a new actor, executes open effects, starts the activities, and processes what arrives from now on. */
  begin(given: readonly Effect[] = [...this.#system.openEffects.values()]): void {
    if (this.#isBegun || this.#isClosed) return;
    this.#isBegun = true;
    // After the end of an actor, only the ends of its effects are recorded.
    if (!this.#options.doesTimeCount && !this.#hasEnded) {
      const nowMs = this.#options.clock.now();
      const wasPaused = nowMs - this.#openedAtMs >= RECORDED_PAUSE_MS;
      this.#openedAtMs = nowMs;
      this.#offsetMs = this.#atMs;
      if (wasPaused) this.#append({ type: 'resumed', resumedAt: new Date(nowMs).toISOString(), wasPaused: true });
    }
    const isNew = !this.#system.hasBegun;
    this.#isInStep = true;
    if (isNew) this.#system.begin();
    this.#isInStep = false;
    const effects = isNew ? this.#system.effects : given;
    const afterWrite = (): void => {
      this.#runEffects(effects);
      this.#continue();
    };
    const written = this.#write();
    if (written === undefined) afterWrite();
    else void written.then(afterWrite);
  }

  note(note: Json): void {
    // Notes are recorded until the end of the step that ends the actor.
    if (!this.#isClosed && (this.#isInStep || !this.#hasEnded))
      this.#appendNote({ type: 'note', note: copyOfJson(note, `note of ${this.id}`) });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get ref(): ActorRefFrom<Machine> {
    return this.#system.root as unknown as ActorRefFrom<Machine>;
  }

  getSnapshot(): SnapshotFrom<Machine> {
    return this.#system.root.getSnapshot();
  }

  get pending(): Pending {
    const atEpoch = (ms: number): number => Math.floor(this.#options.clock.now()) + ms - this.#nowMs;
    return pendingOf(this.#system, atEpoch, (timer) => this.#dueMsOf(timer));
  }

  async send(event: EventFromLogic<Machine> | ApprovalGiven, options: SendOptions = {}): Promise<boolean> {
    requireKnown('send', options);
    const { id } = options;
    requireEvent(event, this.id);
    requireEventId(id, this.id);
    const received = receivedBy(this.#system, event);
    if (received === null) return false;
    const { actor } = received;
    const stored = this.#options.codec.encode(received.event, `event for ${this.id}`);
    // Another answer may come first.
    const isOpen = (): boolean => receivedBy(this.#system, event)?.actor === actor;
    const ownId = id ?? this.#system.nextSendId();
    return this.#offer({ type: 'delivery', actor, event: stored, ...(ownId !== null && { id: ownId }) }, isOpen);
  }

  async stop(): Promise<void> {
    await this.#offer({ type: 'stopped' });
  }

  close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.#options.clock.clearTimeout(this.#timer);
      const waiting = this.#inbox;
      this.#inbox = waiting.filter(({ sender }) => sender === undefined);
      for (const { sender } of waiting)
        if (this.#failure === null && this.#hasEnded) sender?.resolve(false);
        else sender?.reject(this.#failure ?? closed(this.id));
    }
    // A step in progress is stored first, with what calls and effects have reported.
    if (this.#failure === null && this.#isBegun) this.#drain();
    else this.#release();
    return this.closed;
  }

  /** Settles the output, waits for effects, because they cannot be aborted, and then leaves the actor to other processes. */
  #release(): void {
    // If the last step could not be stored, it did not happen. A settled output does not change.
    if (this.#hasEnded && this.#failure === null) this.#settleWithEnd();
    else this.#settleOutput.reject(this.#failure ?? closed(this.id));
    if (this.#isReleased || (this.#runningEffects > 0 && this.#failure === null)) return;
    this.#isReleased = true;
    const last = this.#closedEvent();
    this.#system.close();
    for (const resolve of this.#whenDrained.splice(0)) resolve();
    if (last !== null) {
      this.#atMs = this.#nowMs;
      this.#append(last);
    }
    const written = this.#write();
    const closeWriter = async (): Promise<void> => {
      await this.#writer.close();
      this.#reportClosed();
    };
    if (written === undefined) void closeWriter();
    else void written.then(closeWriter);
  }

  async park(options: ParkOptions = {}): Promise<boolean> {
    requireKnown('park', options);
    const isInStep = (): boolean => this.#isBusy && this.#isBegun;
    // With a store that takes time, a step may be in progress.
    while (!this.#isReleased && (isInStep() || (options.wait && !this.#isClosed && !this.#mayPark)))
      await new Promise<void>((resolve) => this.#whenDrained.push(resolve));
    if (!this.#isClosed && !this.#mayPark) return false;
    await this.close();
    return this.#failure === null && !this.#hasEnded;
  }

  /**
   * Returns the last entry: when the actor was closed, from where its delays continue, and what it waits for. After a kill, delays continue
   * from the last stored entry.
   */
  #closedEvent(): DurableEvent | null {
    if (this.#failure !== null || !this.#isBegun || this.#hasEnded) return null;
    const { clock, counts, describeWait } = this.#options;
    const event = { type: 'closed', closedAt: new Date(clock.now()).toISOString() } as const;
    if (!this.#isWaiting) return event;
    const { timers, events, approvals } = this.pending;
    const due = timers.filter((timer) => counts(timer.event)).map(({ dueAtMs }) => dueAtMs);
    const dueAtMs = due.length === 0 ? null : Math.min(...due);
    const summary = describeWait(this.#system.root.getSnapshot());
    const waiting = { sinceMs: this.#sinceMs, dueAtMs, events, ...(approvals.length > 0 && { approvals }) };
    return { ...event, waiting, ...(summary !== null && { summary }) };
  }

  /** Whether it waits for events and delays, and for nothing else. */
  get #isWaiting(): boolean {
    const { activities, openEffects } = this.#system;
    const isAtRest = this.#inbox.length === 0 && activities.size === 0 && openEffects.size === 0;
    return !this.#isBusy && isAtRest && !this.#hasEnded && this.#runningEffects === 0 && this.#nextDueMs > this.#nowMs;
  }

  get #mayPark(): boolean {
    return this.#isWaiting && this.#options.mayPark?.() !== false;
  }

  get failure(): PostChainError | null {
    return this.#failure;
  }

  /** Closes the actor as soon as it only waits for events and delays. */
  async closeWhenIdle(): Promise<void> {
    if (this.#isClosed || this.isKept) return;
    this.#closesWhenIdle = true;
    return new Promise((resolve) => {
      this.#whenDrained.push(resolve);
      this.#drain();
    });
  }

  /** Returns false if the actor has been closed before its end: it has to be opened again. */
  keepOpen(): boolean {
    this.isKept = true;
    this.#closesWhenIdle = false;
    return !this.#isClosed || (this.#failure === null && this.#hasEnded);
  }

  get #hasEnded(): boolean {
    return this.#system.root.getSnapshot().status !== 'active';
  }

  get #nowMs(): number {
    const { clock } = this.#options;
    return Math.max(this.#atMs, Math.floor(clock.now() - this.#openedAtMs + this.#offsetMs));
  }

  /** Notes between two steps, such as streamed text, have their own time, and are stored at once: readers of the journal wait for them. */
  #appendNote(event: DurableEvent): void {
    if (!this.#isInStep) this.#atMs = this.#nowMs;
    this.#append(event);
    if (!this.#isInStep && !this.#isBusy) void this.#write();
  }

  #append(event: DurableEvent): void {
    const entry = { seq: (this.entries.at(-1)?.seq ?? -1) + 1, atMs: this.#atMs, ...event } as DurableEntry;
    this.entries.push(entry);
    this.#untilKeyframe -= 1;
    this.#unstored.push(entry);
    inRealWorld(() => this.#report(entry));
  }

  /** An observer must not change what the machine does. */
  #report(entry: DurableEntry): void {
    const { onEntry, logger } = this.#options;
    try {
      onEntry?.(entry);
    } catch (error) {
      logger(`actor ${this.id}: "onEntry" threw:`, error);
    }
  }

  #offer(event: ExternalEvent, isOpen?: () => boolean): Promise<boolean> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== null) reject(this.#failure);
      else if (this.#isClosed && this.#hasEnded) resolve(false);
      else if (this.#isClosed) reject(closed(this.id));
      else {
        this.#inbox.push({ event, atMs: this.#nowMs, isOpen, sender: { resolve, reject } });
        this.#drain();
      }
    });
  }

  #push(event: Item['event'], isOpen?: () => boolean): void {
    this.#inbox.push({ event, atMs: this.#nowMs, isOpen });
    // The clock shares the event loop between actors: what calls report waits for its turn.
    if (event.type === 'activity-event') takeTurnOf(this.#options.clock)(() => this.#drain());
    else this.#drain();
  }

  /** Processes what has arrived, and then starts activities: one that an event has stopped meanwhile does not start. */
  #drain(): void {
    if (this.#isBusy || this.#isReleased) return;
    this.#isBusy = true;
    do {
      for (let item = this.#nextItem(); item !== undefined; item = this.#nextItem()) {
        // Also between events that arrive faster than a store writes.
        this.#addKeyframeIfDue();
        const written = this.#process(item);
        if (written !== undefined) return void written.then(() => this.#continue());
        if (this.#isReleased) return;
      }
      if (!this.#hasEnded && !this.#isClosed) this.#system.release(this.#replaceCall);
    } while (this.#inbox.length > 0);
    this.#isBusy = false;
    if (this.#isClosed) return void this.#release();
    if (this.#hasEnded) return void this.#end();
    this.#addKeyframeIfDue();
    if (this.#closesWhenIdle && this.#mayPark) void this.close();
    else this.#setTimer();
    for (const resolve of this.#whenDrained.splice(0)) resolve();
  }

  /** Stores a keyframe, from which another process can continue. The larger it is, the later the next one follows. */
  #addKeyframeIfDue(): void {
    if (this.#untilKeyframe > 0 || !this.#system.isAtRest) return;
    const state = this.#system.keyframe();
    const keyframe = state && ({ type: 'keyframe', state } as const);
    if (keyframe !== null) this.#append(keyframe);
    this.#untilKeyframe = (this.#writer.keyframeEvery ?? 0) + entriesFor(keyframe);
    void this.#write();
  }

  /** Delivers the recorded events of a call instead of making it. */
  readonly #replaceCall = (activity: Activity): boolean => {
    const recorded = this.#options.reuse?.take(activity);
    if (recorded === undefined) return false;
    for (const event of recorded) this.#push(event);
    return true;
  };

  #continue(): void {
    this.#isBusy = false;
    this.#drain();
  }

  /** Timers that were due before an event come first, even if the event loop is late. */
  #nextItem(): Item | undefined {
    if (this.#hasEnded || this.#isClosed) return this.#inbox.shift();
    let first: { readonly number: number; readonly dueMs: number } | null = null;
    for (const timer of this.#system.timers.values()) {
      const dueMs = this.#dueMsOf(timer);
      if (first === null || dueMs < first.dueMs) first = { number: timer.number, dueMs };
    }
    const [next] = this.#inbox;
    const nowMs = this.#nowMs;
    if (first === null || first.dueMs > nowMs) return this.#inbox.shift();
    const isNext = next === undefined ? first.number < this.#firstUnarmed : first.dueMs < next.atMs;
    if (!isNext) return this.#inbox.shift();
    return { event: { type: 'timer', timer: first.number }, atMs: nowMs };
  }

  #process({ event, isOpen, sender }: Item): void | Promise<void> {
    this.#idleSinceMs = null;
    if (event.type === 'note') {
      this.#append(event);
      return;
    }
    if (event.type === 'effect-end') return this.#storeEffectsEnd(event);
    if (isOpen?.() === false || !this.#system.accepts(event)) return sender?.resolve(false);
    this.#atMs = this.#nowMs;
    this.#sinceMs = Math.floor(this.#options.clock.now());
    const last = this.entries.length;
    try {
      this.#isInStep = true;
      this.#system.apply(event, this.#atMs);
    } catch (error) {
      if (sender !== undefined && this.entries.length === last) return sender.reject(error);
      this.#fail(error);
      return sender?.reject(this.#failure);
    } finally {
      this.#isInStep = false;
    }
    const { effects } = this.#system;
    const afterWrite = (): void => {
      if (this.#failure !== null) {
        sender?.reject(this.#failure);
        return;
      }
      this.#runEffects(effects);
      sender?.resolve(true);
    };
    const written = this.#write();
    return written === undefined ? afterWrite() : written.then(afterWrite);
  }

  /** Closes the actor without the step in progress, because a codec threw. */
  #fail(error: unknown): void {
    this.entries.length -= this.#unstored.length;
    this.#unstored = [];
    const thrown = error instanceof Error ? error.message : describeValue(error);
    this.#failure = new PostChainError(
      'internal',
      `actor ${this.id}: a codec threw: ${thrown}. The step was not stored. Fix the codec, then open the actor again.`,
    );
    void this.close();
  }

  /** Writes the unstored entries. If that fails, the actor is closed: a step that is not stored did not happen. */
  #write(): void | Promise<void> {
    if (this.#writing !== null) return this.#writing.then(() => this.#write());
    const entries = this.#unstored;
    if (entries.length === 0) return;
    this.#unstored = [];
    const check = (): void => {
      const { failure, isFenced } = this.#writer;
      if (failure === null) return;
      this.#failure = new PostChainError(
        isFenced ? 'journal_fenced' : 'journal_failed',
        `actor ${this.id}: ${failure}`,
      );
      void this.close();
    };
    const written = this.#writer.write(entries);
    if (written === undefined) return check();
    this.#writing = written.then(() => {
      this.#writing = null;
      check();
    });
    return this.#writing;
  }

  #runEffects(effects: readonly Effect[]): void {
    // Effects that are stored but not executed are left to the next process that opens the actor.
    if (this.#isClosed) return;
    const ended: number[] = [];
    for (const { number, run, fail } of effects) {
      try {
        const result = run();
        if (isThenable(result)) this.#awaitEffect(number, fail, result);
        else if (number >= 0) ended.push(number);
      } catch (error) {
        if (number >= 0) ended.push(number);
        fail(error);
      }
    }
    this.#endEffects(ended);
  }

  #awaitEffect(number: number, fail: Effect['fail'], result: PromiseLike<unknown>): void {
    this.#runningEffects += 1;
    const end = (): void => {
      this.#runningEffects -= 1;
      this.#endEffects([number]);
      this.#drain();
    };
    result.then(end, (error: unknown) => {
      fail(error);
      end();
    });
  }

  /** Records that effects have ended, so that they are not executed again. */
  #endEffects(effects: readonly number[]): void {
    if (effects.length > 0 && !this.#isReleased) this.#push({ type: 'effect-end', effects });
  }

  #storeEffectsEnd(end: EffectEnd): void | Promise<void> {
    this.#append(this.#system.endEffects(end.effects));
    return this.#write();
  }

  /** Settles the output, and closes the actor when its effects have ended. */
  #end(): void {
    this.#settleWithEnd();
    if (this.#runningEffects === 0) void this.close();
  }

  #settleWithEnd(): void {
    const { status, output, error } = this.#system.root.getSnapshot() as ReturnType<AnyStateMachine['resolveState']>;
    if (status === 'done') this.#settleOutput.resolve(output as OutputFrom<Machine>);
    else this.#settleOutput.reject(status === 'error' ? error : stopped(this.id));
  }

  /** Waits until the next timer is due or the actor parks. */
  #setTimer(): void {
    const { clock } = this.#options;
    clock.clearTimeout(this.#timer);
    this.#idleSinceMs = this.#mayPark ? (this.#idleSinceMs ?? this.#nowMs) : null;
    const dueMs = Math.min(this.#nextDueMs, this.#parkMs);
    if (!Number.isFinite(dueMs)) return;
    const waitMs = Math.min(MAX_WAIT_MS, Math.max(0, dueMs - this.#nowMs));
    this.#timer = clock.setTimeout(() => {
      this.#firstUnarmed = this.#system.timerCount;
      this.#drain();
      if (this.#parkMs <= this.#nowMs) void this.park();
    }, waitMs);
  }

  get #parkMs(): number {
    return this.#idleSinceMs === null ? Number.POSITIVE_INFINITY : this.#idleSinceMs + this.#options.parkAfterMs;
  }

  get #nextDueMs(): number {
    let dueMs = Number.POSITIVE_INFINITY;
    for (const timer of this.#system.timers.values()) dueMs = Math.min(dueMs, this.#dueMsOf(timer));
    return dueMs;
  }

  /** When a timer is due by the actor's clock. The clock may leave out time without a process that counts for the timer. */
  #dueMsOf({ number, event, dueMs }: Timer): number {
    const { doesTimeCount, counts } = this.#options;
    if (doesTimeCount || number >= this.#firstOwnTimer || !counts(event)) return dueMs;
    return dueMs + clockStartFor(this.#clockStarts, number) - (this.#openedAtMs - this.#offsetMs);
  }
}

/** How many entries take as much room as a keyframe. */
const entriesFor = (keyframe: DurableEvent | null | undefined): number =>
  keyframe?.type === 'keyframe' ? JSON.stringify(keyframe.state).length / ENTRY_CHARS : 0;

/** Returns when the last process closed the actor or, if it was killed, resumed it, by its own clock. Infinity if neither is recorded. */
function leftAtMs(entries: readonly DurableEntry[]): number {
  const last = entries.findLast((entry) => entry.type === 'closed' || entry.type === 'resumed');
  if (last === undefined) return Number.POSITIVE_INFINITY;
  return Date.parse(last.type === 'closed' ? last.closedAt : last.resumedAt);
}

/** Returns since when an actor has only waited, if no event has arrived since it was closed; otherwise null. */
function sinceIn(entries: readonly DurableEntry[]): number | null {
  const last = entries.findLast((entry) => entry.type === 'closed' || isExternal(entry));
  return last?.type === 'closed' ? (last.waiting?.sinceMs ?? null) : null;
}

/** XState would end the actor with an error. */
export function requireEvent(event: unknown, id: string): void {
  const { type } = Object(event) as { type?: unknown };
  if (typeof type === 'string' && !type.startsWith('xstate.')) return;
  throw new PostChainError(
    'invalid_option',
    `event for ${id}: expected an object with a "type" that does not begin with "xstate."; received ${type === undefined ? describeValue(event) : `the type ${describeValue(type)}`}.`,
  );
}

/** Effects send events with ids that begin with "effect:": another one would replace theirs. Keyframes store all ids. */
function requireEventId(id: unknown, actorId: string): void {
  if (id === undefined || (typeof id === 'string' && /^(?!effect:).{1,200}$/su.test(id))) return;
  throw new PostChainError(
    'invalid_option',
    `id of an event for ${actorId}: expected 1 to 200 characters, not "effect:…"; received ${describeValue(id)}.`,
  );
}

const stopped = (id: string): PostChainError =>
  new PostChainError(
    'cancelled',
    `actor ${id} was stopped, so it has no output. Handle this error where you await "output".`,
  );

/** How often a call opens an actor that others close before the call is done. */
export const MAX_REOPENS = 100;

export const closed = (id: string): PostChainError =>
  new PostChainError('cancelled', `actor ${id} was closed before it ended. Open it again to await its output.`);
