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
import { flush } from './attempt/attempt-rig.ts';

/** How XState 5.33 runs actors, as the charts rely on it: shared/XSTATE-NOTES.md. */

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

  test('the output of a machine is made from its final context, and is the event of its parent', async () => {
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

  test('what an actor sends back after it was stopped is not heard', () => {
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

  test('what an actor sends back while it starts is heard', () => {
    const src = fromCallback(({ sendBack }) => sendBack({ type: 'told' }));
    expect(createActor(inviting(src)).start().getSnapshot().context.got).toBe('told');
  });

  test('a callback actor that throws as it starts is an error event of its parent', () => {
    const src = fromCallback(() => {
      throw new Error('at start');
    });
    expect(createActor(inviting(src)).start().getSnapshot()).toMatchObject({
      value: 'broken',
      context: { got: { message: 'at start' } },
    });
  });

  test('the signal of a promise actor aborts when its state is left, and its end is not heard', async () => {
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

  test('invoked machines run on the clock of the root', () => {
    const clock = new SimulatedClock();
    const child = createMachine({ initial: 'a', states: { a: { after: { 10: 'b' } }, b: { type: 'final' } } });
    const actor = createActor(inviting(child), { clock }).start();
    clock.increment(9);
    expect(actor.getSnapshot().value).toBe('busy');
    clock.increment(1);
    expect(actor.getSnapshot().value).toBe('done');
  });

  test('a context that throws is an error of the actor, told to its observer at start and to its parent as an event', () => {
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

  test('an action that throws is an error of its machine', () => {
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

  test('the machine’s own implementations are seen from its context function: how a missing port is found', () => {
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

  test('toPromise resolves to nothing when the actor is stopped', async () => {
    const actor = createActor(inviting(fromPromise(() => new Promise(() => {})))).start();
    const ended = toPromise(actor);
    actor.stop();
    expect(await ended).toBeUndefined();
  });
});
