import { type AnyStateMachine, assign, createMachine, emit, fromPromise, raise, sendParent, sendTo } from 'xstate';
import { createAsyncLogic, createMachine as createMachine6 } from 'xstate6';

/** A machine in the form of each version of XState, and events or waiting times in milliseconds for it. */
export interface Both {
  readonly five: () => AnyStateMachine;
  readonly six: () => AnyStateMachine;
  readonly steps: readonly (string | number)[];
}

interface Args {
  readonly context: { readonly n: number };
  readonly children: Readonly<Record<string, object>>;
  readonly parent: object;
}

interface Enqueue {
  readonly emit: (event: object) => void;
  readonly raise: (event: object) => void;
  readonly sendTo: (actor: object | undefined, event: object) => void;
}

const made = (config: object): AnyStateMachine => createMachine(config as never);
const made6 = (config: object): AnyStateMachine => createMachine6(config as never) as unknown as AnyStateMachine;

const call = (result: unknown) => fromPromise(() => settled(result));
const call6 = (result: unknown) => createAsyncLogic({ run: () => settled(result) });

const settled = (result: unknown): Promise<unknown> =>
  result instanceof Error ? Promise.reject(result) : Promise.resolve(result);

const isMany = ({ context }: Args): boolean => context.n > 1;

/** Returns the same machine for both, where it needs nothing that differs. */
const alike = (config: object, steps: Both['steps']): Both => ({
  five: () => made(config),
  six: () => made6(config),
  steps,
});

export const machinesOfBoth: Readonly<Record<string, Both>> = {
  'guards, a counter and a delay': {
    five: () =>
      made({
        id: 'count',
        context: { n: 0 },
        initial: 'low',
        states: {
          low: {
            on: {
              add: [
                { guard: isMany, target: 'high' },
                { actions: assign({ n: ({ context }: Args) => context.n + 1 }) },
              ],
            },
          },
          high: { after: { 500: 'low' }, on: { stay: {}, add: 'end' } },
          end: { type: 'final' },
        },
      }),
    six: () =>
      made6({
        id: 'count',
        context: { n: 0 },
        initial: 'low',
        states: {
          low: {
            on: {
              add: [{ guard: isMany, target: 'high' }, { context: ({ context }: Args) => ({ n: context.n + 1 }) }],
            },
          },
          high: { after: { 500: 'low' }, on: { stay: {}, add: 'end' } },
          end: { type: 'final' },
        },
      }),
    steps: ['add', 'add', 'add', 'stay', 600, 'add', 'add'],
  },
  'a call that succeeds and one that fails': {
    five: () => made(payment(call({ receipt: 7 }), call(new Error('declined')))),
    six: () => made6(payment(call6({ receipt: 7 }), call6(new Error('declined')))),
    steps: ['pay', 'again'],
  },
  'regions that end, and a history': alike(
    {
      id: 'trip',
      initial: 'off',
      states: {
        off: { on: { go: 'both', back: 'both.one.past' } },
        both: {
          type: 'parallel',
          on: { off: 'off' },
          states: {
            one: {
              initial: 'a',
              states: {
                a: { on: { next: 'b' } },
                b: { on: { next: 'c' } },
                c: { type: 'final' },
                past: { type: 'history', target: 'a' },
              },
            },
            two: { initial: 'x', states: { x: { on: { done: 'y' } }, y: { type: 'final' } } },
          },
          onDone: 'over',
        },
        over: { type: 'final' },
      },
    },
    ['go', 'next', 'off', 'back', 'next', 'done'],
  ),
  'eventless transitions': alike(
    {
      id: 'chain',
      initial: 'a',
      states: {
        a: { on: { go: 'b' } },
        b: { always: [{ guard: () => false, target: 'a' }, { target: 'c' }] },
        c: { initial: 'd', states: { d: { always: 'e' }, e: { type: 'final' } }, onDone: 'f' },
        f: { type: 'final' },
      },
    },
    ['no', 'go'],
  ),
  'a child machine that answers': {
    five: () =>
      made({
        id: 'parent',
        context: { n: 0 },
        invoke: {
          id: 'child',
          src: made({
            id: 'child',
            context: { n: 0 },
            on: {
              ask: { actions: [assign({ n: ({ context }: Args) => context.n + 1 }), sendParent({ type: 'answer' })] },
            },
          }),
        },
        on: {
          ask: { actions: sendTo('child', { type: 'ask' }) },
          answer: { actions: [assign({ n: ({ context }: Args) => context.n + 1 }), emit({ type: 'answered' })] },
        },
      }),
    six: () =>
      made6({
        id: 'parent',
        context: { n: 0 },
        invoke: {
          id: 'child',
          src: made6({
            id: 'child',
            context: { n: 0 },
            on: {
              ask: ({ context, parent }: Args, enqueue: Enqueue) => {
                enqueue.sendTo(parent, { type: 'answer' });
                return { context: { n: context.n + 1 } };
              },
            },
          }),
        },
        on: {
          ask: ({ children }: Args, enqueue: Enqueue) => enqueue.sendTo(children['child'], { type: 'ask' }),
          answer: ({ context }: Args, enqueue: Enqueue) => {
            enqueue.emit({ type: 'answered' });
            return { context: { n: context.n + 1 } };
          },
        },
      }),
    steps: ['ask', 'other', 'ask'],
  },
  'a raised event': {
    five: () => made(raising({ actions: raise({ type: 'next' }) })),
    six: () => made6(raising((_: Args, enqueue: Enqueue) => enqueue.raise({ type: 'next' }))),
    steps: ['go'],
  },
};

const payment = (works: unknown, fails: unknown): object => ({
  id: 'payment',
  initial: 'open',
  states: {
    open: { on: { pay: 'paying', again: 'failing' } },
    paying: { invoke: { id: 'works', src: works, onDone: 'open' } },
    failing: { invoke: { id: 'fails', src: fails, onDone: 'open', onError: 'failed' } },
    failed: { type: 'final' },
  },
});

const raising = (go: unknown): object => ({
  id: 'raising',
  initial: 'a',
  states: { a: { on: { go, next: 'b' } }, b: { type: 'final' } },
});
