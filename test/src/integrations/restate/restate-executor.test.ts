import { describe, expect, it } from 'vitest';
import {
  type AnyActorLogic,
  type AnyStateMachine,
  createMachine,
  fromCallback,
  fromPromise,
  SimulatedClock,
} from 'xstate';
import type { DurableEntry } from '../../../../src/durable/entries.ts';
import { addNote } from '../../../../src/durable/hosted-call.ts';
import { startEntry } from '../../../../src/durable/replay.ts';
import type { CallOutcome, Cluster, PendingOutcome } from '../../../../src/integrations/restate/cluster.ts';
import { CHAIN_CALLS } from '../../../../src/integrations/restate/create-restate-chain.ts';
import { RestateExecutor } from '../../../../src/integrations/restate/restate-executor.ts';

/** Executes a machine in a cluster that only records its requests. */
function createExecutorOf(machine: AnyStateMachine, calls = CHAIN_CALLS) {
  const steps: (() => Promise<CallOutcome>)[] = [];
  const pendingOf = (what: string) => ({ what }) as unknown as PendingOutcome & { readonly what: string };
  const cluster: Cluster = {
    run(name, act) {
      steps.push(act);
      return pendingOf(name);
    },
    sleep: (ms) => pendingOf(`sleep ${ms}`),
    sent: (number) => pendingOf(`sent ${number}`),
    isKnown: () => false,
    first: () => new Promise(() => {}),
  };
  const entries: DurableEntry[] = [];
  const start = startEntry(machine, { actorId: 'run', input: null, seed: 0, startedAtMs: 1000 });
  const executor = new RestateExecutor(start, {
    machine,
    describeCall: () => null,
    describeEnd: () => null,
    logger: () => {},
    ...calls,
    cluster,
    clock: new SimulatedClock(),
    onEntry: (entry) => void entries.push(entry),
  });
  executor.system.begin();
  const waitingFor = () => executor.pending().map((pending) => (pending as PendingOutcome & { what: string }).what);
  const state = () => (executor.system.root.getSnapshot() as { value: unknown }).value;
  return { executor, entries, steps, waitingFor, state };
}

/** A machine that calls `port` and waits for 50 ms. */
function createExecutor(port: AnyActorLogic) {
  const machine = createMachine(
    {
      initial: 'calling',
      states: {
        calling: {
          invoke: { src: 'port', onDone: 'done', onError: 'failed' },
          after: { 50: 'late' },
          on: { 'run.finished': 'stopped', 'reply.ended': 'done' },
        },
        done: {},
        failed: {},
        late: {},
        stopped: {},
      },
    },
    { actors: { port } },
  );
  return createExecutorOf(machine);
}

const finished = { type: 'sent', id: 'one', event: { type: 'run.finished' }, atMs: 1005 } as const;
const retrieval = { type: 'retrieval', query: 'so', passages: 0, widened: false, failure: null } as const;

/** A call that reports all at once. */
const talkative = fromCallback(({ sendBack, self }) => {
  addNote({ self }, { type: 'text-delta', attemptId: 'a', text: 'piece' });
  for (const type of ['reply.started', 'reply.progressed']) sendBack({ type });
  addNote({ self }, retrieval);
  sendBack({ type: 'reply.ended' });
});

describe('RestateExecutor', () => {
  it('abandons a call that its machine no longer waits for, so that its step ends', async () => {
    let isAborted = false;
    const { executor, steps, waitingFor } = createExecutor(
      fromCallback(() => () => {
        isAborted = true;
      }),
    );
    expect(waitingFor()).toEqual(['sent 0', 'sleep 1050', 'port 0']);
    const outcome = steps[0]?.();
    executor.take(finished);
    expect(waitingFor()).toEqual(['sent 1']);
    expect(isAborted).toBe(true);
    expect(await outcome).toMatchObject({ call: 'call 0', reports: [] });
  });

  it('does not start an abandoned call', async () => {
    const { executor, steps, waitingFor } = createExecutor(talkative);
    waitingFor();
    executor.take(finished);
    waitingFor();
    expect(await steps[0]?.()).toMatchObject({ call: 'call 0', reports: [] });
  });

  it('takes what a call reported in order, without progress and text, and does the same in another process', async () => {
    const { executor, entries, steps, waitingFor } = createExecutor(talkative);
    waitingFor();
    const outcome = await steps[0]?.();
    const before = entries.length;
    expect(entries.filter(({ type }) => type === 'note' || type === 'activity-event')).toEqual([]);
    executor.take({ ...(outcome as CallOutcome), atMs: 1040 });
    expect(entries.slice(before)).toMatchObject([
      { type: 'activity-event', atMs: 40, activity: 0, event: { type: 'reply.started' } },
      { type: 'note', atMs: 40, activity: 0, note: retrieval },
      { type: 'activity-event', atMs: 40, activity: 0, event: { type: 'reply.ended' } },
      { type: 'transition', event: 'reply.ended' },
    ]);
    expect(waitingFor()).toEqual(['sent 0']);

    const other = createExecutor(
      fromCallback(() => {
        throw new Error('called again');
      }),
    );
    other.waitingFor();
    other.executor.take(JSON.parse(JSON.stringify({ ...outcome, atMs: 1040 })));
    expect(other.entries).toEqual(entries);
  });

  it("starts effects and calls in the machine's order, whichever the cluster runs first", async () => {
    const started: string[] = [];
    const start = (name: string) => (): void => void started.push(name);
    const call = fromCallback(start('call'));
    const machine = createMachine({ entry: [start('one'), start('two')], invoke: { src: call, id: 'call' } });
    const { oneOutcome: _, ...calls } = CHAIN_CALLS;
    const { steps, waitingFor } = createExecutorOf(machine, calls);
    expect(waitingFor()).toEqual(['sent 0', 'effect 0', 'effect 1', 'xstate.invoke.0.(machine) 0']);
    for (const act of steps.toReversed()) void act();
    expect(started).toEqual(['one', 'two', 'call']);
  });

  it('waits for the next user event after each, delivers one of each id, and never goes back in time', () => {
    const { executor, entries, waitingFor, state } = createExecutor(fromCallback(() => {}));
    for (const [id, atMs] of [
      ['one', 1040],
      ['one', 1040],
      ['two', 1030],
    ] as const)
      executor.take({ ...finished, id, atMs });
    const deliveries = entries.filter(({ type }) => type === 'delivery');
    expect(deliveries).toMatchObject(Array(2).fill({ atMs: 40, event: finished.event }));
    expect(state()).toBe('stopped');
    expect(waitingFor()).toEqual(['sent 3']);
  });

  it('fires a timer when its sleep has ended', () => {
    const { executor, entries, waitingFor, state } = createExecutor(fromCallback(() => {}));
    waitingFor();
    executor.take({ type: 'slept', atMs: 1080 });
    expect(entries.find(({ type }) => type === 'timer')).toMatchObject({ atMs: 80, timer: 0 });
    expect(state()).toBe('late');
  });

  it('takes an event that came when a timer was due, or earlier, before the timer', () => {
    const { executor, waitingFor, state } = createExecutor(fromCallback(() => {}));
    waitingFor();
    executor.take({ ...finished, atMs: 1050 });
    expect(state()).toBe('stopped');
  });

  const circular: unknown[] = [];
  circular.push(circular);
  it.each([
    ['rejects', fromPromise(() => Promise.reject(new TypeError('a bug'))), 'a bug'],
    [
      'throws',
      fromCallback(() => {
        throw new TypeError('a bug');
      }),
      'a bug',
    ],
    ['returns a value that is not JSON', fromPromise(async () => circular), 'circular'],
    ['returns a function', fromPromise(async () => () => {}), 'function'],
  ])('a call that %s ends its step with the error', async (_, port, message) => {
    const { executor, steps, waitingFor, state } = createExecutor(port);
    waitingFor();
    const outcome = await steps[0]?.();
    expect(JSON.stringify(outcome)).toContain(message);
    executor.take(JSON.parse(JSON.stringify(outcome)));
    expect(state()).toBe('failed');
    expect(waitingFor()).toEqual(['sent 0']);
  });
});
