import { assign, fromPromise, setup } from 'xstate';
import { both } from './both.mjs';

/** Fault: while the player buffers, a click on pause is lost. */
export const [player, playerFaulty] = both((isFaulty) =>
  setup({ actors: { buffer: fromPromise(async () => {}) } }).createMachine({
    id: 'player',
    initial: 'paused',
    states: {
      paused: { on: { play: 'buffering' } },
      buffering: {
        ...(isFaulty ? {} : { on: { pause: 'paused' } }),
        invoke: { src: 'buffer', onDone: 'playing', onError: 'paused' },
      },
      playing: { on: { pause: 'paused', stalled: 'buffering' } },
    },
  }),
);

/** Fault: a message that arrives while another one is handled is lost instead of queued. */
export const [mailbox, mailboxFaulty] = both((isFaulty) =>
  setup({
    types: { context: /** @type {{ waiting: number }} */ ({}) },
    actors: { handle: fromPromise(async () => {}) },
  }).createMachine({
    id: 'mailbox',
    initial: 'idle',
    context: { waiting: 0 },
    states: {
      idle: {
        always: {
          guard: ({ context }) => context.waiting > 0,
          target: 'handling',
          actions: assign({ waiting: ({ context }) => context.waiting - 1 }),
        },
        on: { message: 'handling' },
      },
      handling: {
        ...(isFaulty
          ? {}
          : { on: { message: { actions: assign({ waiting: ({ context }) => Math.min(context.waiting + 1, 3) }) } } }),
        invoke: { src: 'handle', onDone: 'idle', onError: 'idle' },
      },
    },
  }),
);

/** Fault: an order cannot be cancelled while its payment is being checked. */
export const [order, orderFaulty] = both((isFaulty) =>
  setup({ actors: { check: fromPromise(async () => {}) } }).createMachine({
    id: 'order',
    initial: 'open',
    states: {
      open: { on: { cancel: 'cancelled', confirm: 'checking' } },
      checking: {
        invoke: { src: 'check', onDone: 'confirmed', onError: 'open' },
        ...(isFaulty ? {} : { on: { cancel: 'cancelled' } }),
      },
      confirmed: { on: { cancel: 'cancelled', ship: 'shipped' } },
      shipped: { type: 'final' },
      cancelled: { type: 'final' },
    },
  }),
);
