import { type DurableActorSystem, type Effect, runEffect } from '../../durable/actor-system.ts';
import type { Clock } from '../../durable/clock.ts';
import type { Json } from '../../durable/codec.ts';
import type { ExternalEvent } from '../../durable/entries.ts';
import type { CallOutcome, Cluster, PendingOutcome, Report } from './cluster.ts';

/**
 * For a product whose calls have one outcome each and do not ask whether they were interrupted, and whose `recordOnce` is deterministic. By
 * default, everything that a call reports is recorded, each report as its own outcome.
 */
export interface OneOutcome {
  readonly isKept: (report: Report) => boolean;
  readonly isResult: (report: Report) => boolean;
}

interface CallsOptions {
  readonly cluster: Pick<Cluster, 'run' | 'isKnown'>;
  /** The real clock: it supplies the time of an outcome, which is recorded with it. */
  readonly clock: Clock;
  readonly oneOutcome?: OneOutcome | undefined;
  /** The system changes when a step is undone. */
  readonly system: () => DurableActorSystem;
  /** Receives an event that cannot be recorded, because no call or effect sent it. */
  readonly lose: (report: Report) => void;
}

/** A call or an effect in progress. It has one outcome after another, each with what it has reported. */
class Call {
  /** Null if no outcome is requested. */
  pending: PendingOutcome | null = null;
  /** Its reports in this process. */
  readonly reports: Report[] = [];
  /** Those in its last outcome, until the run takes it. */
  unread: readonly Report[] = [];
  /** Whether its outcome waits for reports. */
  isWaiting = false;
  isStarted = false;
  /** Whether it is an effect that has ended. */
  isEnded = false;
  /** Whether no outcome follows. */
  isOver = false;
  /** Whether an earlier process has started it. */
  wasInterrupted = false;
  /** Whether its outcome is complete. */
  isReady = false;
  wake = (): void => {};

  complete(): void {
    this.isReady = true;
    this.wake();
  }
}

const isOutside = ({ type }: Report): boolean => type === 'delivery' || type === 'stopped';

const callKey = (activity: number): string => `call ${activity}`;
const effectKey = (effect: number): string => `effect ${effect}`;

/** Runs the calls and effects of an actor system in a cluster, which records what they report: the inbox of a run. */
export class Calls {
  readonly #options: CallsOptions;
  readonly #calls = new Map<string, Call>();
  /** Whether this process has started a call or an effect: then no recorded outcome is left. */
  #isLive = false;
  /** The effect that is being executed. */
  #executed: Call | undefined;
  /** Events that code sent outside of its own call, until another call reports them. */
  #unreported: readonly Report[] = [];

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  /** Takes what calls, effects and other code report between steps. */
  receive(report: ExternalEvent): void {
    const { oneOutcome } = this.#options;
    const call = this.#reporterOf(report);
    if (call === undefined) {
      if (isOutside(report)) this.#unreported = [...this.#unreported, report];
      this.#reportOthers();
      return;
    }
    const isResult = report.type === 'failed' || oneOutcome === undefined || oneOutcome.isResult(report);
    if (isResult || oneOutcome.isKept(report)) call.reports.push(report);
    if (isResult) call.complete();
  }

  note(given: Json, activity: number): void {
    const report = { type: 'note', note: given, activity } as const;
    if (this.#options.oneOutcome?.isKept(report) !== false) this.#calls.get(callKey(activity))?.reports.push(report);
  }

  /** Requests the next outcome of each call and effect in progress, in the same order in each process, and returns all that are pending. */
  pending(): readonly PendingOutcome[] {
    const { openEffects, activities } = this.#options.system();
    this.#abandonAllBut(new Set([...[...openEffects.keys()].map(effectKey), ...[...activities.keys()].map(callKey)]));
    for (const number of openEffects.keys()) this.#request(effectKey(number), effectKey(number));
    for (const { number, source } of activities.values()) this.#request(callKey(number), `${source} ${number}`);
    if (this.#isLive) this.#options.system().feed();
    this.#reportOthers();
    return [...this.#calls.values()].flatMap((call) => call.pending ?? []);
  }

  /** Takes an outcome. Returns the number of the effect that has ended with it, if any. */
  take({ call: key, isEnded }: CallOutcome): number | undefined {
    const call = this.#calls.get(key);
    if (call !== undefined)
      Object.assign(call, { pending: null, unread: [], isOver: this.#options.oneOutcome !== undefined });
    return isEnded ? Number(key.split(' ')[1]) : undefined;
  }

  /** Ends the calls that the machine has stopped, so that the cluster does not wait for them. Nobody reads their outcomes. */
  #abandonAllBut(open: ReadonlySet<string>): void {
    for (const [key, call] of this.#calls) {
      if (open.has(key)) continue;
      this.#calls.delete(key);
      this.#unreported = [...[...call.unread, ...call.reports.splice(0)].filter(isOutside), ...this.#unreported];
      call.complete();
    }
  }

  /**
   * A call whose outcome waits reports the events that code sent outside of its own call; an effect if possible, because the machine cannot
   * abandon it. If none waits, the next one reports them. Without calls, they cannot be recorded.
   */
  #reportOthers(): void {
    if (this.#unreported.length === 0) return;
    const { oneOutcome, lose } = this.#options;
    const waiting = oneOutcome === undefined ? [...this.#calls].filter(([, { isWaiting }]) => isWaiting) : [];
    const [, call] = waiting.find(([key]) => key.startsWith('effect')) ?? waiting[0] ?? [];
    if (call !== undefined) {
      call.reports.push(...this.#unreported);
      call.complete();
    } else if (oneOutcome === undefined && this.#calls.size > 0) return;
    else for (const report of this.#unreported) lose(report);
    this.#unreported = [];
  }

  #reporterOf(event: ExternalEvent): Call | undefined {
    if (event.type === 'activity-event') return this.#calls.get(callKey(event.activity));
    if (event.type !== 'failed') return this.#executed;
    if (event.effect !== undefined) return this.#calls.get(effectKey(event.effect));
    const { activities } = this.#options.system();
    return this.#calls.get(callKey([...activities.values()].find(({ path }) => path === event.actor)?.number ?? -1));
  }

  /** Requests the next outcome of a call. */
  #request(key: string, name: string): void {
    const { cluster, clock, oneOutcome } = this.#options;
    const call = this.#calls.get(key) ?? new Call();
    this.#calls.set(key, call);
    if (call.pending !== null || call.isOver) return;
    call.wasInterrupted ||= oneOutcome === undefined && cluster.isKnown();
    call.pending = cluster.run(name, async () => {
      this.#startAll();
      if (!call.isReady && this.#unreported.length === 0)
        await new Promise<void>((resolve) => {
          call.isWaiting = true;
          call.wake = resolve;
        });
      call.isWaiting = false;
      call.isReady = false;
      const reports = call.reports.splice(0);
      if (this.#calls.get(key) === call) {
        reports.unshift(...this.#unreported);
        this.#unreported = [];
      }
      call.unread = reports;
      return { type: 'call', call: key, reports, isEnded: call.isEnded, atMs: clock.now() };
    });
  }

  /** Starts the calls and effects whose outcomes are requested, in the machine's order, because a cluster starts its runs in any order. */
  #startAll(): void {
    this.#isLive = true;
    const system = this.#options.system();
    for (const effect of system.openEffects.values()) {
      const call = this.#calls.get(effectKey(effect.number));
      if (call === undefined || call.isStarted) continue;
      call.isStarted = true;
      this.#execute(effect, call);
    }
    for (const activity of system.activities.values()) {
      const call = this.#calls.get(callKey(activity.number));
      if (call === undefined) continue;
      call.isStarted = true;
      activity.wasInterrupted = call.wasInterrupted;
    }
    system.release(() => false);
  }

  #execute(effect: Effect, call: Call): void {
    const end = (): void => {
      call.isEnded = true;
      call.complete();
    };
    this.#executed = call;
    if (runEffect(effect, end)) end();
    this.#executed = undefined;
  }
}
