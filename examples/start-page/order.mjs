// An order that waits for its approval. Its process is killed in between.
import { createDurableMachine } from 'postchain/durable';
import { fileJournals } from 'postchain/node';
import { createMachine } from 'xstate';

const machine = createMachine({
  id: 'order',
  initial: 'waiting',
  states: {
    waiting: { on: { approve: 'shipped' }, after: { 259200000: 'expired' } },
    shipped: { type: 'final' },
    expired: { type: 'final' },
  },
});

export const orders = createDurableMachine(machine, { journals: fileJournals(process.env.JOURNALS) });

if (process.argv[1] === import.meta.filename) {
  const order = await orders.open('o-17');
  const [timer] = order.pending.timers;
  const hours = ((timer.dueAtMs - Date.now()) / 3_600_000).toFixed(4);
  console.log(`o-17 is ${order.getSnapshot().value}; expires in ${hours} h`);
  setInterval(() => {}, 1_000);
}
