import { SimulatedClock } from 'xstate';
import type { ChainEvent } from '../../machines/contracts/events.ts';
import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { FinalAnswer } from '../../machines/contracts/synthesis.ts';
import { type PostChainOptions, resolveOptions } from '../../src/chain/runtime/options.ts';
import type { Clock } from '../../src/durable/clock.ts';
import type { Json } from '../../src/durable/codec.ts';
import type { Cluster, ClusterOutcome, PendingOutcome } from '../../src/integrations/restate/cluster.ts';
import { runOnCluster } from '../../src/integrations/restate/create-restate-chain.ts';
import { type RestateRunOptions, restateStart } from '../../src/integrations/restate/run-request.ts';
import { settle } from '../../src/testing/settle.ts';

export interface ClusterRun {
  readonly answer: FinalAnswer;
  /** The journal of each process, from the first entry on. */
  readonly journals: readonly (readonly JournalEntry[])[];
  readonly cluster: ReturnType<typeof createFakeCluster>;
}

interface ClusterPlan {
  readonly options: PostChainOptions;
  readonly clock?: SimulatedClock;
  readonly run?: Partial<RestateRunOptions>;
  /** After how many outcomes each process is killed; one more process completes the run. */
  readonly kills?: readonly number[];
  /** Sent in order, each when nothing else happens, before time advances. */
  readonly userEvents?: readonly ChainEvent[];
  /** Whether the cluster cancels the run as soon as nothing else happens. */
  readonly isInterrupted?: boolean;
}

/** Runs a chain on a fake cluster to its end. Time advances only when nothing else happens. */
export async function runOnFakeCluster({ clock = new SimulatedClock(), ...plan }: ClusterPlan): Promise<ClusterRun> {
  const options = { ...plan.options, clock };
  const parts = resolveOptions(options);
  const started = restateStart('run-1', { request: 'Is it so?', ...plan.run }, parts);
  const cluster = createFakeCluster(clock);
  const journals: JournalEntry[][] = [];
  const userEvents = [...(plan.userEvents ?? [])];
  let answer: FinalAnswer | null = null;

  for (const lives of [...(plan.kills ?? []), Number.POSITIVE_INFINITY]) {
    const journal: JournalEntry[] = [];
    journals.push(journal);
    const member = cluster.connect(lives);
    const lost = new AbortController();
    // As read back from the cluster.
    const stored = JSON.parse(JSON.stringify(started)) as typeof started;
    runOnCluster(stored, {
      parts,
      cluster: member.operations,
      keep: (entries) => void journal.push(...entries),
      signal: lost.signal,
    }).then((result) => {
      answer = result;
    });
    for (let idle = 0; answer === null && member.isAlive; ) {
      const before = cluster.log.length + cluster.commands.length;
      await settle(3);
      if (cluster.log.length + cluster.commands.length !== before) idle = 0;
      else if (plan.isInterrupted && idle === 0) {
        idle += 1;
        member.interrupt();
      } else if (userEvents.length > 0) cluster.send(userEvents.shift() as ChainEvent);
      else {
        idle += 1;
        if (idle > 2000) throw new Error('the run hangs');
        clock.increment(1000);
      }
    }
    lost.abort();
    if (answer !== null) break;
  }
  if (answer === null) throw new Error('there is no answer');
  return { answer, journals, cluster };
}

/** A request of a process. Each process must make the same requests in the same order. */
interface Command {
  readonly name: string;
  readonly isStep: boolean;
}

/** A pending outcome, identified by its command number. */
interface Awaited extends PendingOutcome {
  readonly command: number;
}

/**
 * A cluster in memory: keeps requests and outcomes in order, and gives each process the same outcomes in the same order. Throws if a process
 * makes other requests than the one before it.
 */
export function createFakeCluster(clock: Clock) {
  const commands: Command[] = [];
  const log: { readonly command: number; readonly json: string }[] = [];
  const promises: { command: number | null; json: string | null }[] = [];
  const times = new Map<number, number>();
  let wake = (): void => {};
  const begun: string[] = [];

  function record(command: number, outcome: ClusterOutcome): void {
    log.push({ command, json: JSON.stringify(outcome) });
    wake();
  }

  function promiseOf(number: number) {
    promises[number] ??= { command: null, json: null };
    return promises[number];
  }

  return {
    commands: commands as readonly Command[],
    log: log as readonly { readonly command: number; readonly json: string }[],
    /** The started steps, including those of killed processes. */
    begun: begun as readonly string[],
    send(event: object, id = `event ${promises.filter(({ json }) => json !== null).length}`): void {
      const number = promises.findIndex(({ json }) => json === null);
      const promise = promiseOf(number < 0 ? promises.length : number);
      promise.json = JSON.stringify({
        type: 'sent',
        id,
        event: event as Json,
        atMs: clock.now(),
      } satisfies ClusterOutcome);
      if (promise.command !== null) record(promise.command, JSON.parse(promise.json));
    },
    /** Starts a process. It is killed after this many outcomes, in the middle of its steps. */
    connect(lives = Number.POSITIVE_INFINITY) {
      const steps = new Map<number, () => Promise<ClusterOutcome>>();
      const ready = new Set<number>();
      let requested = 0;
      let read = 0;
      let alive = true;
      let isInterrupted = false;

      const request = (name: string, isStep: boolean): { command: number; isNew: boolean } => {
        const command = requested;
        requested += 1;
        const known = commands[command];
        if (known === undefined) commands.push({ name, isStep });
        else if (known.name !== name) throw new Error(`request ${command} is ${name}; it was ${known.name} before`);
        return { command, isNew: known === undefined };
      };
      const awaited = (command: number): Awaited => ({ command }) as Awaited;
      const never = new Promise<never>(() => {});

      const outcomeOf = (of: number): ClusterOutcome =>
        JSON.parse(log.find(({ command }) => command === of)?.json ?? 'null') as ClusterOutcome;
      /** The process that learns of the end of a sleep records the time. */
      const timed = (outcome: ClusterOutcome): ClusterOutcome => {
        const { command, isNew } = request('time', false);
        if (isNew) times.set(command, clock.now());
        return { ...outcome, atMs: times.get(command) ?? 0 } as ClusterOutcome;
      };

      const beginSteps = (pending: readonly Awaited[]): void => {
        for (const { command } of pending) {
          const act = steps.get(command);
          if (act === undefined || log.some((logged) => logged.command === command)) continue;
          steps.delete(command);
          begun.push(commands[command]?.name ?? '');
          act().then((outcome) => alive && record(command, outcome));
        }
      };

      const operations: Cluster = {
        run(name, act) {
          const { command } = request(name, true);
          steps.set(command, act);
          return awaited(command);
        },
        sleep(untilMs) {
          if (!Number.isInteger(untilMs)) throw new Error(`a sleep until ${untilMs} ms`);
          const { command, isNew } = request(`sleep until ${untilMs}`, false);
          const end = (): void => record(command, { type: 'slept', atMs: 0 });
          if (isNew && untilMs <= clock.now()) end();
          else if (isNew) clock.setTimeout(end, untilMs - clock.now());
          return awaited(command);
        },
        sent(number) {
          const { command } = request(`sent ${number}`, false);
          const promise = promiseOf(number);
          if (promise.command === null && promise.json !== null) record(command, JSON.parse(promise.json));
          promise.command = command;
          return awaited(command);
        },
        isKnown: () => commands[requested] !== undefined,
        async first(candidates) {
          const pending = candidates as readonly Awaited[];
          for (; alive; ) {
            if (isInterrupted) {
              isInterrupted = false;
              return { type: 'interrupted' };
            }
            const first = pending.find(({ command }) => ready.has(command));
            if (first !== undefined) {
              lives -= 1;
              const outcome = outcomeOf(first.command);
              return outcome.type === 'slept' ? timed(outcome) : outcome;
            }
            const next = log[read];
            if (next !== undefined) {
              read += 1;
              ready.add(next.command);
              continue;
            }
            beginSteps(pending);
            if (lives <= 0) break;
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
          }
          alive = false;
          return never;
        },
      };
      return {
        operations,
        interrupt() {
          isInterrupted = true;
          wake();
        },
        get isAlive() {
          return alive;
        },
      };
    },
  };
}
