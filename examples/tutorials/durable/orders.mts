import { setTimeout as sleep } from 'node:timers/promises';
import { createDurableMachine, fileJournals, idempotencyKey } from 'postchain/durable';
import { fromPromise, setup } from 'xstate';

const order = setup({
  types: { input: {} as { cents: number }, context: {} as { cents: number }, events: {} as { type: 'approve' } },
  actors: {
    charge: fromPromise<void, number>(async ({ input, self }) => {
      console.log(`Charging ${input} cents, key ${idempotencyKey({ self })}`);
      await sleep(5_000); // A slow bank.
    }),
  },
}).createMachine({
  id: 'order',
  context: ({ input }) => input,
  initial: 'waiting',
  states: {
    waiting: { on: { approve: 'charging' }, after: { 259200000: 'expired' } }, // Three days.
    charging: { invoke: { src: 'charge', input: ({ context }) => context.cents, onDone: 'paid', onError: 'waiting' } },
    paid: { type: 'final' },
    expired: { type: 'final' },
  },
});

export const orders = createDurableMachine(order, { journals: fileJournals('journals') });
