import { createDurableMachine, memoryJournals } from 'postchain/durable';
import { assign, setup } from 'xstate';

const order = setup({
  types: {
    context: {} as { customer: string; total: number },
    events: {} as { type: 'add'; price: number },
    input: {} as { customer: string },
  },
}).createMachine({
  id: 'order',
  context: ({ input }) => ({ customer: input.customer, total: 0 }),
  on: { add: { actions: assign({ total: ({ context, event }) => context.total + event.price }) } },
});

const orders = createDurableMachine(order, {
  journals: memoryJournals(),
  describeAttributes: ({ context: { customer, total } }) => ({ customer, total }),
});
await orders.open('o-17', { input: { customer: 'c-1' } });
await orders.send('o-17', { type: 'add', price: 40 });

const [found] = await orders.list({ where: { customer: ['c-1', 'c-2'] }, limit: 50 });
console.log(found?.attributes); // { customer: 'c-1', total: 40 }
