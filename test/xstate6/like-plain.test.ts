import { beforeAll, describe, expect, it } from 'vitest';
import { createActor, createAsyncLogic, createCallbackLogic, createLogic, createMachine } from 'xstate6';
import { hostXState6 } from '../../src/entries/xstate6.ts';
import { type PlainStep, runDurable, runPlain } from '../support/plain-six.ts';

beforeAll(() => hostXState6({ createActor }));

const machineOf = (config: object) => createMachine(config as never);

// biome-ignore lint/suspicious/noExplicitAny: XState 6 has no types for these arguments outside of a literal.
type Args = any;

const echo = createCallbackLogic(({ sendBack, receive }: Args) => {
  receive(({ type }: { readonly type: string }) => type === 'PING' && sendBack({ type: 'PONG' }));
});

const counter = createLogic({
  context: { n: 0 },
  run: ({ context, event }: Args, enqueue: Args) => {
    if (event.type === 'effect') enqueue.effect(() => {});
    if (event.type !== 'add') return;
    enqueue.emit({ type: 'added' });
    return { context: { n: context.n + 1 } };
  },
} as never);

const count = ({ context }: Args) => ({ context: { n: context.n + 1 } });

const machines: Readonly<Record<string, { readonly config: () => object; readonly steps: readonly PlainStep[] }>> = {
  'an event for a callback that is invoked in the same step': {
    config: () => ({
      initial: 'asking',
      states: {
        asking: {
          invoke: { id: 'echo', src: echo },
          entry: ({ children }: Args, enqueue: Args) => enqueue.sendTo(children.echo, { type: 'PING' }),
          on: { PONG: 'answered' },
        },
        answered: { type: 'final' },
      },
    }),
    steps: [],
  },
  'logic that only computes a context': {
    config: () => ({
      context: { n: 0 },
      invoke: { id: 'counter', src: counter },
      on: {
        ADD: ({ children }: Args, enqueue: Args) => enqueue.sendTo(children.counter, { type: 'add' }),
        READ: ({ children }: Args) => ({ context: { n: children.counter.getSnapshot().context.n } }),
      },
    }),
    steps: [{ type: 'ADD' }, { type: 'ADD' }, { type: 'READ' }],
  },
  'subscriptions and listeners of its children': {
    config: () => ({
      context: { n: 0 },
      entry: (_: Args, enqueue: Args) => {
        const child = enqueue.spawn(counter, { id: 'counter' });
        enqueue.subscribeTo(child, { snapshot: () => ({ type: 'CHANGED' }) });
        enqueue.listen(child, 'added', () => ({ type: 'ADDED' }));
      },
      on: {
        ADD: ({ children }: Args, enqueue: Args) => enqueue.sendTo(children.counter, { type: 'add' }),
        CHANGED: count,
        ADDED: count,
      },
    }),
    steps: [{ type: 'ADD' }],
  },
  'a listener of a callback': {
    config: () => ({
      context: { n: 0 },
      entry: (_: Args, enqueue: Args) => {
        const child = enqueue.spawn(
          createCallbackLogic(({ receive, emit }: Args) => receive(() => emit({ type: 'heard' }))),
          { id: 'callback' },
        );
        enqueue.listen(child, 'heard', () => ({ type: 'HEARD' }));
      },
      on: {
        SAY: ({ children }: Args, enqueue: Args) => enqueue.sendTo(children.callback, { type: 'say' }),
        HEARD: count,
      },
    }),
    steps: [{ type: 'SAY' }, { type: 'SAY' }],
  },
  'an internal event from outside': {
    config: () => ({ internalEvents: ['tick'], initial: 'a', states: { a: { on: { tick: 'b' } }, b: {} } }),
    steps: [{ type: 'tick' }],
  },
  'a route': {
    config: () => ({ initial: 'a', states: { a: {}, b: { id: 'b', route: {} } } }),
    steps: [{ type: 'xstate.route', to: '#b' } as PlainStep],
  },
  'delays in words': {
    config: () => ({ initial: 'a', states: { a: { after: { PT1S: 'b' } }, b: { after: { '500ms': 'c' } }, c: {} } }),
    steps: [1000, 500],
  },
};

describe.each(Object.entries(machines))('a machine with %s', (_, { config, steps }) => {
  it('does the same as with XState 6 alone, also after each step is restored', async () => {
    const plain = await runPlain(machineOf(config()), steps);
    const { seen, divergence, replayed } = await runDurable(machineOf(config()), steps);
    expect(seen).toEqual(plain);
    expect(divergence).toBeNull();
    expect(replayed).toEqual(plain.at(-1));
  });
});

it('refuses an effect of logic that began without one', async () => {
  const machine = machineOf({
    initial: 'a',
    states: {
      a: {
        invoke: { id: 'counter', src: counter, onError: ({ event }: Args) => ({ target: 'b', context: event.error }) },
        on: { GO: ({ children }: Args, enqueue: Args) => enqueue.sendTo(children.counter, { type: 'effect' }) },
      },
      b: {},
    },
  });
  const { seen, divergence } = await runDurable(machine, [{ type: 'GO' }]);
  expect(seen.at(-1)).toMatchObject({ value: 'b', context: { code: 'not_durable' } });
  expect(divergence).toBeNull();
});

it('repeats only the step of a call that its process did not finish', async () => {
  const steps: string[] = [];
  const src = createAsyncLogic({
    run: async (_: Args, { step }: Args) => {
      await step('charge', async () => steps.push('charge'));
      await step('mail', () => (steps.push('mail') > 2 ? Promise.resolve() : new Promise(() => {})));
    },
  });
  const config = { initial: 'paying', states: { paying: { invoke: { src, onDone: 'paid' } }, paid: {} } };
  const { seen, divergence } = await runDurable(machineOf(config), [1]);
  expect(steps).toEqual(['charge', 'mail', 'mail']);
  expect(seen.map(({ value }) => value)).toEqual(['paying', 'paid']);
  expect(divergence).toBeNull();
});
