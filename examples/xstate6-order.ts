import { createDurableMachine, memoryJournals } from 'postchain/durable';
import { fromXState6, hostXState6 } from 'postchain/xstate6';
import { createActor, setup, types } from 'xstate6';

hostXState6({ createActor });

const order = setup({
  schemas: { context: types<{ total: number }>(), events: { add: types<{ price: number }>(), pay: types<object>() } },
}).createMachine({
  id: 'order',
  context: { total: 0 },
  initial: 'open',
  states: {
    open: {
      on: {
        add: ({ context, event }) => ({ context: { total: context.total + event.price } }),
        pay: ({ context }) => (context.total > 0 ? { target: 'paid' } : undefined),
      },
      after: { 86400000: { target: 'expired' } },
    },
    paid: { type: 'final' },
    expired: { type: 'final' },
  },
});
const orders = createDurableMachine(fromXState6(order), { journals: memoryJournals() });

const actor = await orders.open('o-17');
await actor.send({ type: 'add', price: 40 });
await actor.send({ type: 'pay' });

const { value, context } = actor.getSnapshot();
console.log(value, context.total); // paid 40
