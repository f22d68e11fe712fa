import type {
  ActorRefFrom,
  AnyMachineSnapshot,
  AnyStateMachine,
  EventFromLogic,
  OutputFrom,
  SnapshotFrom,
} from 'xstate';
import { PostChainError } from '../../machines/contracts/error.ts';
import { withResolvers } from '../internal/async.ts';
import { describeValue } from '../internal/describe-value.ts';
import { type Activity, type DurableActorSystem, type Effect, runEffect } from './actor-system.ts';
import type { ApprovalGiven } from './approval.ts';
import { requireEvent } from './checks.ts';
import { takeTurnOf } from './clock.ts';
import { type Codec, copyOfJson, type Json } from './codec.ts';
import { inRealWorld } from './determinism.ts';
import { type Attributes, type DurableEntry, type DurableEvent, type ExternalEvent, hasEnded } from './entries.ts';
import { Inbox, type Item, Sender, type StepListener } from './inbox.ts';
import type { JournalWriter } from './journals/journal-store.ts';
import type { Message } from './journals/mailbox.ts';
import { requireKnown } from './known-options.ts';
import { type Pending, pendingOf, receivedBy } from './pending.ts';
import type { ReplayedSystem } from './replay.ts';
import type { ReusedCalls } from './reused-calls.ts';
import { StepWriter, type StepWriterOptions } from './step-writer.ts';
import { Timekeeper, type TimekeeperOptions } from './timekeeper.ts';

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
  /** Ends the actor, with the status `stopped`. Resolves to false if it had ended. Rejects as `send` does. */
  stop(): Promise<boolean>;
  /**
   * Closes the actor if it only waits for events and delays, so that it leaves memory: any process with the store can continue it.
   * Resolves to whether it did: to false if a call or an effect is in progress (see `pending`), or if the actor has ended. With `wait`, waits
   * until those in progress have ended.
   */
  park(options?: ParkOptions): Promise<boolean>;
  /** Releases the actor: its activities are aborted, its effects end, it leaves memory, and any process may open it again. */
  close(): Promise<void>;
}

export interface RunningActorOptions extends TimekeeperOptions, StepWriterOptions {
  readonly codec: Codec;
  /** Whether the actor may leave memory while it only waits. */
  readonly mayPark?: (() => boolean) | undefined;
  readonly describeWait: (snapshot: AnyMachineSnapshot) => Json;
  /** Returns null to leave them as they are. */
  readonly describeAttributes: (snapshot: AnyMachineSnapshot) => Attributes | null;
  readonly reuse?: ReusedCalls | undefined;
}

/** Gives an actor system one external event at a time, stores the step, and only then starts its calls and effects. */
export class RunningActor<Machine extends AnyStateMachine> implements DurableActor<Machine> {
  readonly id: string;
  readonly ref: ActorRefFrom<Machine>;
  /** Whether the actor and all its effects had already ended when it was opened. */
  readonly hadEnded: boolean;
  readonly #system: DurableActorSystem;
  readonly #options: RunningActorOptions;
  readonly #inbox = new Inbox();
  readonly #writer: StepWriter;
  readonly #time: Timekeeper;
  readonly #output = withResolvers<OutputFrom<Machine>>();
  readonly output = this.#output.promise;
  readonly #closed = withResolvers<void>();
  /** Resolves when another process, or this one, can open the actor. */
  readonly closed = this.#closed.promise;
  #isBusy = true;
  #isBegun = false;
  /** Whether the entries of `store` are stored with the next step. */
  #defersWrite = false;
  #isInStep = false;
  /** Whether it was stopped before it began: then no timer fires, and effects run after that is stored. */
  #isStoppedFirst = false;
  readonly #delayedEffects: Effect[] = [];
  /** Until its effects have ended, it only stores what they and its calls report; nothing new starts. */
  isClosed = false;
  /** Whether messages waited for it when it was opened. */
  hasMail = false;
  #isReleased = false;
  /** Effects that have not returned yet. */
  #runningEffects = 0;
  #closesWhenIdle = false;
  isKept = false;
  #whenDrained: (() => void)[] = [];

  constructor(
    { system, unstored }: Pick<ReplayedSystem, 'system'> & Partial<Pick<ReplayedSystem, 'unstored'>>,
    entries: readonly DurableEntry[],
    writer: JournalWriter,
    options: RunningActorOptions,
  ) {
    this.id = options.id;
    this.#options = options;
    this.#system = system;
    this.ref = system.root as unknown as ActorRefFrom<Machine>;
    this.#writer = new StepWriter(entries, writer, options, () => void this.close());
    this.#time = new Timekeeper(
      system,
      entries,
      options,
      unstored?.find((event) => event.type === 'timer-start')?.timer,
    );
    this.hadEnded = system.openEffects.size === 0 && hasEnded([...entries, ...(unstored ?? [])]);
    system.owner = {
      record: (event) => this.#append(event),
      receive: (event, isOpen) => this.#push(event, isOpen),
      recorded: () => undefined,
      note: (note, activity) => {
        if (!this.#isReleased) this.#appendNote({ type: 'note', note, activity });
      },
      journal: this.entries,
    };
  }

  /**
   * Stores the entries so far, with the time of their step. Throws or rejects with the reason if the journal cannot be written. `mayDefer`: if
   * nothing happens before the next step, they are stored with it.
   */
  store(unstored: readonly DurableEvent[], atMs = this.#time.nowMs, mayDefer = false): void | Promise<void> {
    this.#time.atMs = atMs;
    for (const event of unstored) this.#append(event);
    this.#addAttributes();
    this.#defersWrite = mayDefer && this.#isIdle;
    if (this.#defersWrite) return;
    const afterWrite = (): void => {
      if (this.failure !== null) throw this.failure;
    };
    return after(this.#writer.write(), afterWrite);
  }

  /** Starts a new actor, executes open effects, starts the activities, and processes what arrives from now on. */
  begin(given: readonly Effect[] = [...this.#system.openEffects.values()]): void {
    if (this.#isBegun || this.isClosed) return;
    this.#isBegun = true;
    // After the end of an actor, only the ends of its effects are recorded.
    const resumedAt = this.#hasEnded ? null : this.#time.endPause();
    if (resumedAt !== null) this.#append({ type: 'resumed', resumedAt, wasPaused: true });
    const isNew = !this.#system.hasBegun;
    this.#isInStep = true;
    if (isNew) this.#system.begin();
    this.#isInStep = false;
    this.#addAttributes();
    const effects = isNew ? this.#system.effects : given;
    const afterWrite = (): void => {
      if (this.#isStoppedFirst && !this.#hasEnded) this.#delayedEffects.push(...effects);
      else this.#runEffects(effects);
      this.#continue();
    };
    void after(this.#defersWrite ? undefined : this.#writer.write(), afterWrite);
  }

  note(note: Json): void {
    // Notes are recorded until the end of the step that ends the actor.
    if (!this.isClosed && (this.#isInStep || !this.#hasEnded))
      this.#appendNote({ type: 'note', note: copyOfJson(note, `note of ${this.id}`) });
  }

  get entries(): readonly DurableEntry[] {
    return this.#writer.entries;
  }

  getSnapshot(): SnapshotFrom<Machine> {
    return this.#system.root.getSnapshot();
  }

  get pending(): Pending {
    return pendingOf(
      this.#system,
      (ms) => this.#time.atEpoch(ms),
      (timer) => this.#time.dueMsOf(timer),
    );
  }

  async send(
    event: EventFromLogic<Machine> | ApprovalGiven,
    options?: SendOptions,
    onStep?: StepListener,
  ): Promise<boolean> {
    if (options !== undefined) requireKnown('send', options);
    const id = options?.id;
    requireEvent(event, this.id);
    requireEventId(id, this.id);
    return this.#sendToReceiver(event, id, onStep);
  }

  /** Processes a message of the store. Rejects if it is not one that can be processed. */
  async receive(message: Message, waiting: ReadonlySet<string>): Promise<boolean> {
    if (message.type === 'wake') return false;
    if (message.type === 'stop') return this.stop();
    if (message.type === 'unreadable') throw new Error('it cannot be decoded; check the codec and its key');
    const { id, event, actor } = message;
    const decoded = this.#options.codec.decode(event) as EventFromLogic<Machine>;
    requireEvent(decoded, this.id);
    const gone = this.#system.idsGoneWith(message, waiting);
    const forgets = gone.length > 0 ? { forgets: gone } : {};
    if (actor === undefined) return this.#sendToReceiver(decoded, id, undefined, forgets);
    return this.#offer({ type: 'delivery', actor, event, id, ...forgets });
  }

  async #sendToReceiver(
    event: EventFromLogic<Machine> | ApprovalGiven,
    id?: string,
    onStep?: StepListener,
    forgets: { readonly forgets?: readonly string[] } = {},
  ): Promise<boolean> {
    const received = receivedBy(this.#system, event);
    if (received === null) return false;
    const { actor } = received;
    const stored = this.#options.codec.encode(received.event, `event for ${this.id}`);
    // Another answer may come first.
    const isOpen = (): boolean => receivedBy(this.#system, event)?.actor === actor;
    const ownId = id ?? this.#system.nextSendId();
    const delivery = { type: 'delivery', actor, event: stored, ...forgets } as const;
    return this.#offer(ownId === null ? delivery : { ...delivery, id: ownId }, isOpen, onStep);
  }

  async stop(): Promise<boolean> {
    this.#isStoppedFirst ||= !this.#isBegun;
    return this.#offer({ type: 'stopped' });
  }

  close(): Promise<void> {
    if (!this.isClosed) {
      this.isClosed = true;
      this.#time.stopWaiting();
      for (const sender of this.#inbox.takeSenders()) this.#refuse(sender);
    }
    // A step in progress is stored first, with what calls and effects have reported.
    if (this.failure === null && this.#isBegun) this.#drain();
    else this.#release();
    return this.closed;
  }

  /** Settles the output, waits for effects, because they cannot be aborted, and then leaves the actor to other processes. */
  #release(): void {
    // If the last step could not be stored, it did not happen. A settled output does not change.
    if (this.#hasEnded && this.failure === null) this.#settleWithEnd();
    else this.#output.reject(this.failure ?? closed(this.id));
    if (this.#isReleased || (this.#runningEffects > 0 && this.failure === null)) return;
    this.#isReleased = true;
    const last = this.#closedEvent();
    this.#system.close();
    for (const resolve of this.#whenDrained.splice(0)) resolve();
    if (last !== null) {
      this.#time.atMs = this.#time.nowMs;
      this.#append(last);
    }
    void this.#writer.close().then(this.#closed.resolve);
  }

  async park(options: ParkOptions = {}): Promise<boolean> {
    requireKnown('park', options);
    const isInStep = (): boolean => this.#isBusy && this.#isBegun;
    // With a store that takes time, a step may be in progress.
    while (!this.#isReleased && (isInStep() || (options.wait && !this.isClosed && !this.#mayPark)))
      await new Promise<void>((resolve) => this.#whenDrained.push(resolve));
    if (!this.isClosed && !this.#mayPark) return false;
    await this.close();
    return this.failure === null && !this.#hasEnded;
  }

  /**
   * Returns the last entry: when the actor was closed, from where its delays continue, and what it waits for. After a kill, delays continue
   * from the last stored entry.
   */
  #closedEvent(): DurableEvent | null {
    if (this.failure !== null || !this.#isBegun || this.#hasEnded) return null;
    const { clock, counts, describeWait, machine } = this.#options;
    const closedAt = new Date(clock.now()).toISOString();
    const event = { type: 'closed', closedAt, ...(machine && { machine }) } as const;
    if (this.#isBusy || !this.#isIdle) return event;
    const { timers, events, approvals } = this.pending;
    const due = timers.filter((timer) => counts(timer.event)).map(({ dueAtMs }) => dueAtMs);
    const dueAtMs = due.length === 0 ? null : Math.min(...due);
    const summary = describeWait(this.#system.root.getSnapshot());
    const waiting = { sinceMs: this.#time.sinceMs, dueAtMs, events, ...(approvals.length > 0 && { approvals }) };
    return { ...event, waiting, ...(summary !== null && { summary }) };
  }

  /** Whether it waits for events and delays, and for nothing else. */
  get #isIdle(): boolean {
    const { activities, openEffects } = this.#system;
    const isAtRest = this.#inbox.isEmpty && activities.size === 0 && openEffects.size === 0;
    return isAtRest && !this.#hasEnded && this.#runningEffects === 0 && this.#time.nextDueMs > this.#time.nowMs;
  }

  /** Whether it has ended, and no effect is left to execute. */
  get #isOver(): boolean {
    const { effects, openEffects } = this.#system;
    const hasEffects = this.#runningEffects + this.#delayedEffects.length + effects.length + openEffects.size > 0;
    return this.#hasEnded && !hasEffects && this.#inbox.isEmpty;
  }

  get #mayPark(): boolean {
    return !this.#isBusy && this.#isIdle && this.#options.mayPark?.() !== false;
  }

  /** Whether its state is stored: no step is in progress. */
  get isStored(): boolean {
    return !this.#isBusy && this.failure === null;
  }

  get failure(): PostChainError | null {
    return this.#writer.failure;
  }

  /** Closes the actor as soon as it only waits for events and delays. */
  async closeWhenIdle(): Promise<void> {
    if (this.isClosed || this.isKept) return;
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
    if (this.#defersWrite) void this.#writer.write();
    return !this.isClosed || (this.failure === null && this.#hasEnded);
  }

  get #hasEnded(): boolean {
    return this.#system.root.getSnapshot().status !== 'active';
  }

  /** Notes between two steps, such as streamed text, have their own time, and are stored at once: readers of the journal wait for them. */
  #appendNote(event: DurableEvent): void {
    if (!this.#isInStep) this.#time.atMs = this.#time.nowMs;
    this.#append(event);
    if (!this.#isInStep && !this.#isBusy) void this.#writer.write();
  }

  /** Before the end, which is the last entry of its step. */
  #addAttributes(isEnd = false): void {
    if (this.#hasEnded && !isEnd) return;
    const attributes = inRealWorld(() => this.#options.describeAttributes(this.#system.root.getSnapshot()));
    if (attributes !== null) this.#writer.addAttributes(attributes, this.#time.atMs);
  }

  #append(event: DurableEvent): void {
    if (event.type === 'end') this.#addAttributes(true);
    this.#writer.append(event, this.#time.atMs);
  }

  #offer(event: ExternalEvent, isOpen?: () => boolean, onStep?: StepListener): boolean | Promise<boolean> {
    const sender = new Sender(onStep);
    if (this.isClosed) this.#refuse(sender);
    else {
      this.#inbox.add({ event, atMs: this.#time.nowMs, isOpen, sender });
      this.#drain();
    }
    return sender.result();
  }

  /** An actor that is closed, or closes, processes no event of a caller. */
  #refuse(sender: Sender): void {
    if (this.failure === null && this.#hasEnded) sender.resolve(false);
    else sender.reject(this.failure ?? closed(this.id));
  }

  #push(event: Item['event'], isOpen?: () => boolean): void {
    this.#inbox.add({ event, atMs: this.#time.nowMs, isOpen });
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
        this.#writer.addKeyframeIfDue(this.#system, this.#time.atMs);
        const written = this.#process(item);
        if (written !== undefined) return void written.then(() => this.#continue());
        if (this.#isReleased) return;
      }
      if (!this.#hasEnded && !this.isClosed) this.#system.release(this.#replaceCall);
    } while (!this.#inbox.isEmpty);
    this.#isBusy = false;
    if (this.isClosed) return void this.#release();
    if (this.#hasEnded) return void this.#end();
    this.#writer.addKeyframeIfDue(this.#system, this.#time.atMs);
    if (this.#closesWhenIdle && this.#mayPark) void this.close();
    else this.#time.waitForNext(() => this.#mayPark, this.#wake);
    for (const resolve of this.#whenDrained.splice(0)) resolve();
  }

  readonly #wake = (): void => {
    this.#drain();
    if (this.#time.mustPark) void this.park();
  };

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

  #nextItem(): Omit<Item, 'atMs'> | undefined {
    const noTimer = this.#hasEnded || this.isClosed || this.#isStoppedFirst;
    const timer = noTimer ? undefined : this.#time.dueBefore(this.#inbox.nextAtMs);
    return timer === undefined ? this.#inbox.take() : { event: { type: 'timer', timer } };
  }

  #process({ event, isOpen, sender }: Omit<Item, 'atMs'>): void | Promise<void> {
    this.#time.endIdleness();
    if (event.type === 'note') return this.#append(event);
    if (event.type === 'effect-end') {
      this.#append(this.#system.endEffects(event.effects));
      return this.#writer.write();
    }
    if (isOpen?.() === false || !this.#system.accepts(event)) return sender?.resolve(false);
    const { sinceMs } = this.#time; // Kept if the event is ignored.
    this.#time.beginStep();
    const last = this.entries.length;
    try {
      this.#isInStep = true;
      this.#system.apply(event, this.#time.atMs);
      if (event.type === 'delivery' && this.entries.slice(last + 1).every(({ type }) => type === 'ignored'))
        this.#time.sinceMs = sinceMs;
      sender?.onStep?.(this.entries.slice(last));
    } catch (error) {
      if (sender !== undefined && this.entries.length === last) return sender.reject(error);
      this.#writer.dropStep(error);
      return sender?.reject(this.failure);
    } finally {
      this.#isInStep = false;
    }
    this.#addAttributes();
    const { effects } = this.#system;
    return after(this.#writer.write(this.#isOver), () => this.#afterStep(effects, sender));
  }

  #afterStep(effects: readonly Effect[], sender: Sender | undefined): void {
    if (this.failure === null) {
      this.#runEffects([...this.#delayedEffects.splice(0), ...effects]);
      sender?.resolve(true);
    } else sender?.reject(this.failure);
  }

  #runEffects(effects: readonly Effect[]): void {
    // Effects that are stored but not executed are left to the next process that opens the actor.
    if (effects.length === 0 || this.isClosed) return;
    const ended: number[] = [];
    for (const effect of effects) {
      const { number } = effect;
      const hasEnded = runEffect(effect, () => {
        this.#runningEffects -= 1;
        if (effect.isKept) return void this.close();
        this.#endEffects([number]);
        this.#drain();
      });
      if (!hasEnded) this.#runningEffects += 1;
      else if (number >= 0 && !effect.isKept) ended.push(number);
    }
    this.#endEffects(ended);
  }

  /** Records that effects have ended, so that they are not executed again. */
  #endEffects(effects: readonly number[]): void {
    if (effects.length > 0 && !this.#isReleased) this.#push({ type: 'effect-end', effects });
  }

  /** Settles the output, and closes the actor when its effects have ended. */
  #end(): void {
    this.#settleWithEnd();
    if (this.#runningEffects === 0) void this.close();
  }

  #settleWithEnd(): void {
    const { status, output, error } = this.#system.root.getSnapshot() as ReturnType<AnyStateMachine['resolveState']>;
    if (status === 'done') this.#output.resolve(output as OutputFrom<Machine>);
    else this.#output.reject(status === 'error' ? error : stopped(this.id));
  }
}

/** A store may write at once. */
const after = (written: void | Promise<void>, act: () => void): void | Promise<void> =>
  written === undefined ? act() : written.then(act);

/** Effects send events with ids that begin with "effect:": another one would replace theirs. Keyframes store all ids. */
export function requireEventId(id: unknown, actorId: string): void {
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
