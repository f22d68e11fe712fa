import type { AnyActorRef, AnyEventObject, AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import { PostChainError } from '../../machines/contracts/error.ts';
import { isThenable } from '../internal/async.ts';
import type { HostedActor, HostedLogic, Microstep, Scheduled, SystemHooks, XStatePort } from '../xstate/port.ts';
import { portOf } from '../xstate/ports.ts';
import { candidatesFor, ENTRY_EVENT, historyOf, isInside, isMachine } from '../xstate/states.ts';
import { approval } from './approval.ts';
import { type ChildParent, childLogicOf } from './child-process.ts';
import { type Codec, copyOfJson, inEarlierForm, isPlainText, type Json, type Rules } from './codec.ts';
import { createRandom, deterministically, inRealWorld, type Random } from './determinism.ts';
import { receiverOf } from './durable-ref.ts';
import {
  type ActorPath,
  type Annotation,
  type Candidate,
  type ChildEnded,
  childPath,
  type DerivedEvent,
  type DurableEntry,
  type DurableEvent,
  type ExternalEvent,
  type Keyframe,
  type MigratedEvent,
  markInline,
  type OpenApproval,
  type RecordedMachine,
  type StartEntry,
} from './entries.ts';
import { hasInlineGuard, labelOf, withRecordedGuards } from './guards.ts';
import { registerActivity, runKeyedEffect } from './hosted-call.ts';
import type { JournalStore } from './journals/journal-store.ts';
import type { Message } from './journals/mailbox.ts';
import { digestOf } from './machine-digest.ts';
import type { PostedEvent } from './post-event.ts';
import { type EvaluatedGuard, inStep, type Outcome, type StepLog } from './step-log.ts';

/** What the actor systems of a machine share, and the id of the actor. */
export interface SystemParts {
  readonly machine: AnyStateMachine;
  /** Returns the version of the machine that a journal names, for a replay of an actor that was migrated. */
  readonly versionOf?: (recorded: RecordedMachine) => AnyStateMachine;
  /** Identifies the actor in keys and messages. The first entry of a fork has the original actor's id, which the root keeps. */
  readonly actorId: string;
  readonly codec: Codec;
  /** Receives what the action `log` prints, once. */
  readonly logger: (...args: unknown[]) => void;
  /** Describes an activity, for readers of the journal. */
  readonly describeCall: (source: string, input: unknown) => Json;
  /** Summarizes how the actor ended. */
  readonly describeEnd: (snapshot: AnyMachineSnapshot) => Json;
  /** When a queued actor begins that has not begun yet, in milliseconds since the epoch; by default the time at which it was enqueued. */
  readonly nowMs?: number;
  /** Where the actor is stored; undefined if it is not in a store. */
  readonly journals?: JournalStore;
  /** Stores an event for another durable actor. Without it, none can be sent. */
  readonly post?: (event: PostedEvent) => Promise<void>;
}

/** Receives what happens in an actor system. The owner changes when a replay ends and the actor continues. */
export interface SystemOwner {
  record(event: ExternalEvent | DerivedEvent): void;
  /**
   * Receives the external events that arrive between steps: pass them to `apply`, one at a time, and leave out those whose receiver is gone
   * by then. Another actor may have taken its place.
   */
  receive(event: ExternalEvent, isOpen?: () => boolean): void;
  /** The recorded outcome of `recordOnce`, if this is a replay; undefined to call it. */
  recorded(name: string): Outcome | undefined;
  /** Receives the notes of activities. */
  note(note: Json, activity: number): void;
  /** The entries so far, in one list that grows. Absent if notes are not added to it at once. */
  readonly journal?: readonly DurableEntry[];
}

/** Returns an owner that only collects what a system does. */
export const collectIn = (events: DurableEvent[]): SystemOwner => ({
  record: (event) => void events.push(event),
  receive: () => {},
  recorded: () => undefined,
  note: () => {},
});

/** An actor that is not a machine, in progress: a promise, callback, observable or custom logic. */
export interface Activity {
  readonly number: number;
  readonly path: ActorPath;
  readonly actor: HostedActor;
  readonly source: string;
  readonly input: unknown;
  readonly subject: Json;
  readonly startedAtMs: number;
  isStarted: boolean;
  /** Whether it has thrown. It receives nothing more. */
  hasFailed: boolean;
  /** Whether recorded events stand in for it. */
  isReplaced: boolean;
  /** Whether an earlier process started it. */
  wasInterrupted: boolean;
  readonly start: () => void;
  /** Events for it since its last report. They are sent again after a restart. */
  readonly unanswered: (() => void)[];
  /** How many events came before those. */
  answered: number;
  /** How many events it has received. */
  received: number;
}

export interface Timer {
  readonly number: number;
  readonly path: ActorPath;
  readonly event: string;
  readonly dueMs: number;
  readonly scheduled: Scheduled | null;
  readonly fire: () => void;
}

export type EffectEnd = Extract<Annotation, { type: 'effect-end' }>;

export interface Effect {
  readonly number: number;
  readonly path: ActorPath;
  /** As its entry names it. */
  readonly action: string;
  readonly run: () => unknown;
  /** Reports that it has thrown: its actor ends with the error. */
  readonly fail: (error: unknown) => void;
  hasFailed: boolean;
  /** Whether it has failed after the end of its actor because a store could not be used: it is executed again later. */
  isKept: boolean;
}

interface PersistedChild {
  readonly snapshot: { readonly input?: unknown };
  readonly src: unknown;
  readonly systemId?: string;
  readonly registryKey?: string;
  readonly syncSnapshot?: boolean;
}

/** What XState stores of the child actors of a machine. */
interface PersistedChildren {
  readonly children: Readonly<Record<string, PersistedChild>>;
}

/** The codes of a store that cannot be used now. */
const UNUSABLE: readonly unknown[] = ['journal_failed', 'invalid_path'];

/** The maximum number of events that are kept for a source that never reports anything. */
const MOST_UNANSWERED = 1_000;

/** The beginning of the id of a message that is posted only once, by code that is not an effect. Users cannot choose such an id. */
export const POSTED_ONCE = 'effect:once:';

/** The id of a message names the actor that sent it, and the number of its effect. */
const SENT_BY = /^(.+:effect:)(\d+)$/su;

/** Events that XState's actors send each other. Custom code never sends them. */
const MACHINERY = /^xstate\.(done|error|snapshot)\./u;

/** Events with what a promise or an observable has thrown. */
const REJECTION = /^xstate\.(promise\.reject|observable\.error)$/u;

/**
 * An XState actor system that is a function of its input and of the external events applied to it, one at a time. While an event is
 * processed, nothing leaves the system: it collects activities and effects, which its owner starts when the step is stored. Everything that
 * reaches the system between steps (results, timers, sent events) is passed to `receive`.
 */
export class DurableActorSystem {
  readonly activities = new Map<number, Activity>();
  readonly timers = new Map<number, Timer>();
  /**
   * The root's timers that XState can still cancel, by id. If two have the same id, it knows only the later one, and neither after one of them
   * has fired or was canceled.
   */
  readonly #cancelable = new Map<string, number>();
  /** The effects that have not ended. */
  readonly openEffects = new Map<number, Effect>();
  /** The effects of the last step. */
  effects: Effect[] = [];
  /** The ids of the events that were sent and may be sent again: each counts once. */
  readonly sentIds = new Set<string>();
  /** Unique, even if the id was that of a deleted actor. */
  readonly identity: string;
  /** The beginning of the idempotency keys of its calls and effects. */
  readonly #keyPrefix: string;
  owner: SystemOwner;
  readonly #parts: SystemParts;
  readonly #xstate: XStatePort;
  readonly #rootId: string;
  readonly #input: unknown;
  readonly #startedAtMs: number;
  /** How many milliseconds after the clock of its original that of a fork started; 0 for others. */
  readonly forkedAfterMs: number;
  readonly #parent: ChildParent | undefined;
  readonly #random: Random;
  readonly #paths = new WeakMap<AnyActorRef, ActorPath>();
  readonly #actors = new Map<ActorPath, HostedActor>();
  /** The ids of the child processes, by the actor that waits for each. */
  readonly #children = new Map<ActorPath, string>();
  readonly #activityOf = new WeakMap<AnyActorRef, Activity>();
  readonly #log: StepLog;
  /** Why the actor has failed, and its summary: lists read only the last entry. */
  #end: Pick<EffectEnd, 'error' | 'summary'> = {};
  readonly #known = new WeakSet<object>();
  /** The context of each actor that was checked last. */
  readonly #checked = new WeakMap<HostedActor, unknown>();
  /** The actors that the step has changed. */
  readonly #touched = new Set<ActorPath>();
  #nextActivity = 0;
  /** How many timers were ever started. */
  timerCount = 0;
  #nextEffect = 0;
  #nextSession = 0;
  /** Whether an event is being processed, and no observer outside the system is being called. */
  #isInside = false;
  /** Whether an event is being processed. */
  #isProcessing = false;
  #isClosed = false;
  hasBegun = false;
  /** The type of the event that the step processes. */
  #externalType = '';
  #nowMs = 0;
  #root: HostedActor | null = null;
  /** The effect that is being executed, and how many events it has sent. */
  #sending: { readonly key: string; count: number } | null = null;
  #scheduling: Scheduled | null = null;

  /** Creates the actor of a journal's first entry, without starting it. */
  constructor(
    { actorId, input, seed, startedAt, forkedFrom, parent }: StartEntry,
    parts: SystemParts,
    owner: SystemOwner,
  ) {
    this.owner = owner;
    this.identity = identityOf(parts.actorId, { seed, startedAt, forkedFrom });
    this.#parent = parent;
    this.#keyPrefix = `${parts.actorId}:${digestOf(this.identity)}`;
    this.#parts = parts;
    this.#xstate = portOf(parts.machine);
    this.#rootId = actorId;
    this.#input = parts.codec.decode(input);
    this.#startedAtMs = Date.parse(startedAt);
    this.forkedAfterMs = Math.floor((forkedFrom?.clockStartMs ?? Number.NaN) - this.#startedAtMs) || 0;
    this.#random = createRandom(seed);
    this.#log = {
      evaluated: [],
      inputs: [],
      codec: parts.codec,
      recorded: (name) => this.owner.recorded(name),
      record: (name, { value, error }) => this.owner.record({ type: 'value', name, value, error }),
    };
  }

  get root(): AnyActorRef {
    if (this.#root === null) throw new PostChainError('internal', 'The actor system has not begun.');
    return this.#root.ref;
  }

  /** Creates the root actor: the first part of the first step. With `snapshot`, the actor continues from it. */
  create(snapshot?: object, atMs = 0): void {
    this.#act(atMs, () => {
      const { logger, machine } = this.#parts;
      const clock = { setTimeout: this.#startTimer, clearTimeout: (timer: number) => this.#forgetTimer(timer) };
      const root = this.#xstate.createRoot(withRecordedGuards(machine), {
        id: this.#rootId,
        input: this.#input,
        snapshot,
        clock,
        created: this.#adopt,
        stepped: this.#recordMicrostep,
        logger: (...args: unknown[]) => void this.#addEffect(-1, '', 'log', () => void logger(...args)),
      });
      // Without an observer of errors, XState throws them in a timeout.
      root.subscribe({ error: () => {} });
    });
  }

  /** The approvals that wait for their answers, by path. */
  get approvals(): ReadonlyMap<ActorPath, OpenApproval> {
    const open = [...this.#actors].filter(([, { logic, isRunning }]) => isRunning && (logic as unknown) === approval);
    return new Map(open.map(([path, { ref }]) => [path, ref.getSnapshot() as unknown as OpenApproval]));
  }

  /** Starts the root actor: the rest of the first step. */
  begin(atMs = 0): void {
    this.hasBegun = true;
    if (this.#root === null) this.create(undefined, atMs);
    this.#step(atMs, true, () => void this.root.start());
  }

  /** Whether nothing is in progress but the root actor, its timers and child processes. */
  get isAtRest(): boolean {
    if (this.#root === null || this.openEffects.size > 0 || !this.#isActive()) return false;
    const { children } = this.root.getSnapshot() as AnyMachineSnapshot;
    const ids = Object.keys(children);
    return this.#actors.size === ids.length + 1 && ids.every((id) => this.#children.has(childPath('', id)));
  }

  /** Whether it only waits for events, delays and answers to questions, which can be asked again. */
  get canMigrate(): boolean {
    if (this.openEffects.size > 0 || !this.#isActive()) return false;
    const invoked = this.#xstate
      .activeNodes(this.root.getSnapshot())
      .flatMap(({ invoke }) => invoke.map(({ id }) => id));
    const isQuestion = ({ logic, parent, ref }: HostedActor): boolean =>
      logic === (approval as unknown) && parent === this.root && invoked.includes(ref.id);
    return [...this.#actors.values()].every((actor) => actor === this.#root || isQuestion(actor));
  }

  /** Returns what `restore` takes; null if the actor is not at rest or its context cannot be restored exactly. */
  keyframe(isAtRest = this.isAtRest): Keyframe | null {
    if (!isAtRest) return null;
    const { codec } = this.#parts;
    const snapshot = this.root.getSnapshot() as AnyMachineSnapshot;
    const { value, context } = snapshot;
    const nodes = this.#xstate.activeNodes(snapshot).map(({ id }) => id);
    const timers = [...this.timers.values()];
    const isOwn = ({ number, scheduled }: Timer): boolean =>
      scheduled !== null &&
      scheduled.source === this.root &&
      scheduled.target === this.root &&
      (scheduled.id === undefined || this.#cancelable.get(scheduled.id) === number);
    const { stateInputs, ...versionState } = this.#xstate.versionState(snapshot);
    if (!timers.every(isOwn)) return null;
    try {
      // Together: an event may contain an object of the context.
      const events = [...new Set(timers.map(({ scheduled }) => scheduled?.event))];
      const exact = codec.encode({ context, events, stateInputs }, 'state', 'exact') as {
        readonly context: Json;
        readonly events: readonly Json[];
        readonly stateInputs: Json;
      };
      const children = this.#childKeyframes();
      return {
        snapshot: {
          value,
          nodes,
          context: exact.context,
          historyValue: historyOf(snapshot),
          ...versionState,
          ...(stateInputs !== undefined && { stateInputs: exact.stateInputs }),
        },
        timers: timers.map(({ number, dueMs, scheduled }) => ({
          timer: number,
          event: exact.events[events.indexOf(scheduled?.event)] as Json,
          id: scheduled?.id ?? null,
          dueMs,
        })),
        next: [this.#nextActivity, this.timerCount, this.#nextEffect, this.#nextSession],
        random: this.#random.state,
        sentIds: [...this.sentIds],
        ...(Object.keys(children).length > 0 && { children }),
      };
    } catch {
      // For example, a context with actors.
      return null;
    }
  }

  /** Returns the actors that wait for child processes, by id. */
  #childKeyframes(): NonNullable<Keyframe['children']> {
    if (this.#children.size === 0) return {};
    const { children } = this.root.getPersistedSnapshot() as unknown as PersistedChildren;
    const states = Object.entries(children).map(([id, { snapshot, src, systemId, registryKey, syncSnapshot }]) => {
      const [input, problem] = this.#encodeInput(snapshot.input, childPath('', id));
      // An inline actor has no name by which it could be restored.
      if (problem !== null || typeof src !== 'string') throw problem;
      const child = this.#children.get(childPath('', id)) ?? '';
      const names = {
        ...(systemId && { systemId }),
        ...(registryKey && { registryKey }),
        ...(syncSnapshot && { syncSnapshot: true as const }),
      };
      return [id, { src, input, ...names, child }] as const;
    });
    return Object.fromEntries(states);
  }

  /** Continues in a recorded state, instead of `begin`. Nothing is recorded. */
  restore(state: Keyframe): void {
    const { owner } = this;
    this.owner = { ...owner, record: () => {} };
    this.#restore(state);
    this.owner = owner;
  }

  /** Continues an actor of an earlier version of the machine in this state, and starts what the state starts. */
  migrate({ state, ended }: Pick<MigratedEvent, 'state' | 'ended'>, atMs: number): void {
    this.restore(state);
    const known = new Set([...ended, ...Array.from(this.timers.values(), ({ scheduled }) => scheduled?.id)]);
    this.#externalType = ENTRY_EVENT;
    this.#step(atMs, true, () => this.#xstate.startInvokesAndDelays(this.#root as HostedActor, (id) => known.has(id)));
  }

  #restore({ snapshot, timers, next, random, sentIds, children = {} }: Keyframe): void {
    const { codec } = this.#parts;
    for (const id of sentIds) this.sentIds.add(id);
    this.hasBegun = true;
    const { value, nodes, context, stateInputs, ...rest } = snapshot;
    const inputs = stateInputs === undefined ? {} : { stateInputs: codec.decode(stateInputs as Json) };
    for (const [id, { child }] of Object.entries(children)) this.#children.set(childPath('', id), child);
    const waiting = Object.entries(children).map(([id, { input, ...state }]) => {
      const inner = { status: 'active', output: undefined, error: undefined, input: codec.decode(input) };
      return [id, { ...state, snapshot: inner }];
    });
    this.create({ value, ...rest, ...inputs, status: 'active', context: {}, children: Object.fromEntries(waiting) });
    this.#xstate.continueExactly(this.root, nodes, codec.decode(context));
    this.#act(0, () => {
      this.root.start();
      for (const { timer, event, id, dueMs } of timers) {
        this.timerCount = timer;
        this.#xstate.scheduleOwn(this.root, codec.decode(event) as AnyEventObject, dueMs, id ?? undefined);
      }
    });
    [this.#nextActivity, this.timerCount, this.#nextEffect, this.#nextSession] = next;
    this.#random.state = random;
  }

  /** Whether an event still has a receiver, and no event with its id came before. */
  accepts(event: ExternalEvent): boolean {
    switch (event.type) {
      case 'delivery':
        return this.#actors.get(event.actor)?.isRunning === true && !(event.id && this.sentIds.has(event.id));
      case 'failed':
        return this.#actors.get(event.actor)?.isRunning === true;
      // A call of an actor that crashed may still be in progress when the system ends.
      case 'activity-event':
        return this.#isActive() && this.activities.has(event.activity);
      case 'timer':
        return this.#isActive() && this.timers.has(event.timer);
      case 'stopped':
        return this.#actors.get('')?.isRunning === true;
    }
  }

  /** Forgets effects that have ended. Returns the entry, with how the actor has ended if these were its last ones. */
  endEffects(effects: readonly number[]): EffectEnd {
    const { status } = this.root.getSnapshot();
    const failed = effects.filter((effect) => status === 'error' && this.openEffects.get(effect)?.hasFailed === true);
    this.forgetEffects({ effects, failed });
    const isLast = status !== 'active' && this.openEffects.size === 0;
    return {
      type: 'effect-end',
      effects,
      ...(failed.length > 0 && { failed }),
      ...(isLast && { status, ...this.#end }),
    };
  }

  /** Forgets effects that have ended, and the ids of the events that they sent, unless they may be executed again. */
  forgetEffects({ effects, failed = [] }: Pick<EffectEnd, 'effects' | 'failed'>): void {
    for (const effect of effects) {
      this.openEffects.delete(effect);
      if (failed.includes(effect)) continue;
      for (const id of this.sentIds) if (id.startsWith(`effect:${effect}:`)) this.sentIds.delete(id);
    }
  }

  /**
   * Returns the ids that no message can have from now on, after this message of a sender whose `oldest` effect is still open. A message that
   * waits comes again if it is not removed.
   */
  idsGoneWith({ id, oldest = -1 }: Pick<Message, 'id'> & { readonly oldest?: number }, waiting: ReadonlySet<string>) {
    const [, sender = ''] = SENT_BY.exec(id) ?? [];
    return [...this.sentIds].filter((known) => {
      const [, from, number] = SENT_BY.exec(known) ?? [];
      const isGone = known.startsWith(POSTED_ONCE) || (from === sender && Number(number) < oldest);
      return isGone && !waiting.has(known);
    });
  }

  #isActive(): boolean {
    return this.root.getSnapshot().status === 'active';
  }

  /** Records and processes an external event that `accepts` has accepted. */
  apply(event: ExternalEvent, atMs: number): void {
    const { codec } = this.#parts;
    // Before it is recorded: what cannot be decoded would end every replay.
    const decoded = 'event' in event ? (codec.decode(event.event) as AnyEventObject) : null;
    this.#step(atMs, this.#isActive(), () => {
      this.owner.record(event);
      this.#externalType = this.#typeOf(event);
      switch (event.type) {
        case 'delivery':
          for (const id of event.forgets ?? []) this.sentIds.delete(id);
          // An actor that waits for a child process ends with the first one.
          if (event.id !== undefined && this.#externalType !== 'child.ended') this.sentIds.add(event.id);
          return this.#deliver(this.#actors.get(event.actor), decoded, null);
        case 'activity-event': {
          const activity = this.activities.get(event.activity);
          if (activity !== undefined) forgetAnswered(activity, event.received ?? 0);
          return this.#deliver(this.#actors.get(event.actor), decoded, event.activity);
        }
        case 'timer': {
          const timer = this.timers.get(event.timer);
          this.#forgetTimer(event.timer);
          return timer?.fire();
        }
        case 'failed':
          this.#actors.get(event.actor)?.fail(codec.decode(event.error));
          // If the actor is retried, its effect is executed again: it is open in all of this step.
          if (event.effect !== undefined) this.openEffects.delete(event.effect);
          return;
        case 'stopped':
          return this.#actors.get('')?.stop();
      }
    });
  }

  /**
   * Starts activities that are not running, unless `replace` does, and sends sources their events. Call it when the step is stored.
   */
  release(replace: (activity: Activity) => boolean): void {
    for (const activity of [...this.activities.values()]) {
      if (activity.isReplaced) continue;
      if (!activity.isStarted) {
        activity.isReplaced = replace(activity);
        if (activity.isReplaced) continue;
        activity.isStarted = true;
        this.#attempt(activity, activity.start);
      }
      feed(activity);
    }
  }

  /** Sends the sources that are running their events. */
  feed(): void {
    for (const activity of [...this.activities.values()]) if (activity.isStarted) feed(activity);
  }

  /** Calls custom code of an activity. If it throws, its actor fails, in the next step. */
  #attempt<Result>(activity: Activity, act: () => Result): Result | undefined {
    try {
      return act();
    } catch (error) {
      activity.hasFailed = true;
      this.#fail(activity.path, activity.actor, error);
      return undefined;
    }
  }

  /** Reports that custom code of an actor has thrown. */
  #fail(path: ActorPath, actor: HostedActor | undefined, error: unknown, effect = -1): void {
    const isOpen = (): boolean => actor !== undefined && this.#actors.get(path) === actor;
    if (this.#isClosed || !isOpen()) return;
    const failed = { type: 'failed', actor: path, error: this.#encodeError(path, error, 'thrown') } as const;
    this.owner.receive({ ...failed, ...(effect >= 0 && { effect }) }, isOpen);
  }

  /** Aborts the activities and ignores everything from now on. Nothing is recorded. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const { actor, isStarted } of this.activities.values()) if (isStarted) actor.stop();
    this.activities.clear();
    this.timers.clear();
    this.effects = [];
  }

  /** Whether, in this step, an event of this type comes from a machine of the system. */
  #isMessage(type: string): boolean {
    return type !== this.#externalType && !type.startsWith('xstate.');
  }

  #typeOf(event: ExternalEvent): string {
    if (event.type === 'timer') return this.timers.get(event.timer)?.event ?? '';
    return 'event' in event ? (event.event as { readonly type: string }).type : '';
  }

  #act(atMs: number, act: () => void): void {
    this.#nowMs = atMs;
    this.effects = [];
    this.#log.evaluated = [];
    this.#isInside = true;
    this.#isProcessing = true;
    try {
      deterministically(this.#startedAtMs + atMs, this.#random, () => inStep(this.#log, act));
    } finally {
      this.#isInside = false;
      this.#isProcessing = false;
    }
  }

  #step(atMs: number, wasActive: boolean, act: () => void): void {
    this.#act(atMs, () => {
      act();
      this.#checkContexts();
    });
    if (!wasActive || this.root.getSnapshot().status === 'active') return;
    const output = this.#encodeOutput();
    const { status, error } = this.root.getSnapshot() as { status: 'done' | 'error' | 'stopped'; error?: unknown };
    const failure = status === 'error' ? this.#encodeError('', error, 'derived') : null;
    if (this.#parent !== undefined) this.#reportTo(this.#parent, { status, output, error: failure });
    const openEffects = this.openEffects.size;
    const summary = this.#parts.describeEnd(this.root.getSnapshot());
    this.#end = { ...(failure !== null && { error: failure }), ...(summary !== null && { summary }) };
    this.owner.record({
      type: 'end',
      status,
      output,
      error: failure,
      ...(summary !== null && { summary }),
      ...(openEffects > 0 && { openEffects }),
    });
  }

  /** A context that cannot be stored ends its actor with an error, because it could not be restored either. */
  #checkContexts(): void {
    for (const path of this.#touched) {
      const actor = this.#actors.get(path);
      if (actor === undefined) continue;
      // Its parent has thrown before it could start it, for example because the `systemId` of another child is taken.
      if (path !== '' && !actor.hasStarted) {
        this.#forget(actor.ref);
        continue;
      }
      const { context, status } = actor.ref.getSnapshot() as { context?: unknown; status: string };
      if (status === 'active' && isMachine(actor.logic)) {
        try {
          this.#parts.codec.check(context, `context of ${this.#nameOf(path)}`, this.#known, this.#checked.get(actor));
          this.#checked.set(actor, context);
        } catch (error) {
          actor.fail(error);
        }
      }
    }
    this.#touched.clear();
  }

  /** An output that cannot be stored ends the actor with an error. */
  #encodeOutput(): Json {
    const { output } = this.root.getSnapshot() as { output?: unknown };
    try {
      return output === undefined ? null : this.#parts.codec.encode(output, `output of ${this.#nameOf('')}`, 'derived');
    } catch (error) {
      this.#root?.fail(error);
      return null;
    }
  }

  #encodeError(path: ActorPath, error: unknown, rules: Rules): Json {
    const { codec } = this.#parts;
    try {
      return codec.encode(errorOf(error), `error of ${this.#nameOf(path)}`, rules);
    } catch (problem) {
      return codec.encode(problem, 'error');
    }
  }

  #nameOf(path: ActorPath): string {
    return `${this.#parts.actorId}${path}`;
  }

  /** Takes over an actor at its creation, before it computes its initial state. */
  readonly #adopt = (ref: AnyActorRef): void => {
    const isRoot = this.#root === null;
    const session = this.#nextSession;
    this.#nextSession += 1;
    const actor = this.#xstate.host(ref, {
      isRoot,
      // Inspectors tell systems apart by it. The ids of actors without one are those of their creation, which forks share.
      sessionId: `${this.#parts.actorId}/x:${session}`,
      nextSessionId: () => `x:${this.#nextSession}`,
      relay: this.#relay,
      schedule: (scheduled) => {
        this.#scheduling = scheduled;
      },
      unregister: (ended) => this.#forget(ended),
      stop: () => this.owner.receive({ type: 'stopped' }),
      outside: (act) => this.#outside(act),
      reportInspector: (error) =>
        this.#outside(() => this.#parts.logger(`${this.#rootId}: an inspector failed:`, error)),
    });
    if (isRoot) this.#root = actor;
    const path = isRoot ? '' : this.#freePath(childPath(this.#pathOf(actor.parent), ref.id));
    this.#paths.set(ref, path);
    this.#actors.set(path, actor);
    this.#touched.add(path);
    if (isMachine(actor.logic)) {
      actor.logic = withRecordedGuards(actor.logic);
      actor.onAction((action, run, isNamed) =>
        this.#recordEffect(path, action, (key) => runKeyedEffect(ref, key, () => run(key)), isNamed),
      );
      actor.onEmit((event) =>
        this.owner.record({
          type: 'emitted',
          actor: path,
          event: this.#parts.codec.encode(event, `emitted ${event.type}`, 'derived'),
        }),
      );
      return;
    }
    const wrap = childLogicOf(actor.logic);
    if (wrap !== undefined)
      actor.logic = Object.assign(
        {},
        actor.logic,
        wrap({
          parent: { actorId: this.#parts.actorId, actor: path },
          child: this.#children.get(path),
          identity: this.identity,
          sourceName: actor.sourceName,
          codec: this.#parts.codec,
          journals: this.#parts.journals,
          isRunning: () => actor.isRunning,
          nextEffect: () => this.#nextEffect,
          encodeInput: (input) => this.#encodeInput(input, path),
          record: (action, run, child) => {
            if (action.startsWith('start ')) this.#children.set(path, child);
            this.#recordEffect(path, action, run, true, { child });
          },
          post: (to, event, isReady) => this.#recordPost(path, to, event, isReady),
        }),
      );
    else if (actor.logic.start !== undefined) this.#wrapActivity(actor, path);
  };

  /** Records that the result of a child process is sent to its parent. */
  #reportTo({ actorId: to, actor }: ChildParent, end: Pick<ChildEnded, 'status' | 'output' | 'error'>): void {
    const event = { type: 'child.ended', child: this.#parts.actorId, ...end };
    this.#recordPosted('', event.type, { to, actor, event, stored: event as Json });
  }

  /** XState allows two running actors with the same id. */
  #freePath(path: ActorPath): ActorPath {
    let free = path;
    for (let copy = 2; this.#actors.has(free); copy += 1) free = `${path}#${copy}`;
    return free;
  }

  #wrapActivity(actor: HostedActor, path: ActorPath): void {
    const { ref } = actor;
    const logic = actor.logic as HostedLogic;
    const { codec, describeCall } = this.#parts;
    const wrapped: HostedLogic = {
      ...logic,
      start: (snapshot, scope) => {
        const number = this.#nextActivity;
        this.#nextActivity += 1;
        const [input, problem] = this.#encodeInput(snapshot.input, path);
        const text = JSON.stringify(input);
        const isPlain = isPlainText(text);
        const source = actor.sourceName;
        const subject = describeCall(source, snapshot.input);
        this.owner.record({
          type: 'activity-start',
          activity: number,
          actor: path,
          source,
          inputDigest: digestOf(isPlain ? text : JSON.stringify(inEarlierForm(input))),
          ...(subject !== null && { subject }),
        });
        const activity: Activity = {
          number,
          path,
          actor,
          source,
          input: snapshot.input,
          subject,
          startedAtMs: this.#nowMs,
          isStarted: false,
          hasFailed: false,
          isReplaced: false,
          wasInterrupted: false,
          // A copy: a call that changes its input would change the context, and a restarted call gets the original.
          start() {
            if (problem !== null) throw problem;
            const own = isPlain ? input : codec.decode(input);
            logic.start?.(Object.assign(ref.getSnapshot(), { input: own }), scope);
          },
          unanswered: [],
          answered: 0,
          received: 0,
        };
        this.activities.set(number, activity);
        registerActivity(ref, {
          key: `${this.#keyPrefix}:activity:${number}`,
          wasInterrupted: () => activity.wasInterrupted,
          note: (text) => {
            if (this.activities.has(number)) this.owner.note(copyOfJson(text, `note of ${this.#nameOf(path)}`), number);
          },
          journal: () => this.owner.journal ?? null,
        });
        this.#activityOf.set(ref, activity);
      },
      transition: (snapshot, event, scope) => {
        const act = () => logic.transition(snapshot, event, scope);
        const activity = this.#activityOf.get(ref);
        if (event.type !== 'xstate.stop') {
          if (activity === undefined || this.#isInside) return act();
          // XState would end the actor now, between two steps.
          return this.#attempt(activity, act) ?? snapshot;
        }
        if (activity?.isStarted === true) this.#cleanUp(path, act);
        return { ...snapshot, status: 'stopped', error: undefined } as typeof snapshot;
      },
    };
    actor.logic = wrapped;
  }

  /**
   * Returns the stored form of an input, and why a call cannot get it: it then fails when it starts, because a replay of an earlier version's
   * journal must not differ.
   */
  #encodeInput(input: unknown, path: ActorPath): readonly [input: Json, problem: unknown] {
    const { codec } = this.#parts;
    const subject = `input of ${this.#nameOf(path)}`;
    try {
      return [codec.encode(input, subject), null];
    } catch (problem) {
      return [codec.encode(input, subject, 'derived'), problem];
    }
  }

  /** A replay has nothing to clean up. So a clean-up is not part of the step, and its error is only logged. */
  #cleanUp(path: ActorPath, act: () => void): void {
    try {
      this.#outside(act);
    } catch (error) {
      this.#addEffect(
        -1,
        path,
        'clean-up',
        () => void this.#parts.logger(`${this.#nameOf(path)}: its cleanup failed:`, error),
      );
    }
  }

  #forget(ref: AnyActorRef): void {
    const path = this.#pathOf(ref);
    if (path !== '' && this.#actors.get(path)?.ref === ref) {
      this.#actors.delete(path);
      this.#children.delete(path);
    }
    const activity = this.#activityOf.get(ref);
    if (activity !== undefined) this.activities.delete(activity.number);
  }

  /** All events of the system pass through here: an event that arrives between steps is external. */
  readonly #relay: SystemHooks['relay'] = (source, target, event, pass) => {
    if (this.#isClosed) return;
    if (!this.#paths.has(target)) {
      // An actor of another system: a replay must not send it anything.
      const [path, to] = [this.#pathOf(source), receiverOf(target)];
      if (to !== undefined) this.#recordPost(path, to, event);
      else this.#recordEffect(path, 'xstate.sendTo', () => target.send(event), true);
      return;
    }
    const sender = source === undefined ? undefined : this.#activityOf.get(source);
    const receiver = this.#activityOf.get(target);
    // A chart may forward such an event to custom code, which then receives it like any other.
    const isMachinery = receiver === undefined && MACHINERY.test(event.type);
    if (isMachinery && this.#isProcessing) this.#inside(pass);
    else if (!this.#isInside || sender !== undefined) this.#receive(sender, target, event);
    else if (receiver === undefined || source === target) pass();
    else postpone(receiver, () => this.#outside(pass));
  };

  /** Passes an external event to an actor. Custom code of another actor than its sender receives it when the step is stored. */
  #deliver(actor: HostedActor | undefined, event: AnyEventObject | null, sender: number | null): void {
    if (actor === undefined || event === null) return;
    const receiver = this.#activityOf.get(actor.ref);
    if (receiver === undefined || receiver.number === sender) actor.deliver(event);
    else postpone(receiver, () => this.#outside(() => actor.deliver(event)));
  }

  #receive(sender: Activity | undefined, target: AnyActorRef, event: AnyEventObject): void {
    const { codec } = this.#parts;
    const actor = this.#pathOf(target);
    const isOpen = (): boolean => this.#actors.get(actor)?.ref === target;
    try {
      const rules = REJECTION.test(event.type) ? 'thrown' : 'given';
      const stored = codec.encode(event, `event "${event.type}" for ${this.#nameOf(actor)}`, rules);
      const id = this.nextSendId();
      if (sender === undefined)
        this.owner.receive({ type: 'delivery', actor, event: stored, ...(id !== null && { id }) }, isOpen);
      else {
        const { number: activity, source: name, received } = sender;
        const place = { type: 'activity-event', activity, source: name, actor } as const;
        this.owner.receive({ ...place, event: stored, ...(received > 0 && { received }) }, isOpen);
      }
    } catch (error) {
      if (sender === undefined) throw error;
      this.#fail(sender.path, sender.actor, error);
    }
  }

  /** Calls code outside the system, such as an observer: the events that it sends are external. */
  #outside<Result>(act: () => Result): Result {
    const wasInside = this.#isInside;
    this.#isInside = false;
    try {
      return inRealWorld(() => inStep(null, act));
    } finally {
      this.#isInside = wasInside;
    }
  }

  #inside(act: () => void): void {
    const wasInside = this.#isInside;
    this.#isInside = true;
    try {
      act();
    } finally {
      this.#isInside = wasInside;
    }
  }

  readonly #startTimer = (fire: () => void, delayMs: number): number => {
    const number = this.timerCount;
    this.timerCount += 1;
    const scheduled = this.#scheduling;
    const [path, event] = [this.#pathOf(scheduled?.source), scheduled?.event.type ?? ''];
    const dueMs = dueAfter(this.#nowMs, delayMs);
    this.owner.record({ type: 'timer-start', timer: number, actor: path, event, dueMs });
    this.timers.set(number, { number, path, event, dueMs, scheduled, fire });
    if (path === '' && scheduled?.id !== undefined) this.#cancelable.set(scheduled.id, number);
    return number;
  };

  #forgetTimer(number: number): void {
    const timer = this.timers.get(number);
    this.timers.delete(number);
    if (timer?.path === '' && timer.scheduled?.id !== undefined) this.#cancelable.delete(timer.scheduled.id);
  }

  /** Records a message for another durable actor. Encodes it now, because the sender may change the event later. */
  #recordPost(path: ActorPath, to: string, event: AnyEventObject, isReady?: () => Promise<void>): void {
    let stored: Json | undefined;
    let problem: unknown;
    try {
      stored = this.#parts.codec.encode(event, `event "${event.type}" for ${to}`);
    } catch (error) {
      problem = error;
    }
    this.#recordPosted(path, 'xstate.sendTo', { to, event, stored, problem, isReady });
  }

  #recordPosted(path: ActorPath, action: string, posted: Omit<PostedEvent, 'from' | 'key' | 'oldest'>): void {
    const oldest = Math.min(this.#nextEffect, ...this.openEffects.keys());
    const run = async (key: string): Promise<void> => {
      const { post } = this.#parts;
      if (post === undefined)
        throw new PostChainError('invalid_option', 'a message to another durable actor requires createDurableMachine.');
      await post({ ...posted, from: this.#nameOf(path), key, oldest });
    };
    this.#recordEffect(path, action, run, true, { to: posted.to });
  }

  #recordEffect(
    path: ActorPath,
    action: string,
    run: (effectKey: string) => unknown,
    isNamed: boolean,
    subject?: Json,
  ): void {
    const number = this.#nextEffect;
    this.#nextEffect += 1;
    const entry: DerivedEvent = { type: 'effect', effect: number, actor: path, action, ...(subject && { subject }) };
    this.owner.record(isNamed ? entry : markInline(entry));
    this.#addEffect(number, path, action, () => this.#outside(() => this.#runEffect(number, run)));
  }

  #addEffect(number: number, path: ActorPath, action: string, run: () => unknown): void {
    const actor = this.#actors.get(path);
    const fail = (error: unknown): void => {
      effect.hasFailed = true;
      effect.isKept = actor?.isRunning !== true && UNUSABLE.includes((Object(error) as { code?: unknown }).code);
      if (actor?.isRunning === true) this.#fail(path, actor, error, number);
      else this.#parts.logger(`${this.#nameOf(path)}: an effect failed after the end of its actor:`, error);
    };
    const effect: Effect = { number, path, action, run, fail, hasFailed: false, isKept: false };
    this.effects.push(effect);
    if (number >= 0) this.openEffects.set(number, effect);
  }

  /** An effect that is executed again sends its events again, with the same ids. */
  #runEffect(number: number, run: (effectKey: string) => unknown): unknown {
    // Without the id of the actor: a fork knows the events that were sent before it.
    this.#sending = { key: `effect:${number}`, count: 0 };
    try {
      return run(`${this.#keyPrefix}:effect:${number}`);
    } finally {
      this.#sending = null;
    }
  }

  /** Returns the id of an event that the effect in execution sends; null outside of effects. */
  nextSendId(): string | null {
    if (this.#sending === null) return null;
    this.#sending.count += 1;
    return `${this.#sending.key}:${this.#sending.count}`;
  }

  readonly #recordMicrostep = (step: Microstep): void => {
    const actor = this.#pathOf(step.actor);
    this.#touched.add(actor);
    const taken = step.taken.filter(({ eventType }) => eventType !== ENTRY_EVENT);
    // A machine that this one has started in the microstep has reported its own microsteps first.
    const isOwn = ({ transition }: EvaluatedGuard): boolean => transition.source.machine === step.machine;
    const all = this.#log.evaluated;
    const evaluated = all.every(isOwn) ? all : all.filter(isOwn);
    this.#log.evaluated = evaluated === all ? [] : all.filter((guard) => !isOwn(guard));
    for (const transition of taken) {
      const target = this.#xstate.targetOf(transition);
      const isInternal = target === undefined && transition.guard === undefined;
      if (isInternal && (transition.actions.length === 0 || this.#isMessage(step.event.type))) continue;
      const targets = idsOf(target);
      this.owner.record({
        type: 'transition',
        actor,
        machine: transition.source.machine.id,
        event: step.event.type,
        source: transition.source.id,
        target: targets,
        candidates: candidatesOf({ transition, targets }, step.event.type, evaluated, this.#parts.codec),
      });
    }
    const refused = evaluated.filter(({ transition }) => transition.eventType !== '');
    const [first] = refused;
    if (taken.length > 0 || first === undefined) return;
    const candidates = refused.map((guard) => candidate(guard.transition, guard, 'false', this.#parts.codec));
    const machine = first.transition.source.machine.id;
    this.owner.record({ type: 'ignored', actor, machine, event: step.event.type, candidates });
  };

  #pathOf(ref: AnyActorRef | undefined): ActorPath {
    return (ref && this.#paths.get(ref)) ?? '';
  }
}

/** Returns the error of a host without messages, such as a workflow on Restate. */

/** Returns what identifies an actor, also if one with its id was deleted before. */
export const identityOf = (
  actorId: string,
  { seed, startedAt, forkedFrom }: Pick<StartEntry, 'seed' | 'startedAt' | 'forkedFrom'>,
): string => [actorId, seed, startedAt, forkedFrom?.clockStartMs].join(' ');

/** Executes an effect, which reports what it throws. Returns whether it has ended; if not, calls `end` when it has. */
export function runEffect({ run, fail }: Effect, end: () => void): boolean {
  try {
    const result = run();
    if (!isThenable(result)) return true;
    result.then(end, (error: unknown) => {
      fail(error);
      end();
    });
    return false;
  } catch (error) {
    fail(error);
    return true;
  }
}

/** Custom code receives an event when the step is stored. */
function postpone(receiver: Activity, send: () => void): void {
  if (receiver.unanswered.length >= MOST_UNANSWERED) {
    forgetAnswered(receiver, receiver.answered + 1);
  }
  receiver.unanswered.push(send);
}

function feed(activity: Activity): void {
  while (!activity.hasFailed && activity.received < activity.answered + activity.unanswered.length) {
    const send = activity.unanswered[activity.received - activity.answered];
    activity.received += 1;
    send?.();
  }
}

function forgetAnswered(activity: Activity, received: number): void {
  const count = activity.unanswered.splice(0, Math.max(0, received - activity.answered)).length;
  activity.answered += count;
  activity.received = Math.max(activity.received, activity.answered);
}

/** The last time that a `Date` can represent: the due time of an infinite delay. */
const LAST_MS = 8.64e15;

function dueAfter(nowMs: number, delayMs: number): number {
  const waitMs = Number.isNaN(delayMs) ? 0 : Math.max(0, delayMs);
  return Math.min(LAST_MS, nowMs + waitMs);
}

/** Anything may be thrown. */
const errorOf = (thrown: unknown): unknown => (thrown === undefined ? new Error('undefined was thrown') : thrown);

type Transition = EvaluatedGuard['transition'];

/** Entries share what is the same for each evaluation of a transition. */
const idLists = new WeakMap<NonNullable<Transition['target']>, readonly string[]>();

const NO_IDS: readonly string[] = [];

function idsOf(nodes: Transition['target']): readonly string[] {
  if (nodes === undefined) return NO_IDS;
  const known = idLists.get(nodes) ?? nodes.map(({ id }) => id);
  idLists.set(nodes, known);
  return known;
}

const NO_CANDIDATES: readonly Candidate[] = [];

/** Returns the candidates of inner states, which come first, and those of the transition's own state. */
function candidatesOf(
  { transition: taken, targets }: { readonly transition: Transition; readonly targets: readonly string[] },
  event: string,
  evaluated: readonly EvaluatedGuard[],
  codec: Codec,
): readonly Candidate[] {
  const { source } = taken;
  const isEventless = taken.eventType === '';
  const siblings = isEventless ? (source.always ?? []) : candidatesFor(source, event);
  const inner = isEventless
    ? []
    : evaluated.filter(({ transition }) => transition.eventType !== '' && isInside(transition.source, source));
  if (siblings.length <= 1 && taken.guard === undefined && inner.length === 0) return NO_CANDIDATES;
  const position = siblings.indexOf(taken);
  const own = siblings.map((sibling, index) => {
    const result = index === position ? 'taken' : index < position ? 'false' : 'not-evaluated';
    return candidate(
      sibling,
      evaluated.findLast(({ transition }) => transition === sibling),
      result,
      codec,
      result === 'taken' ? targets : undefined,
    );
  });
  return inner.length === 0
    ? own
    : [...inner.map((guard) => candidate(guard.transition, guard, 'false', codec)), ...own];
}

const withoutInputs = new WeakMap<Transition, Partial<Record<Candidate['result'], Candidate>>>();

function candidate(
  transition: Transition,
  evaluated: EvaluatedGuard | undefined,
  result: Candidate['result'],
  codec: Codec,
  target = idsOf(transition.target),
): Candidate {
  const given = result === 'not-evaluated' ? null : (evaluated?.inputs ?? null);
  const known = withoutInputs.get(transition) ?? {};
  if (given === null && known[result]?.target === target) return known[result];
  const made: Candidate = {
    guard: labelOf(transition),
    target,
    result,
    inputs: given === null ? null : codec.encode(given, 'inputs of a guard', 'derived'),
  };
  if (hasInlineGuard(transition)) markInline(made);
  if (given === null) withoutInputs.set(transition, { ...known, [result]: made });
  return made;
}
