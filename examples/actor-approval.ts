import { approval, createDurableMachine, memoryJournals } from 'postchain/durable';
import { setup } from 'xstate';

const payment = setup({ actors: { approval } }).createMachine({
  id: 'payment',
  invoke: { src: 'approval', input: { question: 'A7' }, onDone: { actions: ({ event }) => console.log(event.output) } },
});
const actor = await createDurableMachine(payment, { journals: memoryJournals() }).open('p-1');
for (const { id, digest } of actor.pending.approvals)
  await actor.send({ type: 'approval.given', id, digest, decision: 'approve', by: 'Ada' });
