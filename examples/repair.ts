import { createDurableMachine, memoryJournals } from 'postchain/durable';
import { fromPromise, setup } from 'xstate';

const service = { isUp: false };
const order = setup({
  actors: {
    charge: fromPromise(async () => {
      if (!service.isUp) throw new Error('the card service is down');
      return 'receipt 7';
    }),
  },
}).createMachine({
  id: 'order',
  initial: 'paying',
  states: { paying: { invoke: { src: 'charge', onDone: 'paid' } }, paid: { on: { ship: 'shipped' } }, shipped: {} },
});
const orders = createDurableMachine(order, { journals: memoryJournals() });
for (const id of ['o-1', 'o-2', 'o-3']) await orders.start(id).output.catch(() => {});

const [failed] = await orders.list({ status: 'error' });
console.log(failed?.reason); // the card service is down

service.isUp = true;
await orders.retry('o-1'); // the call runs again
await orders.skip('o-2', { output: 'paid by hand' }); // the call counts as done
const results = await orders.repair('retry', { dryRun: true }); // all others that have failed
console.log(results); // [ { id: 'o-3', problem: null } ]
await orders.repair('retry');
await orders.wake(); // or a worker
console.log((await orders.list()).map(({ status }) => status)); // [ 'waiting', 'waiting', 'waiting' ]
