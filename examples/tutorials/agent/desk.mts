import { type ApprovalDecision, approval } from 'postchain/agents';
import { createDurableMachine, fileJournals, idempotencyKey } from 'postchain/durable';
import { assign, fromPromise, setup } from 'xstate';
import { clerk, type Refund } from './clerk.mts';

const machine = setup({
  types: { input: {} as string, context: {} as { mail: string; refund: Refund | null } },
  actors: {
    clerk,
    approval,
    pay: fromPromise<void, Refund | null>(async ({ input, self }) => {
      console.log(`Refunding ${input?.cents} cents, key ${idempotencyKey({ self })}`);
    }),
  },
  guards: { isApproved: (_, given: ApprovalDecision) => given.decision === 'approve' && !given.isEdited },
}).createMachine({
  id: 'desk',
  context: ({ input }) => ({ mail: input, refund: null }),
  initial: 'reading',
  states: {
    reading: {
      invoke: {
        src: 'clerk',
        input: ({ context }) => context.mail,
        onDone: { target: 'asking', actions: assign({ refund: ({ event }) => event.output.answer }) },
        onError: 'escalated',
      },
    },
    asking: {
      invoke: {
        src: 'approval',
        input: ({ context }) => ({ question: context.refund }),
        onDone: [
          { guard: { type: 'isApproved', params: ({ event }) => event.output }, target: 'refunding' },
          { target: 'escalated' },
        ],
      },
    },
    refunding: {
      invoke: { src: 'pay', input: ({ context }) => context.refund, onDone: 'refunded', onError: 'escalated' },
    },
    refunded: { type: 'final' },
    escalated: { type: 'final' },
  },
});

export const desk = createDurableMachine(machine, { journals: fileJournals('journals') });
