import {
  type AnyEventObject,
  type AnyStateMachine,
  assign,
  cancel,
  createMachine,
  emit,
  enqueueActions,
  forwardTo,
  fromCallback,
  fromObservable,
  fromPromise,
  fromTransition,
  type Observer,
  raise,
  type Subscribable,
  sendParent,
  sendTo,
  setup,
  spawnChild,
  stateIn,
  stopChild,
} from 'xstate';
import { idempotencyKey } from '../../src/durable/hosted-call.ts';

/** What reaches the outside world: calls and effects with their idempotency keys. */
export interface World {
  /** A call or an effect of custom code. */
  called(name: string, args: { readonly self: object }): void;
}

/** A step of a scenario: an event for the machine, a time to wait, or an event for an actor below it. */
export type Step = AnyEventObject | number | { readonly child: string; readonly event: AnyEventObject };

export interface Scenario {
  readonly machine: (world: World) => AnyStateMachine;
  readonly input?: unknown;
  readonly steps: readonly Step[];
  /** The state at the end. */
  readonly ends: unknown;
}

const go = { type: 'GO' };

/** Machines of the kinds that public projects use: each feature of XState that touches time, calls or other actors. */
export const scenarios: Readonly<Record<string, Scenario>> = {
  'named promises, a retry after a delay, an error': {
    machine: (world) => {
      return setup({
        types: { context: {} as { amount: number; receipt: string | null }, input: {} as { amount: number } },
        actors: {
          pay: fromPromise<string, number>(async ({ input, self }) => {
            world.called('pay', { self });
            if (idempotencyKey({ self }).endsWith(':0'))
              throw Object.assign(new Error('card declined'), { code: 'declined' });
            return `receipt for ${input}`;
          }),
        },
        delays: { backoff: 60_000 },
      }).createMachine({
        context: ({ input }) => ({ amount: input.amount, receipt: null }),
        initial: 'paying',
        states: {
          paying: {
            invoke: {
              src: 'pay',
              input: ({ context }) => context.amount,
              onDone: { target: 'paid', actions: assign({ receipt: ({ event }) => event.output }) },
              onError: 'waiting',
            },
          },
          waiting: { after: { backoff: 'paying' } },
          paid: { type: 'final' },
        },
        output: ({ context }) => context.receipt,
      });
    },
    input: { amount: 40 },
    steps: [60_000, 60_000],
    ends: 'paid',
  },
  'three parallel calls': {
    machine: (world) => {
      const call = (name: string) =>
        fromPromise(async ({ self }) => {
          world.called(name, { self });
          return name;
        });
      const region = (src: 'one' | 'two' | 'three') => ({
        initial: 'asking',
        states: { asking: { invoke: { src, onDone: 'known' } }, known: { type: 'final' as const } },
      });
      return setup({ actors: { one: call('one'), two: call('two'), three: call('three') } }).createMachine({
        initial: 'checking',
        states: {
          checking: {
            type: 'parallel',
            states: { one: region('one'), two: region('two'), three: region('three') },
            onDone: 'checked',
          },
          checked: {},
        },
      });
    },
    steps: [],
    ends: 'checked',
  },
  'an inline promise, and its abort': {
    machine: (world) =>
      createMachine({
        initial: 'asking',
        states: {
          asking: {
            invoke: {
              src: fromPromise(({ self, signal }) => {
                world.called('ask', { self });
                return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
              }),
            },
            on: { GO: 'given up' },
          },
          'given up': { invoke: { src: fromPromise(async () => 'ok'), onDone: 'answered' } },
          answered: {},
        },
      }),
    steps: [go],
    ends: 'answered',
  },
  'a callback that sends and receives': {
    machine: () =>
      setup({
        types: { context: {} as { echoes: number } },
        actors: {
          echo: fromCallback<AnyEventObject>(({ sendBack, receive }) => {
            receive((event) => sendBack({ type: 'ECHO', of: event['n'] }));
            return () => sendBack({ type: 'NEVER' });
          }),
        },
      }).createMachine({
        context: { echoes: 0 },
        initial: 'listening',
        states: {
          listening: {
            invoke: { src: 'echo', id: 'echo' },
            on: {
              SAY: { actions: sendTo('echo', ({ event }) => ({ type: 'SAY', n: event['n'] })) },
              ECHO: { actions: assign({ echoes: ({ context }) => context.echoes + 1 }) },
              NEVER: 'failed',
              GO: 'silent',
            },
          },
          silent: {},
          failed: {},
        },
      }),
    steps: [{ type: 'SAY', n: 1 }, { type: 'SAY', n: 2 }, go, { type: 'SAY', n: 3 }],
    ends: 'silent',
  },
  'a callback that answers two events of one step': {
    machine: () =>
      setup({
        actors: {
          echo: fromCallback<AnyEventObject>(({ sendBack, receive }) =>
            receive((event) => sendBack({ ...event, type: `${event.type}.ANSWER` })),
          ),
        },
      }).createMachine({
        invoke: { src: 'echo', id: 'echo' },
        initial: 'none',
        states: {
          none: {
            on: { GO: { actions: [sendTo('echo', { type: 'ONE' }), sendTo('echo', { type: 'TWO' })] } },
            initial: 'waiting',
            states: { waiting: { on: { 'ONE.ANSWER': 'one' } }, one: { on: { 'TWO.ANSWER': '#both' } } },
          },
          both: { id: 'both' },
        },
      }),
    steps: [go],
    ends: 'both',
  },
  'a result forwarded to a callback': {
    machine: () =>
      createMachine({
        invoke: {
          id: 'echo',
          src: fromCallback(({ sendBack, receive }) => receive(({ type }) => sendBack({ type: 'ECHO', of: type }))),
        },
        initial: 'asking',
        states: {
          asking: {
            invoke: {
              id: 'ask',
              src: fromPromise(async () => 1),
              onDone: { target: 'asked', actions: forwardTo('echo') },
            },
          },
          asked: { on: { ECHO: { guard: ({ event }) => event['of'] === 'xstate.done.actor.ask', target: 'echoed' } } },
          echoed: { on: { GO: 'end' } },
          end: {},
        },
      }),
    steps: [go],
    ends: 'end',
  },
  'a clean-up that throws': {
    machine: () =>
      createMachine({
        initial: 'open',
        states: {
          open: {
            invoke: {
              src: fromCallback(() => () => {
                throw new Error('already closed');
              }),
            },
            on: { GO: 'closed' },
          },
          closed: { on: { GO: 'end' } },
          end: {},
        },
      }),
    steps: [go, go],
    ends: 'end',
  },
  'a listener that throws': {
    machine: () =>
      createMachine({
        initial: 'listening',
        states: {
          listening: {
            invoke: {
              id: 'ear',
              src: fromCallback(({ receive }) =>
                receive(() => {
                  throw new Error('too loud');
                }),
              ),
              onError: 'deaf',
            },
            on: { GO: { actions: forwardTo('ear') } },
          },
          deaf: {},
        },
      }),
    steps: [go],
    ends: 'deaf',
  },
  'a child that fails, and another one with the same id': {
    machine: (world) => {
      const child = setup({
        types: { context: {} as { fails: boolean }, input: {} as boolean },
        actions: {
          mail: (args) => {
            world.called('mail', args);
            if (args.context.fails) throw new Error('no mail');
          },
        },
      }).createMachine({ context: ({ input }) => ({ fails: input }), entry: 'mail' });
      return setup({ actors: { child } }).createMachine({
        initial: 'first',
        states: {
          first: { invoke: { src: 'child', id: 'child', input: true, onError: 'second' } },
          second: { invoke: { src: 'child', id: 'child', input: false, onError: 'third' } },
          third: {},
        },
      });
    },
    steps: [],
    ends: 'second',
  },
  'two actors with the same id at the same time': {
    machine: () => {
      const child = createMachine({
        initial: 'a',
        states: {
          a: { invoke: { src: fromPromise(async () => 1), onDone: 'b' } },
          b: { type: 'final', entry: sendParent({ type: 'DONE' }) },
        },
      });
      return createMachine({
        entry: [spawnChild(child, { id: 'twin' }), spawnChild(child, { id: 'twin' })],
        initial: 'none',
        states: { none: { on: { DONE: 'one' } }, one: { on: { DONE: 'both' } }, both: {} },
      });
    },
    steps: [],
    ends: 'both',
  },
  'an observable read through onSnapshot': {
    machine: () =>
      setup({
        types: { context: {} as { seen: number[] } },
        actors: {
          numbers: fromObservable<number, undefined>(() => {
            const subscribe = (observer: Partial<Observer<number>>) => {
              for (const value of [1, 2, 3]) observer.next?.(value);
              observer.complete?.();
              return { unsubscribe: () => {} };
            };
            return { subscribe } as unknown as Subscribable<number>;
          }),
        },
      }).createMachine({
        context: { seen: [] },
        initial: 'reading',
        states: {
          reading: {
            invoke: {
              src: 'numbers',
              onSnapshot: {
                guard: ({ event }) => event.snapshot.context !== undefined,
                actions: assign({ seen: ({ context, event }) => [...context.seen, event.snapshot.context as number] }),
              },
              onDone: 'read',
            },
          },
          read: {},
        },
      }),
    steps: [],
    ends: 'read',
  },
  'a child machine that asks its parent': {
    machine: (world) => {
      const clerk = setup({
        actors: {
          stamp: fromPromise(async ({ self }) => {
            world.called('stamp', { self });
            return 'stamped';
          }),
        },
      }).createMachine({
        id: 'clerk',
        initial: 'asking',
        states: {
          asking: { entry: sendParent({ type: 'QUESTION' }), on: { ANSWER: 'stamping' } },
          stamping: { invoke: { src: 'stamp', onDone: 'done' } },
          done: { type: 'final' },
        },
        output: 'approved',
      });
      return setup({ types: { context: {} as { result: unknown } }, actors: { clerk } }).createMachine({
        context: { result: null },
        initial: 'asking',
        states: {
          asking: {
            invoke: {
              src: 'clerk',
              id: 'clerk',
              onDone: { target: 'done', actions: assign({ result: ({ event }) => event.output }) },
            },
            on: { QUESTION: '.asked' },
            initial: 'quiet',
            states: { quiet: {}, asked: { on: { GO: { actions: sendTo('clerk', { type: 'ANSWER' }) } } } },
          },
          done: {},
        },
      });
    },
    steps: [go],
    ends: 'done',
  },
  'events sent to a child from outside': {
    machine: () => {
      const counter = createMachine({
        id: 'counter',
        types: {} as { context: { n: number } },
        context: { n: 0 },
        initial: 'counting',
        states: {
          counting: {
            on: { INC: { actions: assign({ n: ({ context }) => context.n + 1 }) } },
            always: { guard: ({ context }) => context.n >= 2, target: 'full' },
          },
          full: { type: 'final' },
        },
      });
      return createMachine({
        initial: 'open',
        states: { open: { invoke: { src: counter, id: 'counter', onDone: 'closed' } }, closed: {} },
      });
    },
    steps: [
      { child: 'counter', event: { type: 'INC' } },
      { child: 'counter', event: { type: 'INC' } },
    ],
    ends: 'closed',
  },
  'spawned actors without ids, in context and by actions': {
    machine: (world) => {
      const friend = fromPromise<string, string>(async ({ input, self }) => {
        world.called('greet', { self });
        return `hello ${input}`;
      });
      return setup({
        types: { context: {} as { refs: unknown[]; greetings: number } },
        actors: { friend },
      }).createMachine({
        context: ({ spawn }) => ({ refs: [spawn('friend', { input: 'first' })], greetings: 0 }),
        initial: 'meeting',
        on: {
          'xstate.done.actor.*': { actions: assign({ greetings: ({ context }) => context.greetings + 1 }) },
        },
        states: {
          meeting: {
            on: {
              MEET: {
                actions: assign({
                  refs: ({ context, spawn, event }) => [...context.refs, spawn('friend', { input: event['name'] })],
                }),
              },
              GO: 'leaving',
            },
          },
          leaving: { entry: spawnChild('friend', { input: 'last' }) },
        },
      });
    },
    steps: [{ type: 'MEET', name: 'a' }, { type: 'MEET', name: 'b' }, go],
    ends: 'leaving',
  },
  'history, cancel and delayed sends': {
    machine: () =>
      createMachine({
        context: { log: [] as string[] },
        initial: 'work',
        on: { LATE: { actions: assign({ log: ({ context }) => [...context['log'], 'late'] }) } },
        states: {
          work: {
            initial: 'one',
            on: { PAUSE: 'paused' },
            states: { one: { on: { GO: 'two' } }, two: {}, back: { type: 'history' } },
            entry: raise({ type: 'LATE' }, { delay: 500, id: 'late' }),
          },
          paused: { on: { GO: 'work.back' }, entry: cancel('late'), exit: raise({ type: 'LATE' }, { delay: 100 }) },
        },
      }),
    steps: [go, { type: 'PAUSE' }, 1_000, go, 1_000],
    ends: { work: 'two' },
  },
  'delays computed from context, and a guarded one': {
    machine: () =>
      setup({
        types: { context: {} as { tries: number } },
        delays: { growing: ({ context }) => 1_000 * 2 ** context.tries },
        guards: { isTired: ({ context }) => context.tries >= 3 },
      }).createMachine({
        context: { tries: 0 },
        initial: 'trying',
        states: {
          trying: {
            entry: assign({ tries: ({ context }) => context.tries + 1 }),
            after: {
              growing: [
                { guard: 'isTired', target: 'resting' },
                { target: 'trying', reenter: true },
              ],
            },
          },
          resting: { after: { 3000000000: 'rested' } },
          rested: {},
        },
      }),
    steps: [2_000, 4_000, 8_000, 3_000_000_000],
    ends: 'rested',
  },
  'effects of all kinds, and emitted events': {
    machine: (world) =>
      setup({
        types: { context: {} as { mails: number } },
        actions: {
          mail: (args) => world.called('mail', args),
          slowMail: async (args) => {
            world.called('slowMail', args);
            await Promise.resolve();
          },
        },
      }).createMachine({
        context: { mails: 0 },
        entry: 'mail',
        initial: 'a',
        states: {
          a: { on: { GO: { target: 'b', actions: ['mail', emit({ type: 'moved' }), 'slowMail'] } }, exit: 'mail' },
          b: {
            entry: enqueueActions(({ enqueue }) => {
              enqueue.assign({ mails: 1 });
              enqueue('mail');
              enqueue(function inline(args) {
                world.called('inline', args);
              });
              enqueue.raise({ type: 'NEXT' });
            }),
            on: { NEXT: 'c' },
          },
          c: { entry: ({ self }) => self.send({ type: 'LAST' }), on: { LAST: 'd' } },
          d: {},
        },
      }),
    steps: [go],
    ends: 'd',
  },
  'values that JSON does not have': {
    machine: () =>
      setup({
        types: { context: {} as { seen: Set<string>; byName: Map<string, unknown>; at: Date | null; error: unknown } },
        actors: {
          read: fromPromise(async () => ({ at: new Date(0), big: 2n ** 64n, names: new Map([['a', new Set([1])]]) })),
          fail: fromPromise(async () => {
            throw Object.assign(new TypeError('no'), { code: 'E_NO', detail: { n: 1 } });
          }),
        },
      }).createMachine({
        context: { seen: new Set(), byName: new Map(), at: null, error: null },
        initial: 'reading',
        states: {
          reading: {
            invoke: {
              src: 'read',
              onDone: {
                target: 'failing',
                actions: assign({
                  at: ({ event }) => event.output.at,
                  byName: ({ event }) => event.output.names as Map<string, unknown>,
                  seen: ({ context, event }) => new Set([...context.seen, String(event.output.big)]),
                }),
              },
            },
          },
          failing: {
            invoke: {
              src: 'fail',
              onError: { target: 'failed', actions: assign({ error: ({ event }) => event.error }) },
            },
          },
          failed: {},
        },
      }),
    steps: [],
    ends: 'failed',
  },
  'random numbers, dates and unique ids': {
    machine: () =>
      createMachine({
        context: () => ({ id: crypto.randomUUID(), at: Date.now(), when: new Date(), dice: [Math.random()] }),
        initial: 'a',
        states: {
          a: {
            on: {
              GO: {
                target: 'b',
                actions: assign({ dice: ({ context }) => [...context['dice'], Math.random(), Date.now()] }),
              },
            },
          },
          b: {
            always: [{ guard: ({ context }) => (context['dice'][0] ?? 0) < 0.5, target: 'low' }, { target: 'high' }],
          },
          low: { on: { GO: 'end' } },
          high: { on: { GO: 'end' } },
          end: {},
        },
      }),
    steps: [5, go, 5, go],
    ends: 'end',
  },
  'reducers, system ids, composed guards and wildcards': {
    machine: () => {
      const tally = fromTransition((total: number, event: AnyEventObject) => total + Number(event['by'] ?? 0), 0);
      return setup({ actors: { tally } }).createMachine({
        type: 'parallel',
        states: {
          store: { invoke: { src: 'tally', id: 'tally', systemId: 'tally' } },
          door: {
            initial: 'shut',
            states: {
              shut: { on: { 'door.*': 'open' } },
              open: {
                on: { ADD: { actions: [({ system, event }) => system.get('tally')?.send(event)] }, GO: 'locked' },
              },
              locked: { entry: stopChild('tally') },
            },
          },
          light: {
            initial: 'off',
            states: { off: { on: { '*': { guard: stateIn({ door: 'open' }) as never, target: 'on' } } }, on: {} },
          },
        },
      });
    },
    steps: [{ type: 'door.push' }, { type: 'ADD', by: 2 }, { type: 'ADD', by: 3 }, go],
    ends: { store: {}, door: 'locked', light: 'on' },
  },
  'three levels, stopped in the middle': {
    machine: (world) => {
      const leaf = setup({
        actors: {
          work: fromPromise(async ({ self }) => {
            world.called('work', { self });
            return 1;
          }),
        },
      }).createMachine({
        id: 'leaf',
        initial: 'waiting',
        states: {
          waiting: { after: { 1000: 'working' } },
          working: { invoke: { src: 'work', onDone: 'done' } },
          done: { type: 'final' },
        },
        output: 7,
      });
      const branch = createMachine({
        id: 'branch',
        initial: 'growing',
        states: { growing: { invoke: { src: leaf, id: 'leaf', onDone: 'grown' } }, grown: { type: 'final' } },
      });
      return createMachine({
        initial: 'first',
        states: {
          first: { invoke: { src: branch, id: 'branch', onDone: 'end' }, on: { GO: 'second' } },
          second: { invoke: { src: branch, id: 'branch', onDone: 'end' } },
          end: {},
        },
      });
    },
    steps: [500, go, 600, 500],
    ends: 'end',
  },
};
