import { approval, createDurableMachine, createWorker, memoryJournals } from 'postchain/durable';
import { fromPromise, setup } from 'xstate';

const payment = setup({
  types: { input: {} as { amount: number }, context: {} as { amount: number } },
  actors: { approval, pay: fromPromise<string, number>(async ({ input }) => `${input} paid`) },
}).createMachine({
  id: 'payment',
  context: ({ input }) => input,
  initial: 'asking',
  states: {
    asking: {
      invoke: {
        src: 'approval',
        input: ({ context }) => ({ question: { pay: context.amount } }),
        onDone: [
          { guard: ({ event: { output } }) => output.decision === 'approve' && !output.isEdited, target: 'paying' },
          { target: 'denied' },
        ],
      },
    },
    paying: { invoke: { src: 'pay', input: ({ context }) => context.amount, onDone: 'paid' } },
    paid: { type: 'final' },
    denied: { type: 'final' },
  },
});

const payments = createDurableMachine(payment, { journals: memoryJournals(), parkAfterMs: 60_000 });
const worker = createWorker({ hosts: [payments] });

const started = await payments.open('p-1', { input: { amount: 40 } });
await started.park();

// Any process with the same store lists what waits, and sends the answer.
for (const { id: actor, waiting } of await payments.list())
  for (const { id, digest, question } of waiting?.approvals ?? []) {
    console.log(actor, question);
    await payments.send(actor, { type: 'approval.given', id, digest, decision: 'approve' });
  }
await worker.stop();
