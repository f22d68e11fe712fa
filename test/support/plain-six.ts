import type { AnyStateMachine } from 'xstate';
import { createActor } from 'xstate6';
import { createDurableMachine } from '../../src/durable/durable-machine.ts';
import { memoryJournals } from '../../src/durable/journals/memory-journals.ts';
import { quiet } from './durable-runs.ts';
import { TestClock } from './simulated-clock.ts';

/** An event, or a time to wait in milliseconds. */
export type PlainStep = { readonly type: string } | number;

export interface Seen {
  readonly status: string;
  readonly value: unknown;
  readonly context: unknown;
  readonly output: unknown;
  readonly error: unknown;
}

const seenOf = ({ status, value, context, output, error }: Seen): Seen => ({ status, value, context, output, error });

/** Runs a machine with XState 6 alone, and returns the snapshot after each step. */
export async function runPlain(machine: unknown, steps: readonly PlainStep[]): Promise<readonly Seen[]> {
  const clock = new TestClock();
  const actor = createActor(machine as never, { id: 'a', clock, logger: () => {} } as never);
  actor.subscribe({ error: () => {} });
  actor.start();
  return afterEach(steps, clock, {
    send: (event) => actor.send(event as never),
    snapshot: () => actor.getSnapshot() as never,
  });
}

/** Runs a machine as a durable actor that is opened again after each step, and returns the snapshots, and whether a replay diverges. */
export async function runDurable(machine: unknown, steps: readonly PlainStep[]) {
  const clock = new TestClock();
  const journals = memoryJournals();
  const host = createDurableMachine(machine as AnyStateMachine, { journals, clock, logger: () => {} });
  const open = async () => {
    const opened = await host.open('a', { input: undefined } as never);
    void opened.output.catch(() => {});
    return opened;
  };
  let actor = await open();
  const seen = await afterEach(steps, clock, {
    send: (event) => actor.send(event as never),
    snapshot: () => actor.getSnapshot() as never,
    reopen: async () => {
      await actor.close();
      actor = await open();
    },
  });
  await actor.close();
  const { divergence, snapshot } = await host.replay('a');
  return { seen, divergence, replayed: seenOf(snapshot as never) };
}

interface Running {
  readonly send: (event: object) => unknown;
  readonly snapshot: () => Seen;
  readonly reopen?: () => Promise<void>;
}

async function afterEach(steps: readonly PlainStep[], clock: TestClock, running: Running): Promise<readonly Seen[]> {
  const seen: Seen[] = [];
  for (const step of [0, ...steps]) {
    if (typeof step === 'number') clock.increment(step);
    else await running.send(step);
    await quiet(() => clock.openTimers);
    seen.push(seenOf(running.snapshot()));
    await running.reopen?.();
  }
  return seen;
}
