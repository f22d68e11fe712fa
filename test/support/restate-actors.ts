import { type AnyStateMachine, SimulatedClock } from 'xstate';
import { createCodec, type Json } from '../../src/durable/codec.ts';
import type { DurableEntry } from '../../src/durable/entries.ts';
import { startEntry } from '../../src/durable/replay.ts';
import { createDurableMachine, memoryJournals } from '../../src/entries/durable.ts';
import { type RestateActorStatus, runActorOnCluster } from '../../src/integrations/restate/create-restate-actor.ts';
import { settle } from '../../src/testing/settle.ts';
import type { Step } from './durable-machines.ts';
import { createFakeCluster } from './fake-restate.ts';

const START_MS = Date.parse('2026-01-01T00:00:00Z');

type PlannedStep = Step | ((status: RestateActorStatus) => object);

interface ActorPlan {
  readonly machine: AnyStateMachine;
  readonly input?: unknown;
  /** Taken one by one, when nothing else happens. */
  readonly steps: readonly PlannedStep[];
  /** Steps between the first process and the second. */
  readonly meanwhile?: readonly PlannedStep[];
  /** After how many outcomes each process is killed; one more process continues. */
  readonly kills?: readonly number[];
  /** The machines of the processes, one after the other; by default always the first. */
  readonly deployed?: readonly AnyStateMachine[];
  readonly versions?: Readonly<Record<string, AnyStateMachine>>;
  readonly log?: (...args: unknown[]) => void;
  /** Whether the cluster cancels the actor after the steps. */
  readonly isCancelled?: boolean;
}

/** Runs a machine on a fake cluster until nothing happens after its steps. */
export async function playActor({ machine, steps, kills = [], deployed = [], ...plan }: ActorPlan) {
  const clock = new SimulatedClock();
  clock.set(START_MS);
  const cluster = createFakeCluster(clock);
  const codec = createCodec();
  const parts = {
    codec,
    versions: plan.versions ?? {},
    describeCall: () => null,
    describeEnd: () => null,
    logger: plan.log ?? (() => {}),
    clock,
  };
  // Each play has the same random numbers.
  const input = codec.encode(plan.input, 'input');
  const start = startEntry(machine, { actorId: 'a', input, seed: 7, startedAtMs: START_MS });
  const rest = [...steps];
  const journals: (readonly DurableEntry[])[] = [];
  let status: RestateActorStatus | null = null;
  const take = (step: PlannedStep): void => {
    if (typeof step === 'number') clock.increment(step);
    else cluster.send(typeof step === 'function' ? step(status as unknown as RestateActorStatus) : step);
  };
  const end: { output?: Json; error?: unknown } = {};

  for (const [index, lives] of [...kills, Number.POSITIVE_INFINITY].entries()) {
    const journal: DurableEntry[] = [];
    journals.push(journal);
    const member = cluster.connect(lives);
    const lost = new AbortController();
    let hasEnded = false;
    const ended = (result: object): void => {
      hasEnded = true;
      Object.assign(end, result);
    };
    runActorOnCluster(deployed[index] ?? machine, JSON.parse(JSON.stringify(start)), {
      ...parts,
      cluster: member.operations,
      keep(entries, after) {
        journal.push(...(JSON.parse(JSON.stringify(entries)) as DurableEntry[]));
        status = after;
      },
      signal: lost.signal,
    }).then(
      (output) => ended({ output }),
      (error: unknown) => ended({ error }),
    );
    const size = (): number => cluster.log.length + cluster.commands.length + journal.length;
    const quiet = async (): Promise<void> => {
      for (let before = -1; before !== size(); ) {
        before = size();
        await settle(3);
      }
    };
    await quiet();
    while (member.isAlive && !hasEnded && rest.length > 0) {
      take(rest.shift() as PlannedStep);
      await quiet();
    }
    if (plan.isCancelled && lives === Number.POSITIVE_INFINITY) {
      member.interrupt();
      await quiet();
    }
    lost.abort();
    if (index === 0) for (const step of plan.meanwhile ?? []) take(step);
  }
  return {
    /** The journal of each process, from the first entry on. */
    journals,
    status: status as unknown as RestateActorStatus,
    /** How many outcomes the cluster recorded. */
    outcomes: cluster.log.length,
    /** The requests, in order. */
    requests: cluster.commands.map(({ name }) => name),
    output: end.output,
    error: end.error,
  };
}

/** Returns the divergence of a replay. */
export function divergenceOf(machine: AnyStateMachine, entries: readonly DurableEntry[]): unknown {
  const steps = createDurableMachine(machine, { journals: memoryJournals(), logger: () => {} }).replaySteps(entries);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value.divergence;
  }
}
