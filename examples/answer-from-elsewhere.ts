import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { approval, createDurableMachine, fileJournals } from 'postchain/durable';
import { setup } from 'xstate';

const payment = setup({ actors: { approval } }).createMachine({
  id: 'payment',
  initial: 'asking',
  states: {
    asking: {
      invoke: {
        src: 'approval',
        input: { question: { order: 'A7', cents: 12_000 } },
        onDone: [{ guard: ({ event }) => event.output.decision === 'approve', target: 'paid' }, { target: 'denied' }],
      },
    },
    paid: { type: 'final' },
    denied: { type: 'final' },
  },
});
const directory = mkdtempSync(join(tmpdir(), 'payments-'));
const first = await createDurableMachine(payment, { journals: fileJournals(directory) }).open('p-1');
await first.close();

// Another process, later. `wake` resumes actors whose process was killed, so that the list includes their questions.
const payments = createDurableMachine(payment, { journals: fileJournals(directory) });
await payments.wake();
for (const { id: actorId, waiting } of await payments.list())
  for (const { id, digest, question } of waiting?.approvals ?? []) {
    console.log(actorId, JSON.stringify(question)); // p-1 {"order":"A7","cents":12000}
    await payments.send(actorId, { type: 'approval.given', id, digest, decision: 'approve', by: 'Ada' });
  }
console.log((await payments.query('p-1')).snapshot.value); // paid
