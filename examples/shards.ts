import { createHash } from 'node:crypto';
import { createDurableMachine, createWorker, memoryJournals } from 'postchain/durable';
import { setup } from 'xstate';

const order = setup({ types: { events: {} as { type: 'pay' } } }).createMachine({
  id: 'order',
  initial: 'open',
  states: { open: { on: { pay: 'paid' } }, paid: { type: 'final' } },
});

// In production: postgresJournals(url), one server each. Their order and number must not change while they have actors.
const stores = [memoryJournals(), memoryJournals()];
const shards = stores.map((journals) => createDurableMachine(order, { journals }));

function ordersOf(id: string) {
  const number = createHash('sha256').update(id).digest().readUInt32BE() % shards.length;
  const shard = shards[number];
  if (shard === undefined) throw new Error('expected at least one store');
  return shard;
}

await ordersOf('o-17').open('o-17');
await ordersOf('o-18').open('o-18');
await ordersOf('o-17').send('o-17', { type: 'pay' });

// The hosts of a worker take turns.
const worker = createWorker({ hosts: shards });
await worker.poll();
await worker.stop();

const listed = (await Promise.all(shards.map((shard) => shard.list({ status: 'done', limit: 50 })))).flat();
console.log(listed.map(({ id }) => id).join()); // o-17
