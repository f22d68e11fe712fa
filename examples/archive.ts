import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDurableMachine, fileJournals, memoryJournals } from 'postchain/durable';
import { setup } from 'xstate';

const order = setup({ types: { events: {} as { type: 'pay' } } }).createMachine({
  id: 'order',
  initial: 'open',
  states: { open: { on: { pay: 'paid' } }, paid: { type: 'final' } },
});

// In production: postgresJournals(url).
const journals = memoryJournals();
const orders = createDurableMachine(order, { journals });
for (const id of ['o-17', 'o-18']) await orders.open(id);
await orders.send('o-17', { type: 'pay' });

const archive = fileJournals(mkdtempSync(join(tmpdir(), 'archive-')));

// Each journal is deleted after its copy is complete. If a copy exists, the program was killed before that.
const copied = new Set((await archive.list()).map(({ id }) => id));
for (const { id } of await journals.list({ status: ['done', 'error', 'stopped'], limit: 1_000 })) {
  if (copied.has(id)) await archive.delete(id);
  const writer = archive.create(id);
  for await (const entry of journals.read(id)) await writer.write([entry]);
  await writer.close();
  if (writer.failure !== null) throw new Error(writer.failure);
  await journals.delete(id);
}

console.log((await journals.list()).map(({ id }) => id).join()); // o-18
const archived = createDurableMachine(order, { journals: archive });
console.log((await archived.query('o-17')).snapshot.value); // paid
