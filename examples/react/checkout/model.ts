import { assign, fromPromise, setup } from 'xstate';

type CheckoutEvent = { type: 'ADD'; count: number } | { type: 'EMPTY' } | { type: 'PAY' } | { type: 'CANCEL' };

/** What the page should do. The page does not use it. */
export const checkout = setup({
  types: { context: {} as { items: number; isDeclined: boolean }, events: {} as CheckoutEvent },
  actors: { charge: fromPromise(async () => {}) },
}).createMachine({
  id: 'checkout',
  context: { items: 0, isDeclined: false },
  initial: 'cart',
  states: {
    cart: {
      on: {
        ADD: {
          guard: ({ context, event }) => context.items + event.count <= 20,
          actions: assign({ items: ({ context, event }) => context.items + event.count }),
        },
        EMPTY: { actions: assign({ items: 0 }) },
        PAY: {
          guard: ({ context }) => context.items > 0,
          target: 'paying',
          actions: assign({ isDeclined: false }),
        },
      },
    },
    paying: {
      invoke: {
        src: 'charge',
        onDone: 'paid',
        onError: { target: 'cart', actions: assign({ isDeclined: true }) },
      },
      on: { CANCEL: 'cart' },
      after: { 5000: 'cart' },
    },
    paid: { type: 'final' },
  },
});
