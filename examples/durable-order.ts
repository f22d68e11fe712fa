import { createDurableMachine, memoryJournals } from 'postchain/durable';
import { createMachine } from 'xstate';

const states = { waiting: { on: { approve: 'approved' }, after: { 86400000: 'expired' } }, approved: {}, expired: {} };
const order = createMachine({ id: 'order', version: '1', initial: 'waiting', states });
const orders = createDurableMachine(order, { journals: memoryJournals() }); // In production: files, SQLite or PostgreSQL.

const actor = await orders.open('o-17'); // Starts the order, or continues it after a crash.
await actor.send({ type: 'approve' }); // Resolves when the event is stored.
console.log(actor.getSnapshot().value);
