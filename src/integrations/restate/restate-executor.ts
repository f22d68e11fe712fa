import type { ChainEvent } from '../../../machines/contracts/events.ts';
import { isResult } from '../../chain/journal/stored-entries.ts';
import type { Activity, Timer } from '../../durable/actor-system.ts';
import type { Clock } from '../../durable/clock.ts';
import { createCodec, createContextCodec, type Json } from '../../durable/codec.ts';
import type { DurableEntry, DurableEvent, ExternalEvent, StartEntry } from '../../durable/entries.ts';
import { createSystem, type SystemParts } from '../../durable/replay.ts';

/**
 * What a run needs of a cluster. After a crash, the run makes the same requests in the same order and gets the same results. So `act` runs
 * once, and again only if its process died before it finished.
 */
export interface Host {
  step(name: string, act: () => Promise<CallOutcome>): Pending;
  sleep(ms: number): Pending;
  /** The user event with this number, from 0. */
  sent(number: number): Pending;
  /** Resolves to the outcome that came first: the same one in each process. */
  first(pending: readonly Pending[]): Promise<Outcome>;
}

/** A future outcome: the same in this process and in one that takes over. JSON. */
export type Pending = PromiseLike<Outcome>;

/** `interrupted`: the host ends the run. */
export type Outcome = CallOutcome | SentOutcome | { readonly type: 'slept' } | { readonly type: 'interrupted' };

/** What a call has reported, in order, up to its result. `atMs` is when it ended, in milliseconds since the epoch. */
export interface CallOutcome {
  readonly type: 'call';
  readonly call: number;
  readonly reports: readonly Report[];
  readonly atMs: number;
}

type Report = Extract<DurableEvent, { type: 'activity-event' | 'failed' | 'note' }>;

/** A user event. `id` identifies duplicates. */
export interface SentOutcome {
  readonly type: 'sent';
  readonly id: string;
  readonly event: ChainEvent;
  readonly atMs: number;
}

interface ExecutorOptions extends Omit<SystemParts, 'actorId' | 'codec' | 'contextCodec'> {
  readonly host: Host;
  /** The real clock: it supplies the end time of a call, which is recorded with the outcome. */
  readonly clock: Clock;
  readonly onEntry: (entry: DurableEntry) => void;
}

interface Call {
  readonly pending: Pending;
  /** What it has reported in this process. */
  readonly reports: Report[];
  end(): void;
}

const codec = createCodec();
const contextCodec = createContextCodec();

/** Returns an actor system whose calls, timers and user events are the host's steps, sleeps and promises. */
export function createRestateExecutor(start: StartEntry, { host, clock, onEntry, ...parts }: ExecutorOptions) {
  /** By the number of their activity; null once the outcome has been taken. */
  const calls = new Map<number, Call | null>();
  const owner = { record, receive, note, recorded: () => undefined };
  const system = createSystem(start, { ...parts, actorId: start.actorId, codec, contextCodec }, { current: owner });
  const timers = createTimers(host, system.timers);
  /** Advanced by recorded outcomes only, never by a clock, and never back, even if clocks of two machines differ. */
  let nowMs = 0;
  let seq = 0;
  let sentNumber = 0;
  let sent = host.sent(sentNumber);

  function record(event: DurableEvent): void {
    onEntry({ seq, atMs: nowMs, ...event } as DurableEntry);
    seq += 1;
  }

  /** Progress is not kept. */
  function receive(event: DurableEvent): void {
    if (event.type !== 'activity-event' && event.type !== 'failed') return;
    const isOf = ({ number, path }: Activity): boolean =>
      event.type === 'failed' ? path === event.actor : number === event.activity;
    const call = calls.get([...system.activities.values()].find(isOf)?.number ?? -1);
    const isEnd = event.type === 'failed' || isResult(event.event);
    if (isEnd || typeOf(event.event) !== 'reply.progressed') call?.reports.push(event);
    if (isEnd) call?.end();
  }

  /** Text deltas are not kept: the reply contains the full text. */
  function note(given: Json, activity: number): void {
    if (typeOf(given) !== 'text-delta') calls.get(activity)?.reports.push({ type: 'note', note: given, activity });
  }

  function begin(activity: Activity): Call {
    const { number, source } = activity;
    const reports: Report[] = [];
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const pending = host.step(`${source} ${number}`, async () => {
      if (system.activities.has(number)) system.start(activity);
      await ended;
      return { type: 'call', call: number, reports, atMs: clock.now() };
    });
    return { pending, reports, end };
  }

  function apply(event: ExternalEvent): void {
    if (system.accepts(event)) system.apply(event, nowMs);
  }

  function deliver(event: ChainEvent): void {
    apply({ type: 'delivery', actor: '', event: codec.encode(event, 'event') });
  }

  function takeReports({ call, reports }: CallOutcome): void {
    calls.set(call, null);
    for (const report of reports) {
      if (report.type !== 'note') apply(report);
      else if (system.activities.has(call)) record(report);
    }
  }

  function takeTimers(): void {
    const { endMs, due } = timers.endSleep(nowMs);
    nowMs = endMs;
    for (const timer of due) apply({ type: 'timer', timer });
  }

  record(start);
  return {
    system,
    note: (given: Json): void => record({ type: 'note', note: given }),
    /** Returns everything that may happen next, in the same order in each process. */
    pending(): readonly Pending[] {
      for (const [number, call] of calls) {
        if (system.activities.has(number)) continue;
        calls.delete(number);
        call?.end();
      }
      for (const activity of system.activities.values())
        if (!calls.has(activity.number)) calls.set(activity.number, begin(activity));
      return [sent, ...timers.pending(nowMs), ...[...calls.values()].flatMap((call) => call?.pending ?? [])];
    },
    /** Applies the events of an outcome that the system still accepts. */
    take(outcome: Outcome): void {
      if (outcome.type === 'slept') takeTimers();
      else if (outcome.type === 'interrupted')
        deliver({ type: 'run.interrupted', reason: 'the host canceled the run' });
      else {
        nowMs = Math.max(nowMs, Math.floor(outcome.atMs - Date.parse(start.startedAt)));
        if (outcome.type === 'call') takeReports(outcome);
        else {
          sentNumber += 1;
          sent = host.sent(sentNumber);
          deliver(outcome.event);
        }
      }
    },
  };
}

const typeOf = (stored: Json): unknown => (stored as { readonly type?: Json }).type;

interface Sleep {
  readonly dueMs: number;
  readonly pending: Pending;
}

/**
 * Maps all timers of a run to few sleeps. Charts set a deadline for nearly everything and usually cancel it, but a host's sleep cannot be
 * canceled. So only the next due timer has a sleep, and the sleep of a canceled timer is reused for a later one: it ends early, and another
 * sleep follows.
 */
export function createTimers(host: Pick<Host, 'sleep'>, timers: ReadonlyMap<number, Pick<Timer, 'number' | 'dueMs'>>) {
  /** In the order in which they end. */
  let sleeps: readonly Sleep[] = [];

  return {
    /** Returns a sleep that ends when the next timer is due, or earlier; none if no timer is set. */
    pending(nowMs: number): readonly Pending[] {
      if (timers.size === 0) return [];
      const nextMs = Math.min(...[...timers.values()].map(({ dueMs }) => dueMs));
      sleeps = sleeps.filter(({ dueMs }) => dueMs > nowMs);
      const [soonest] = sleeps;
      if (soonest !== undefined && soonest.dueMs <= nextMs) return [soonest.pending];
      const pending = host.sleep(Math.max(0, Math.ceil(nextMs - nowMs)));
      sleeps = [{ dueMs: nextMs, pending }, ...sleeps];
      return [pending];
    },
    /** Ends the first sleep and returns the timers that are due, in order. One may cancel a later one. */
    endSleep(nowMs: number): { readonly endMs: number; readonly due: readonly number[] } {
      const [soonest, ...later] = sleeps;
      sleeps = later;
      const endMs = Math.max(nowMs, Math.ceil(soonest?.dueMs ?? 0));
      const due = [...timers.values()].filter(({ dueMs }) => dueMs <= endMs);
      due.sort((one, other) => one.dueMs - other.dueMs);
      return { endMs, due: due.map(({ number }) => number) };
    },
  };
}
