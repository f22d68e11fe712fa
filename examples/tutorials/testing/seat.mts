import { done, fails, never } from 'postchain/testing';
import { assign, fromPromise, setup } from 'xstate';

export const machine = setup({
  types: { context: {} as { charged: 'no' | 'maybe' | 'yes' } },
  actors: { charge: fromPromise(async () => void (await fetch('https://bank.example/charges', { method: 'POST' }))) },
}).createMachine({
  id: 'seat',
  context: { charged: 'no' },
  initial: 'held',
  states: {
    held: {
      after: { 600000: 'released' },
      initial: 'choosing',
      states: {
        choosing: {
          on: { pay: 'charging', cancel: '#seat.released' },
        },
        charging: {
          entry: assign({ charged: 'maybe' }),
          invoke: {
            src: 'charge',
            onDone: { target: '#seat.sold', actions: assign({ charged: 'yes' }) },
            onError: { target: 'choosing', actions: assign({ charged: 'no' }) },
          },
        },
      },
    },
    sold: { type: 'final' },
    released: { type: 'final' },
  },
});

export const outcomes = { charge: [done(undefined, 'ok'), fails()] };

export const properties = [
  never('released after a charge', ({ value, context }) => value === 'released' && context.charged !== 'no'),
];
