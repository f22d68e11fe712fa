import { type ApprovalDecision, approval, decide } from 'postchain/agents';
import { createDurableMachine, defineGuard, idempotencyKey, memoryJournals } from 'postchain/durable';
import { scriptedModel } from 'postchain/testing';
import { assign, fromPromise, type OutputFrom, raise, setup, waitFor } from 'xstate';
import * as z from 'zod';

const Refund = z.object({ order: z.string(), cents: z.int().min(1).max(100_000) });
type Refund = z.infer<typeof Refund>;
export const bank = { refund: async (_key: string, { order, cents }: Refund) => `${cents} cents for ${order}` };
// With a real model: openaiModel({ model: 'gpt-4.1-mini' }).
export const model = scriptedModel({ desk: [{ type: 'refund.proposed', order: 'A7', cents: 12_000 }] });
const desk = decide({ model, name: 'desk', events: { 'refund.proposed': Refund, 'mail.escalated': z.object({}) } });
const refund = fromPromise<string, Refund>(({ input, self }) => bank.refund(idempotencyKey({ self }), input));
const isLarge = defineGuard(({ context: { refund } }) => ({ holds: refund.cents > 5_000, inputs: { limit: 5_000 } }));
const isApproved = (_: unknown, given: ApprovalDecision) => given.decision === 'approve' && !given.isEdited;

export const machine = setup({
  types: {} as { input: string; context: { mail: string; refund: Refund }; events: OutputFrom<typeof desk> },
  actors: { desk, approval, refund },
  actions: { choose: raise(({ event }) => Object(event).output) },
  guards: { isLarge, isApproved },
}).createMachine({
  id: 'supportDesk',
  context: ({ input }) => ({ mail: input, refund: { order: '', cents: 0 } }),
  initial: 'deciding',
  states: {
    deciding: {
      description: 'The model proposes a refund, or leaves the mail to a colleague.',
      invoke: { src: 'desk', input: ({ context }) => context.mail, onDone: { actions: 'choose' }, onError: 'left' },
      on: {
        'refund.proposed': { target: 'checking', actions: assign({ refund: ({ event }) => event }) },
        'mail.escalated': 'left',
      },
    },
    checking: { description: 'Is it large?', always: [{ guard: 'isLarge', target: 'asking' }, 'refunding'] },
    asking: {
      description: 'A person approves exactly this refund, or denies it.',
      invoke: {
        src: 'approval',
        input: ({ context }) => ({ question: context.refund }),
        onDone: [{ guard: { type: 'isApproved', params: ({ event }) => event.output }, target: 'refunding' }, 'left'],
      },
    },
    refunding: {
      description: 'The bank refunds the order, once.',
      invoke: { src: 'refund', input: ({ context }) => context.refund, onDone: 'refunded', onError: 'left' },
    },
    refunded: { description: 'The customer has the money back.', type: 'final' },
    left: { description: 'A colleague answers the customer.', type: 'final' },
  },
});

if (process.argv[1] === import.meta.filename) {
  const mail = await createDurableMachine(machine, { journals: memoryJournals() }).open('m-1', { input: 'A7 broke.' });
  await waitFor(mail.ref, (state) => state.matches('asking'));
  for (const { id, digest } of mail.pending.approvals)
    await mail.send({ type: 'approval.given', id, digest, decision: 'approve', by: 'Ada' });
  console.log((await waitFor(mail.ref, ({ status }) => status === 'done')).value); // refunded
}
