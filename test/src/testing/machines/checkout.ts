import { assign, fromPromise, setup, stateIn } from 'xstate';

/** The pattern of a child machine: a form that asks, within a parent that goes by what the child came to. */
const payment = setup({
  types: { output: {} as { paid: boolean }, input: {} as { sum: number }, context: {} as { sum: number } },
}).createMachine({
  id: 'payment',
  context: ({ input }) => input,
  initial: 'asking',
  states: { asking: { on: { pay: 'paid' } }, paid: { type: 'final' } },
  output: { paid: true },
});

export const checkout = setup({
  types: {
    context: {} as { sum: number; tries: number },
    events: {} as { type: 'item.added'; price: number } | { type: 'checkout.started' } | { type: 'checkout.left' },
  },
  actors: { payment, ship: fromPromise<string, { sum: number }>(() => Promise.reject(new Error('never asked'))) },
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
