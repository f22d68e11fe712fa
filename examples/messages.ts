import { createDurableMachine, createWorker, durable, memoryJournals } from 'postchain/durable';
import { assign, sendTo, setup } from 'xstate';

const account = setup({
  types: { context: {} as { cents: number }, events: {} as { type: 'credit'; cents: number } },
}).createMachine({
  id: 'account',
  context: { cents: 0 },
  on: { credit: { actions: assign({ cents: ({ context, event }) => context.cents + event.cents }) } },
});

const payment = setup({
  types: { input: {} as { to: string; cents: number }, context: {} as { to: string; cents: number } },
}).createMachine({
  id: 'payment',
  context: ({ input }) => input,
  entry: sendTo(
    ({ context }) => durable<typeof account>(context.to),
    ({ context }) => ({ type: 'credit', cents: context.cents }),
  ),
});

const journals = memoryJournals();
const accounts = createDurableMachine(account, { journals });
const payments = createDurableMachine(payment, { journals });
const worker = createWorker({ hosts: [accounts, payments] });

await (await accounts.open('ada')).park();
const paid = await payments.open('p-1', { input: { to: 'ada', cents: 1_200 } });
await paid.park({ wait: true });
await worker.poll();
console.log((await accounts.query('ada')).snapshot.context); // { cents: 1200 }
await worker.stop();
