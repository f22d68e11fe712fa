import {
  DurableActorSystem,
  type Effect,
  runEffect,
  type SystemParts,
  type Timer,
} from '../../durable/actor-system.ts';
import type { Clock } from '../../durable/clock.ts';
import type { Json } from '../../durable/codec.ts';
import type { ActorPath, DurableEntry, DurableEvent, ExternalEvent, StartEntry } from '../../durable/entries.ts';
import { PostChainError } from '../../durable/error.ts';
import { replaySystem } from '../../durable/replay.ts';
import { onAbort } from '../../internal/async.ts';

/**
 * The operations of a cluster that a run uses. After a crash, the run makes the same requests in the same order and gets the same results, so
 * `act` runs again only if its process died before it finished.
 */
export interface Host {
  step(name: string, act: () => Promise<CallOutcome>): Pending;
  /** Ends at this time, in milliseconds since the epoch. Each process requests the same time. */
  sleep(untilMs: number): Pending;
  /** The user event with this number, from 0. */
  sent(number: number): Pending;
  /** Resolves to the outcome that came first: the same one in each process. */
  first(pending: readonly Pending[]): Promise<Outcome>;
  /** Whether an earlier process has made the next request. */
  isKnown(): boolean;
}

/** A future outcome: the same in this process and in one that takes over. JSON. */
export type Pending = PromiseLike<Outcome>;

/** `interrupted`: the host ends the run. */
export type Outcome = CallOutcome | SentOutcome | SleptOutcome | { readonly type: 'interrupted' };

/** `atMs`: when a process noticed the end, which may be long after it. */
interface SleptOutcome {
  readonly type: 'slept';
  readonly atMs: number;
}

/** The reports of a call or an effect since its last step, in order. */
export interface CallOutcome {
  readonly type: 'call';
  readonly call: string;
  readonly reports: readonly Report[];
  /** Whether it is an effect that has ended. */
  readonly isEnded: boolean;
  /** When the step ended, in milliseconds since the epoch. */
  readonly atMs: number;
}

type Recorded = Extract<DurableEvent, { type: 'value' }>;
type Report = ExternalEvent | Recorded | Extract<DurableEvent, { type: 'note' }>;

/** A user event. Only the first with an `id` counts. */
export interface SentOutcome {
  readonly type: 'sent';
  readonly id?: string;
  readonly event: Json;
  readonly atMs: number;
}

export interface ExecutorOptions extends Omit<SystemParts, 'actorId'> {
  readonly host: Host;
  /** The real clock: it supplies the end time of a step, which is recorded with the outcome. */
  readonly clock: Clock;
  readonly onEntry: (entry: DurableEntry) => void;
  /** Removes the last entries. */
  readonly forget?: (count: number) => void;
  /** Returns the receiver of a user event, and the event that it receives; null if there is none. */
  readonly receivedBy: (
    system: DurableActorSystem,
    event: { readonly type: string },
  ) => { readonly actor: ActorPath; readonly event: object } | null;
  /** The event that the system receives if the host ends the run. */
  readonly interruption: ExternalEvent;
  /**
   * For a product whose calls are one step each and do not ask whether they were interrupted, and whose `recordOnce` is deterministic. By
   * default, everything that a call reports is recorded and ends a step.
   */
  readonly oneStep?: {
    readonly isKept: (report: Report) => boolean;
    readonly isResult: (report: Report) => boolean;
  };
}

/** A call or an effect in progress: one step after another, each until it reports something. */
class Call {
  /** Null between steps. */
  pending: Pending | null = null;
  /** Its reports in this process. */
  readonly reports: Report[] = [];
  /** Those in the outcome of its last step, until the run takes it. */
  unread: readonly Report[] = [];
  /** Whether its step waits for reports. */
  isWaiting = false;
  isStarted = false;
  /** Whether it is an effect that has ended. */
  isEnded = false;
  /** Whether no step follows. */
  isOver = false;
  /** Whether an earlier process has started it. */
  wasInterrupted = false;
  /** Whether its step can end. */
  isReady = false;
  wake = (): void => {};
}

const isOutside = ({ type }: Report): boolean => type === 'delivery' || type === 'stopped';

const nameOf = (report: Report): string =>
  report.type === 'delivery' ? `the event "${(report.event as { readonly type: string }).type}"` : 'a stop';

const callKey = (activity: number): string => `call ${activity}`;
const effectKey = (effect: number): string => `effect ${effect}`;

/** Returns an actor system whose calls, effects, timers and user events are the host's steps, sleeps and promises. */
export function createRestateExecutor(
  start: StartEntry,
  { host, clock, onEntry, forget, receivedBy, interruption, oneStep, ...others }: ExecutorOptions,
) {
  const calls = new Map<string, Call>();
  const parts = { ...others, actorId: start.actorId };
  const owner = { record, receive, note, recorded: () => known.shift() };
  let system = new DurableActorSystem(start, parts, owner);
  const startMs = Date.parse(start.startedAt);
  const timers = createTimers({ sleep: (ms) => host.sleep(startMs + ms) }, () => system.timers);
  const entries: DurableEntry[] = [];
  /** The values that `recordOnce` recorded in this step, and those that it must return. */
  let values: readonly Recorded[] = [];
  let known: Recorded[] = [];
  /** Advanced by recorded outcomes only, never by a clock, and never back, even if clocks of two machines differ. */
  let nowMs = 0;
  let sentNumber = 0;
  let sent = host.sent(sentNumber);
  /** Whether this process has started a call or an effect: then no recorded outcome is left. */
  let isLive = false;
  /** The effect that is being executed. */
  let executed: Call | undefined;
  let isInterrupted = false;
  /** Events that code sent outside of its own call, until another call reports them. */
  let unreported: readonly Report[] = [];

  function record(event: DurableEvent): void {
    const entry = { seq: entries.length, atMs: nowMs, ...event } as DurableEntry;
    entries.push(entry);
    if (event.type === 'value') values = [...values, event];
    onEntry(entry);
  }

  function receive(report: ExternalEvent): void {
    const call = reporterOf(report);
    if (call === undefined) {
      if (isOutside(report)) unreported = [...unreported, report];
      reportOthers();
      return;
    }
    const isResult = report.type === 'failed' || oneStep === undefined || oneStep.isResult(report);
    if (isResult || oneStep.isKept(report)) call.reports.push(report);
    if (isResult) endStep(call);
  }

  /**
   * A call whose step waits reports the events that code sent outside of its own call; an effect if possible, because the machine cannot
   * abandon it. If no step waits, the next one reports them. Without calls, they cannot be recorded.
   */
  function reportOthers(): void {
    if (unreported.length === 0) return;
    const waiting = oneStep === undefined ? [...calls].filter(([, { isWaiting }]) => isWaiting) : [];
    const [, call] = waiting.find(([key]) => key.startsWith('effect')) ?? waiting[0] ?? [];
    if (call !== undefined) {
      call.reports.push(...unreported);
      endStep(call);
    } else if (oneStep === undefined && calls.size > 0) return;
    else
      for (const report of unreported)
        parts.logger(`${start.actorId}: ${nameOf(report)} was sent outside of calls and effects; it is lost`);
    unreported = [];
  }

  function reporterOf(event: ExternalEvent): Call | undefined {
    if (event.type === 'activity-event') return calls.get(callKey(event.activity));
    if (event.type !== 'failed') return executed;
    if (event.effect !== undefined) return calls.get(effectKey(event.effect));
    return calls.get(callKey([...system.activities.values()].find(({ path }) => path === event.actor)?.number ?? -1));
  }

  function note(given: Json, activity: number): void {
    const report = { type: 'note', note: given, activity } as const;
    if (oneStep?.isKept(report) !== false) calls.get(callKey(activity))?.reports.push(report);
  }

  function endStep(call: Call): void {
    call.isReady = true;
    call.wake();
  }

  /** Requests the next step of a call. */
  function request(key: string, name: string): void {
    const call = calls.get(key) ?? new Call();
    calls.set(key, call);
    if (call.pending !== null || call.isOver) return;
    call.wasInterrupted ||= oneStep === undefined && host.isKnown();
    call.pending = host.step(name, async () => {
      startAll();
      if (!call.isReady && unreported.length === 0)
        await new Promise<void>((resolve) => {
          call.isWaiting = true;
          call.wake = resolve;
        });
      call.isWaiting = false;
      call.isReady = false;
      const reports = call.reports.splice(0);
      if (calls.get(key) === call) {
        reports.unshift(...unreported);
        unreported = [];
      }
      call.unread = reports;
      return { type: 'call', call: key, reports, isEnded: call.isEnded, atMs: clock.now() };
    });
  }

  /** Starts the calls and effects that have a step, in the machine's order, because a host starts its steps in any order. */
  function startAll(): void {
    isLive = true;
    for (const effect of system.openEffects.values()) {
      const call = calls.get(effectKey(effect.number));
      if (call === undefined || call.isStarted) continue;
      call.isStarted = true;
      execute(effect, call);
    }
    for (const activity of system.activities.values()) {
      const call = calls.get(callKey(activity.number));
      if (call === undefined) continue;
      call.isStarted = true;
      activity.wasInterrupted = call.wasInterrupted;
    }
    system.release(() => false);
  }

  function execute(effect: Effect, call: Call): void {
    const end = (): void => {
      call.isEnded = true;
      endStep(call);
    };
    executed = call;
    if (runEffect(effect, end)) end();
    executed = undefined;
  }

  /** Prints the log of the step. Logging is not an effect, so the host has no step for it. */
  function printLog(): void {
    for (const { number, run } of system.effects) if (number < 0) run();
  }

  function apply(event: ExternalEvent): void {
    if (!system.accepts(event)) return;
    system.apply(event, nowMs);
    printLog();
  }

  function deliver({ event, id }: SentOutcome): void {
    const received = receivedBy(system, event as { readonly type: string });
    if (received === null) return;
    let stored: Json;
    try {
      stored = parts.codec.encode(received.event, `event for ${start.actorId}`);
    } catch (error) {
      parts.logger(`${start.actorId} ignores an event that it cannot store: ${(error as Error).message}`);
      return;
    }
    apply({ type: 'delivery', actor: received.actor, event: stored, ...(id !== undefined && { id }) });
  }

  function applyReports({ call: key, reports, isEnded }: CallOutcome): void {
    for (const report of reports) {
      if (report.type !== 'note') apply(report as ExternalEvent);
      else if (system.activities.has(report.activity ?? -1)) record(report);
    }
    if (isEnded) record(system.endEffects([Number(key.split(' ')[1])]));
  }

  /** Whether the machine or an effect is still running. */
  const isActive = (): boolean => system.root.getSnapshot().status === 'active' || system.openEffects.size > 0;

  /** Returns everything that may happen next, in the same order in each process. */
  function pending(): readonly Pending[] {
    const open = new Set([
      ...[...system.openEffects.keys()].map(effectKey),
      ...[...system.activities.keys()].map(callKey),
    ]);
    for (const [key, call] of calls) {
      if (open.has(key)) continue;
      calls.delete(key);
      // Nobody reads its outcome.
      unreported = [...[...call.unread, ...call.reports.splice(0)].filter(isOutside), ...unreported];
      endStep(call);
    }
    for (const number of system.openEffects.keys()) request(effectKey(number), effectKey(number));
    for (const { number, source } of system.activities.values()) request(callKey(number), `${source} ${number}`);
    if (isLive) system.feed();
    reportOthers();
    return [sent, ...timers.pending(nowMs), ...[...calls.values()].flatMap((call) => call.pending ?? [])];
  }

  function fire(isDue: (dueMs: number) => boolean): void {
    for (const timer of timers.due(isDue)) apply({ type: 'timer', timer });
  }

  /** Takes an outcome. Returns its step: the timers that were due before it, then the events that the system still accepts. */
  function taken(outcome: Outcome): () => void {
    const atMs = 'atMs' in outcome ? Math.floor(outcome.atMs - startMs) : nowMs;
    nowMs = Math.max(nowMs, atMs);
    switch (outcome.type) {
      case 'call': {
        const call = calls.get(outcome.call);
        if (call !== undefined) Object.assign(call, { pending: null, unread: [], isOver: oneStep !== undefined });
        return () => {
          fire((dueMs) => dueMs < atMs);
          applyReports(outcome);
        };
      }
      case 'sent':
        sentNumber += 1;
        sent = host.sent(sentNumber);
        return () => {
          fire((dueMs) => dueMs < atMs);
          deliver(outcome);
        };
      case 'slept': {
        // An event that came before a later timer is the next outcome, so only the timers of this sleep fire.
        const endMs = timers.endSleep();
        nowMs = Math.max(nowMs, endMs);
        return () => fire((dueMs) => dueMs <= endMs);
      }
      case 'interrupted':
        // A second interruption does not wait for effects.
        return () => (system.accepts(interruption) ? apply(interruption) : system.openEffects.clear());
    }
  }

  /**
   * Performs a step. The values that `recordOnce` records in it become an outcome of the host. If an earlier process recorded other values,
   * undoes the step and performs it again with those.
   */
  async function perform(step: () => void): Promise<void> {
    const before = entries.length;
    const { hasBegun } = system;
    values = [];
    step();
    if (values.length === 0 || oneStep !== undefined) return;
    const mine = { type: 'call', call: 'recordOnce', reports: values, isEnded: false, atMs: nowMs } as const;
    const pending = [host.step(mine.call, async () => mine)];
    let outcome = await host.first(pending);
    for (; outcome.type !== 'call'; outcome = await host.first(pending)) isInterrupted = true;
    if (JSON.stringify(outcome.reports) === JSON.stringify(mine.reports)) return;
    forget?.(entries.splice(before).length);
    if (hasBegun) {
      const replayed = replaySystem(entries, parts);
      if (replayed.divergence !== null) throw new PostChainError('diverged', replayed.divergence.cause);
      ({ system } = replayed);
      system.owner = owner;
    } else system = new DurableActorSystem(start, parts, owner);
    known = [...(outcome.reports as readonly Recorded[])];
    step();
  }

  function begin(): void {
    system.begin();
    printLog();
  }

  record(start);
  return {
    get system() {
      return system;
    },
    note: (given: Json): void => record({ type: 'note', note: given }),
    begin,
    pending,
    take: (outcome: Outcome): void => taken(outcome)(),
    /** Begins, and runs until the end. `beforeWait` is called when there may be new entries. */
    async run(signal: AbortSignal, beforeWait: () => void): Promise<void> {
      const stopListening = onAbort(signal, () => system.close());
      await perform(begin);
      while (isActive()) {
        const next = pending();
        beforeWait();
        const outcome = isInterrupted ? ({ type: 'interrupted' } as const) : await host.first(next);
        isInterrupted = false;
        await perform(taken(outcome));
      }
      beforeWait();
      stopListening();
    },
  };
}

/** A host need not support longer sleeps: another one follows. */
const MAX_SLEEP_MS = 365 * 24 * 60 * 60 * 1_000;

interface Sleep {
  readonly dueMs: number;
  readonly pending: Pending;
}

/**
 * Maps all timers of a run to a few sleeps. Charts set a deadline for nearly everything and usually cancel it, but a host's sleep cannot be
 * canceled. So only the next due timer has a sleep, and the sleep of a canceled timer is reused for a later one: it ends early, and another
 * sleep follows.
 */
export function createTimers(
  host: Pick<Host, 'sleep'>,
  timersNow: () => ReadonlyMap<number, Pick<Timer, 'number' | 'dueMs'>>,
) {
  /** In the order in which they end. */
  let sleeps: readonly Sleep[] = [];

  return {
    /** Returns a sleep that ends when the next timer is due, or earlier; none if no timer is set. */
    pending(nowMs: number): readonly Pending[] {
      const timers = timersNow();
      if (timers.size === 0) return [];
      const nextMs = Math.min(...[...timers.values()].map(({ dueMs }) => dueMs));
      sleeps = sleeps.filter(({ dueMs }) => dueMs > nowMs);
      const [soonest] = sleeps;
      if (soonest !== undefined && soonest.dueMs <= nextMs) return [soonest.pending];
      const dueMs = Math.ceil(Math.min(nextMs, nowMs + MAX_SLEEP_MS));
      const pending = host.sleep(dueMs);
      sleeps = [{ dueMs, pending }, ...sleeps];
      return [pending];
    },
    /** Ends the first sleep and returns its time. */
    endSleep(): number {
      const [soonest, ...later] = sleeps;
      sleeps = later;
      return soonest?.dueMs ?? 0;
    },
    /** Returns these timers in the order in which they are due. One may cancel a later one. */
    due(isDue: (dueMs: number) => boolean): readonly number[] {
      const due = [...timersNow().values()].filter(({ dueMs }) => isDue(dueMs));
      due.sort((one, other) => one.dueMs - other.dueMs);
      return due.map(({ number }) => number);
    },
  };
}
