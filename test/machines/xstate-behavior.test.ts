import { describe, expect, test } from 'vitest';
import {
  type AnyActorLogic,
  assign,
  createActor,
  createMachine,
  fromCallback,
  fromPromise,
  SimulatedClock,
  setup,
  toPromise,
} from 'xstate';
import { flush } from '../support/attempt-machine.ts';

/** How XState 5.33 runs actors, as far as the charts rely on it. */

describe('actors in XState', () => {
  const inviting = (src: AnyActorLogic) =>
    setup({ types: { context: {} as { got: unknown } }, actors: { src } }).createMachine({
      context: { got: null },
      initial: 'busy',
      states: {
        busy: {
          invoke: {
            src: 'src',
            onDone: { target: 'done', actions: assign({ got: ({ event }) => (event as { output: unknown }).output }) },
            onError: { target: 'broken', actions: assign({ got: ({ event }) => event.error }) },
          },
          on: { leave: 'left', told: { actions: assign({ got: 'told' }) } },
        },
        left: { on: { told: { actions: assign({ got: 'told too late' }) } } },
        done: { type: 'final' },
        broken: {},
      },
    });

  test('derive the output of a machine from its final context and send it to the parent as an event', async () => {
    const child = setup({ types: { context: {} as { n: number }, output: {} as number } }).createMachine({
      context: { n: 1 },
      output: ({ context }) => context.n,
      initial: 'a',
      states: {
        a: { always: { target: 'b', actions: assign({ n: 2 }) } },
        b: { type: 'final', entry: assign({ n: 3 }) },
      },
    });
    expect(await toPromise(createActor(child).start())).toBe(3);
    expect(createActor(inviting(child)).start().getSnapshot()).toMatchObject({ value: 'done', context: { got: 3 } });
  });

  test('ignore what an actor sends back after it was stopped', () => {
    let sendBack: (event: { type: string }) => void = () => {};
    let stopped = 0;
    const actor = createActor(
      inviting(
        fromCallback((args) => {
          sendBack = args.sendBack;
          return () => (stopped += 1);
        }),
      ),
    ).start();
    sendBack({ type: 'told' });
    expect(actor.getSnapshot().context.got).toBe('told');
    actor.send({ type: 'leave' });
    sendBack({ type: 'told' });
    expect([actor.getSnapshot().context.got, stopped]).toEqual(['told', 1]);
  });

  test('receive what an actor sends back while it starts', () => {
    const src = fromCallback(({ sendBack }) => sendBack({ type: 'told' }));
    expect(createActor(inviting(src)).start().getSnapshot().context.got).toBe('told');
  });

  test('report a callback actor that throws on start as an error event of the parent', () => {
    const src = fromCallback(() => {
      throw new Error('at start');
    });
    expect(createActor(inviting(src)).start().getSnapshot()).toMatchObject({
      value: 'broken',
      context: { got: { message: 'at start' } },
    });
  });

  test('abort the signal of a promise actor when its state is exited, and ignore its result', async () => {
    let signal: AbortSignal | undefined;
    let finish: (value: string) => void = () => {};
    const src = fromPromise((args) => {
      signal = args.signal;
      return new Promise<string>((resolve) => (finish = resolve));
    });
    const actor = createActor(inviting(src)).start();
    expect(signal?.aborted).toBe(false);
    actor.send({ type: 'leave' });
    expect(signal?.aborted).toBe(true);
    finish('late');
    await flush();
    expect(actor.getSnapshot()).toMatchObject({ value: 'left', context: { got: null } });
  });

  test('run invoked machines on the clock of the root', () => {
    const clock = new SimulatedClock();
    const child = createMachine({ initial: 'a', states: { a: { after: { 10: 'b' } }, b: { type: 'final' } } });
    const actor = createActor(inviting(child), { clock }).start();
    clock.increment(9);
    expect(actor.getSnapshot().value).toBe('busy');
    clock.increment(1);
    expect(actor.getSnapshot().value).toBe('done');
  });

  test('report a throwing context function to the observer at start and to the parent as an event', () => {
    const child = setup({}).createMachine({
      context: () => {
        throw new Error('no context');
      },
    });
    const errors: unknown[] = [];
    const actor = createActor(child);
    expect(actor.getSnapshot().status).toBe('error');
    actor.subscribe({ error: (error) => errors.push(error) });
    expect(() => actor.start()).not.toThrow();
    expect(errors).toEqual([expect.objectContaining({ message: 'no context' })]);
    expect(createActor(inviting(child)).start().getSnapshot().value).toBe('broken');
  });

  test('report an action that throws as an error of its machine', () => {
    const errors: unknown[] = [];
    const machine = createMachine({
      initial: 'a',
      states: {
        a: {
          on: {
            go: {
              actions: assign(() => {
                throw new Error('in action');
              }),
            },
          },
        },
      },
    });
    const actor = createActor(machine);
    actor.subscribe({ error: (error) => errors.push(error) });
    actor.start();
    actor.send({ type: 'go' });
    expect(actor.getSnapshot().status).toBe('error');
    expect(errors).toHaveLength(1);
  });

  test('expose the provided implementations to the context function, which is how a missing actor is found', () => {
    const seen: unknown[] = [];
    const machine = setup({ actors: { ask: fromPromise(async () => 1) } }).createMachine({
      context: ({ self }) => {
        seen.push((self as unknown as { logic: { implementations: { actors: object } } }).logic.implementations.actors);
        return {};
      },
    });
    const given = fromPromise(async () => 2);
    createActor(machine.provide({ actors: { ask: given } }));
    expect(seen).toEqual([{ ask: given }]);
  });

  test('resolve toPromise to undefined when stopped', async () => {
    const actor = createActor(inviting(fromPromise(() => new Promise(() => {})))).start();
    const ended = toPromise(actor);
    actor.stop();
    expect(await ended).toBeUndefined();
  });
});
