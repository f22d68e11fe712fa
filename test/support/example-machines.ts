import { assign, createMachine, fromCallback, fromPromise, raise, setup, stateIn, stopChild } from 'xstate';
import { done, fails, sends } from '../../src/testing/exploration/occurrences.ts';

/** A child machine whose output decides what its parent does. */
const payment = setup({
  types: { output: {} as { paid: boolean }, input: {} as { sum: number }, context: {} as { sum: number } },
}).createMachine({
  id: 'payment',
  context: ({ input }) => input,
  initial: 'asking',
  states: { asking: { on: { pay: 'paid' } }, paid: { type: 'final' } },
  output: { paid: true },
});

const checkout = setup({
  types: {
    context: {} as { sum: number; tries: number },
    events: {} as { type: 'item.added'; price: number } | { type: 'checkout.started' } | { type: 'checkout.left' },
  },
  actors: { payment, ship: fromPromise<string, { sum: number }>(() => Promise.reject(new Error('must not run'))) },
  guards: { hasItems: ({ context }) => context.sum > 0, isPaid: (_, { paid }: { paid: boolean }) => paid },
}).createMachine({
  id: 'checkout',
  context: { sum: 0, tries: 0 },
  initial: 'shopping',
  states: {
    shopping: {
      on: {
        'item.added': { actions: assign({ sum: ({ context, event }) => Math.min(20, context.sum + event.price) }) },
        'checkout.started': { guard: 'hasItems', target: 'paying' },
      },
    },
    paying: {
      id: 'paying',
      invoke: {
        src: 'payment',
        id: 'till',
        input: ({ context }) => ({ sum: context.sum }),
        onDone: [
          { guard: { type: 'isPaid', params: ({ event }) => event.output }, target: 'shipping' },
          { target: 'shopping', actions: assign({ tries: ({ context }) => Math.min(3, context.tries + 1) }) },
        ],
        onError: 'shopping',
      },
      on: { 'checkout.left': 'shopping' },
      after: { 600000: 'shopping' },
    },
    shipping: {
      initial: 'packing',
      states: {
        packing: {
          invoke: { src: 'ship', input: ({ context }) => ({ sum: context.sum }), onDone: 'sent', onError: '#paying' },
        },
        sent: { type: 'final' },
      },
      onDone: { guard: stateIn({ shipping: 'sent' }), target: 'over' },
    },
    over: { type: 'final' },
  },
});

/** A request with a bounded number of retries and a backoff delay. */
const fetching = setup({
  types: {
    context: {} as { retries: number; maxRetries: number; data: string | null },
    input: {} as { maxRetries: number },
    events: {} as { type: 'fetch' } | { type: 'cancel' },
    output: {} as { data: string | null },
  },
  actors: { load: fromPromise<string, undefined>(() => Promise.reject(new Error('must not run'))) },
  guards: { mayRetry: ({ context }) => context.retries < context.maxRetries },
  delays: { backoff: ({ context }) => 100 * 2 ** context.retries },
}).createMachine({
  id: 'fetching',
  context: ({ input }) => ({ retries: 0, maxRetries: input.maxRetries, data: null }),
  output: ({ context }) => ({ data: context.data }),
  initial: 'idle',
  states: {
    idle: { on: { fetch: 'loading' } },
    loading: {
      invoke: {
        src: 'load',
        onDone: { target: 'done', actions: assign({ data: ({ event }) => event.output }) },
        onError: [{ guard: 'mayRetry', target: 'waiting' }, { target: 'failed' }],
      },
      after: { 5000: 'waiting' },
      on: { cancel: 'idle' },
    },
    waiting: {
      entry: assign({ retries: ({ context }) => context.retries + 1 }),
      after: {
        backoff: [
          { guard: ({ context }) => context.retries > context.maxRetries, target: 'failed' },
          { target: 'loading' },
        ],
      },
      on: { cancel: { target: 'idle', actions: assign({ retries: 0 }) } },
    },
    done: { type: 'final' },
    failed: { type: 'final' },
  },
});

/** Parallel regions (picture and sound) and a callback actor that sends events. */
const player = setup({
  types: {
    context: {} as { volume: number },
    events: {} as
      | { type: 'play' }
      | { type: 'pause' }
      | { type: 'louder' }
      | { type: 'softer' }
      | { type: 'mute' }
      | { type: 'ended' },
  },
  actors: { tick: fromCallback(() => {}) },
  guards: {
    isLoudest: ({ context }) => context.volume >= 2,
    isSilent: ({ context }) => context.volume <= 0,
  },
}).createMachine({
  id: 'player',
  context: { volume: 1 },
  type: 'parallel',
  states: {
    picture: {
      initial: 'paused',
      states: {
        paused: { on: { play: 'playing' } },
        playing: {
          invoke: { src: 'tick', onError: 'paused' },
          initial: 'fresh',
          on: { pause: 'paused', ended: 'over' },
          states: { fresh: { after: { 3000: 'bare' } }, bare: {} },
        },
        over: { on: { play: 'playing' } },
      },
    },
    sound: {
      initial: 'on',
      states: {
        on: {
          always: { guard: 'isSilent', target: 'off' },
          on: {
            mute: 'off',
            louder: [
              { guard: 'isLoudest', actions: [] },
              { actions: assign({ volume: ({ context }) => context.volume + 1 }) },
            ],
            softer: { actions: assign({ volume: ({ context }) => context.volume - 1 }) },
          },
        },
        off: { on: { mute: { target: 'on', actions: assign({ volume: 1 }) } } },
      },
    },
  },
});

/** A state that stays active when its actors end; they restart only with their state. */
const profile = setup({
  types: {
    context: {} as { name: string | null; isStale: boolean },
    events: {} as { type: 'reload' } | { type: 'mute' } | { type: 'changed' } | { type: 'leave' },
  },
  actors: { load: fromPromise<string>(() => Promise.reject(new Error('must not run'))), watch: fromCallback(() => {}) },
}).createMachine({
  id: 'profile',
  context: { name: null, isStale: false },
  initial: 'shown',
  states: {
    shown: {
      invoke: [
        {
          src: 'load',
          id: 'load',
          onDone: { actions: assign({ name: ({ event }) => event.output }) },
          onError: { actions: assign({ isStale: true }) },
        },
        { src: 'watch', id: 'watcher', onError: 'left' },
      ],
      on: {
        reload: { target: 'shown', reenter: true },
        mute: { actions: stopChild('watcher') },
        changed: { actions: assign({ isStale: true }) },
        leave: 'left',
      },
    },
    left: { type: 'final' },
  },
});

/** Machines that use the patterns of XState's documentation, each with its options for `explore`. */
export const xstatePatterns = {
  fetching: {
    machine: fetching,
    inputs: { never: { maxRetries: 0 }, twice: { maxRetries: 2 } },
    outcomes: { load: [done('data'), fails()] },
    events: [{ type: 'fetch' }, { type: 'cancel' }],
  },
  player: {
    machine: player,
    outcomes: { tick: [sends({ type: 'ended' }), fails()] },
    events: ['play', 'pause', 'louder', 'softer', 'mute'].map((type) => ({ type })),
  },
  profile: {
    machine: profile,
    outcomes: { load: [done('Ada'), fails()], watch: [sends({ type: 'changed' }), fails()] },
    events: [{ type: 'reload' }, { type: 'mute' }, { type: 'leave' }],
  },
  checkout: {
    machine: checkout,
    outcomes: {
      payment: [done({ paid: true }, 'paid'), done({ paid: false }, 'not paid'), fails()],
      ship: [done('it'), fails()],
    },
    events: [{ type: 'item.added', price: 10 }, { type: 'checkout.started' }, { type: 'checkout.left' }],
  },
} as const;

/** Machines that have what machines can have. */
export const playerMachine = createMachine({
  id: 'player',
  type: 'parallel',
  description: 'Two regions, history and a final state.',
  states: {
    disc: {
      initial: 'stopped',
      on: { EJECT: '.stopped', 'button.*': { target: '#deep', guard: 'isOpen' } },
      states: {
        stopped: { on: { PLAY: 'playing', LOAD: [{ guard: 'isGood', target: 'playing.fast' }, 'broken'] } },
        playing: {
          initial: 'slow',
          states: { slow: { after: { 1000: 'fast', FADE: { target: '#deep' } } }, fast: { id: 'deep' } },
          on: { PAUSE: '#player.disc.paused', STOP: { target: 'stopped', reenter: true } },
        },
        paused: { on: { PLAY: 'playing.fast', '*': { actions: 'beep' } } },
        'odd.key': { on: { BACK: 'odd\\.key' } },
        broken: { type: 'final' },
      },
      onDone: { actions: raise({ type: 'GONE' }) },
    },
    sound: {
      initial: 'loud',
      states: {
        loud: {
          always: [{ guard: 'isNight', target: 'off' }],
          on: { MUTE: { target: 'off', actions: ['log', 'beep'] } },
        },
        off: { on: { MUTE: ['loud'] } },
        last: { type: 'history', history: 'deep' },
      },
    },
  },
});
