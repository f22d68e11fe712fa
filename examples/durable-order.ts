import { createDurableMachine, memoryJournals } from 'postchain/durable';
import { setup } from 'xstate';

const order = setup({ types: { events: {} as { type: 'approve' } } }).createMachine({
  id: 'order',
  initial: 'waiting',
  states: {
    waiting: { on: { approve: 'approved' }, after: { 86400000: 'expired' } },
    approved: { type: 'final' },
    expired: { type: 'final' },
  },
});
const orders = createDurableMachine(order, { journals: memoryJournals() }); // In production: files, SQLite or PostgreSQL.

const actor = await orders.open('o-17'); // Starts the order, or continues it after a crash.
await actor.send({ type: 'approve' }); // Resolves when the event is stored.
console.log(actor.getSnapshot().value);
