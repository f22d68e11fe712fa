import type { AnyStateMachine } from 'xstate';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { describeValue } from '../../internal/describe-value.ts';
import { requireKnownOptions } from '../../internal/require-known.ts';
import { type Clock, wallClockOf } from '../clock.ts';
import type { Json } from '../codec.ts';
import { createDurableMachine, type DueActor, type DurableMachine } from '../durable-machine.ts';
import { hasCode, isRaceLost } from '../error.ts';
import type { JournalStore } from '../journals/journal-store.ts';
import { requireId } from '../journals/line-store.ts';
import type { WorkerHost } from '../worker.ts';
import { createScheduleMachine } from './schedule.machine.ts';
import { invalid, requireSpec, type ScheduleSpec, type StoredSpec } from './schedule-spec.ts';
import type { ScheduleEvent, ScheduleState, StartedActor } from './schedule-state.ts';
import { localText, shortText, timeOf, timesBetween, timesOf } from './schedule-times.ts';
import { type ScheduledHost, startOnce, statusOf } from './started-actors.ts';

export interface SchedulesOptions {
  /** Where the journals of the schedules are stored. */
  readonly journals: JournalStore;
  /** The durable machines whose actors they start. */
  readonly hosts: readonly ScheduledHost[];
  /** The time source; by default that of the store if it has one, otherwise the system clock. */
  readonly clock?: Clock;
}

export interface BackfillOptions {
  /** The first time, inclusive: a `Date`, or a text in ISO 8601, which is in the time zone of the schedule if it has no offset. */
  readonly from: Date | string;
  /** The end, exclusive; at most now. */
  readonly to: Date | string;
}

/** A schedule in a list. Times are in ISO 8601, in its time zone. */
export interface ScheduleSummary {
  readonly id: string;
  readonly machine: string;
  readonly cron: string | null;
  readonly timeZone: string;
  readonly everyMs: number | null;
  readonly isPaused: boolean;
  /** Null if it is paused, or if no time follows. */
  readonly nextAt: string | null;
  /** The actor that it started last, apart from a backfill. */
  readonly last: { readonly id: string; readonly at: string } | null;
  /** Why the last try to compute the next time, or to start an actor, failed; it is repeated. Null if it did not fail. */
  readonly error: string | null;
}

/** Starts actors at the times of schedules. Pass it to a worker, together with the hosts of these actors. */
export interface Schedules extends WorkerHost {
  /** The durable machine of the schedules, for example to inspect or serve them. */
  readonly host: DurableMachine<AnyStateMachine>;
  /**
   * Creates a schedule, or changes it from now on; does nothing if it is the same. Rejects with `invalid_option`, or with `package_missing` if a cron
   * expression needs the package `croner`.
   */
  set(id: string, spec: ScheduleSpec): Promise<void>;
  /** Lets a schedule start nothing until it is resumed. Rejects with `unknown_journal` if there is none. */
  pause(id: string): Promise<void>;
  /** Continues with the next time from now; times that passed while it was paused are left out. */
  resume(id: string): Promise<void>;
  /**
   * Starts the actors of past times that have none, all at once, also if the schedule is paused. Resolves to the ids of the actors of all times in the
   * range, at most 1,000.
   */
  backfill(id: string, range: BackfillOptions): Promise<readonly string[]>;
  list(): Promise<readonly ScheduleSummary[]>;
  /** Deletes a schedule. The actors that it has started stay. */
  delete(id: string): Promise<void>;
}

/**
 * Creates schedules, which start actors of durable machines by cron expressions or intervals. Each schedule is itself a durable actor: its journal
 * has all that it did. The id of a started actor is that of the schedule and its time, for example `nightly/2026-11-30T02:00:00Z`, so each time has
 * at most one actor, also after a crash.
 *
 * @example
 * const schedules = createSchedules({ journals, hosts: [reports] });
 * await schedules.set('nightly', { machine: 'report', cron: '0 3 * * *', timeZone: 'Europe/Berlin' });
 * createWorker({ hosts: [reports, schedules] });
 */
export function createSchedules(options: SchedulesOptions): Schedules {
  return new DurableSchedules(options);
}

const MOST_BACKFILLED = 1_000;

/** A worker holds a schedule only while it starts an actor. */
const HELD_TRIES = 100;
const HELD_PAUSE_MS = 100;

class DurableSchedules implements Schedules {
  readonly host: Schedules['host'];
  readonly #hosts: ReadonlyMap<string, ScheduledHost>;
  readonly #clock: Clock;

  constructor(options: SchedulesOptions) {
    requireKnownOptions('createSchedules', options, 'journals hosts clock');
    const { journals, hosts, clock = wallClockOf(options.journals) } = options;
    const isHost = (host: unknown): boolean => typeof Object(host).start === 'function' && 'machineId' in Object(host);
    if (!Array.isArray(hosts) || hosts.length === 0 || !hosts.every(isHost)) {
      const message = `hosts: expected a list of durable machines; received ${describeValue(hosts)}.`;
      throw new PostChainError('invalid_option', message);
    }
    this.#hosts = new Map(hosts.map((host) => [host.machineId, host]));
    this.#clock = clock;
    const machine = createScheduleMachine({
      plan: async ({ state: { spec, revision }, nowMs }) => {
        return { revision, nextAtMs: (await timesOf(spec)).next(nowMs) };
      },
      startDue: (input) => this.#startDue(input),
      startMissed: (input) => this.#startMissed(input),
    });
    this.host = createDurableMachine(machine, {
      journals,
      clock,
      describeWait: ({ context }) => summaryOf(context as ScheduleState) as unknown as Json,
    });
  }

  due(): Promise<readonly DueActor[]> {
    return this.host.due();
  }

  advance(...given: Parameters<WorkerHost['advance']>): Promise<void> {
    return this.host.advance(...given);
  }

  quarantine(id: string, reason: string): Promise<void> {
    return this.host.quarantine(id, reason);
  }

  async set(id: string, given: ScheduleSpec): Promise<void> {
    requireId(id);
    const spec = requireSpec(given, [...this.#hosts.keys()]);
    if ((await timesOf(spec)).next(this.#clock.now()) === null)
      throw invalid('cron', 'an expression with a time in the future', spec.cron);
    await this.#whenFree(async () => {
      const status = await statusOf(this.host.journals, id);
      if (status !== null && ENDED.includes(status)) await this.host.delete(id);
      if (status === null || ENDED.includes(status)) {
        const schedule = await this.host.open(id, { input: { id, spec } });
        await schedule.park({ wait: true });
      }
      const { spec: known } = await this.#state(id);
      if (sortedText(known) !== sortedText(spec)) await this.#send(id, { type: 'schedule.changed', spec });
    });
  }

  async pause(id: string): Promise<void> {
    await this.#whenFree(() => this.#send(id, { type: 'schedule.paused' }));
  }

  async resume(id: string): Promise<void> {
    await this.#whenFree(() => this.#send(id, { type: 'schedule.resumed' }));
  }

  async backfill(id: string, range: BackfillOptions): Promise<readonly string[]> {
    requireKnownOptions('backfill', range, 'from to');
    const { spec } = await this.#state(id);
    const from = timeIn(range, 'from', spec.timeZone);
    const to = Math.min(timeIn(range, 'to', spec.timeZone), this.#clock.now());
    const times = timesBetween(await timesOf(spec), from, to, MOST_BACKFILLED + 1);
    if (times.length > MOST_BACKFILLED)
      throw invalid('from', `a range of at most ${MOST_BACKFILLED} times`, shortText(from));
    if (times.length > 0) await this.#whenFree(() => this.#send(id, { type: 'backfill.requested', times }));
    return times.map((atMs) => actorId(id, atMs));
  }

  async list(): Promise<readonly ScheduleSummary[]> {
    const listed = await this.host.list({ status: ['waiting', 'running', 'interrupted'] });
    return Promise.all(
      listed.map(async ({ id, waiting }) =>
        // In a fork, the state has the id of the original.
        Object.assign((waiting?.summary as ScheduleSummary | null) ?? summaryOf(await this.#state(id)), { id }),
      ),
    );
  }

  delete(id: string): Promise<void> {
    return this.#whenFree(() => this.host.delete(id));
  }

  async #state(id: string): Promise<ScheduleState> {
    const { snapshot } = await this.host.query(id);
    return snapshot.context;
  }

  /** Resolves when the schedule has processed the event and only waits again. */
  async #send(id: string, event: ScheduleEvent): Promise<void> {
    if (!(await this.host.send(id, event)))
      throw new PostChainError('unknown_journal', `schedule ${id}: it was stopped; create it again with set().`);
    if (!this.host.isOpen(id)) return;
    await this.host.advance(id).catch((error: unknown) => {
      // Another process continues it.
      if (!isRaceLost(error)) throw error;
    });
  }

  /** Another process may hold a schedule while it starts an actor. */
  async #whenFree<Result>(act: () => Promise<Result>): Promise<Result> {
    for (let tries = 1; ; tries += 1)
      try {
        return await act();
      } catch (error) {
        if (!hasCode(error, 'journal_held') || tries === HELD_TRIES) throw error;
        await new Promise((resolve) => setTimeout(resolve, HELD_PAUSE_MS));
      }
  }

  async #startDue({ state, nowMs }: { readonly state: ScheduleState; readonly nowMs: number }) {
    const { spec, revision, last } = state;
    const dueMs = state.nextAtMs ?? nowMs;
    const times = await timesOf(spec);
    // A process with other rules of time zones may know no time between.
    const atMs = Math.max(dueMs, times.latest(nowMs) ?? dueMs);
    const actor = { id: actorId(state.id, atMs), machine: spec.machine, atMs };
    const skippedFor = spec.overlap === 'skip' && last !== null && (await this.#isRunning(last)) ? last.id : null;
    if (skippedFor === null) await this.#start(state, atMs);
    const missedFrom = atMs > dueMs ? shortText(dueMs) : null;
    return { actor, skippedFor, missedFrom, revision, nextAtMs: times.next(nowMs) };
  }

  async #startMissed({ state }: { readonly state: ScheduleState }): Promise<readonly number[]> {
    for (const atMs of state.backfill) await this.#start(state, atMs);
    return state.backfill;
  }

  async #start({ id, spec }: ScheduleState, atMs: number): Promise<void> {
    const scheduledAt = localText(atMs, spec.timeZone);
    const input = { ...spec.input, scheduledAt } as never;
    await startOnce(this.#hostOf(spec.machine), actorId(id, atMs), { input, product: { schedule: id, scheduledAt } });
  }

  async #isRunning({ id, machine }: StartedActor): Promise<boolean> {
    const status = await statusOf(this.#hostOf(machine).journals, id);
    return status !== null && ['running', 'waiting', 'interrupted', 'queued'].includes(status);
  }

  #hostOf(machine: string): ScheduledHost {
    const host = this.#hosts.get(machine);
    if (host !== undefined) return host;
    throw invalid('machine', `the machine of a host: ${[...this.#hosts.keys()].join(', ')}`, machine);
  }
}

const ENDED: readonly string[] = ['done', 'error', 'stopped'];

/** In UTC, so that a time has one actor in every time zone. */
const actorId = (id: string, atMs: number): string => `${id}/${shortText(atMs)}`;

function timeIn(range: BackfillOptions, name: 'from' | 'to', timeZone: string): number {
  const given: unknown = range[name];
  const at = given instanceof Date ? given.getTime() : timeOf(String(given), timeZone);
  if (!Number.isNaN(at)) return at;
  throw invalid(name, 'a Date or a time in ISO 8601', given);
}

function summaryOf({ id, spec, isPaused, nextAtMs, last, error }: ScheduleState): ScheduleSummary {
  const { machine, cron, timeZone, everyMs } = spec;
  const text = (atMs: number): string => localText(atMs, timeZone);
  return {
    id,
    machine,
    cron,
    timeZone,
    everyMs,
    isPaused,
    nextAt: nextAtMs === null || isPaused ? null : text(nextAtMs),
    last: last && { id: last.id, at: text(last.atMs) },
    error,
  };
}

/** Returns the JSON of a spec; stores may have changed the order of its members. */
const sortedText = (spec: StoredSpec): string =>
  JSON.stringify(spec, (_, member: unknown) =>
    Object(member) !== member || Array.isArray(member)
      ? member
      : Object.fromEntries(Object.entries(member as object).toSorted(([one], [other]) => (one < other ? -1 : 1))),
  );
