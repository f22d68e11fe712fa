import { type ApprovalDecision, approval } from 'postchain/durable';
import { assign, fromPromise, setup } from 'xstate';

const MAX_PAYMENTS = 3;

/** The process of an order: a person approves it within three days, then it is paid. */
export const order = setup({
  types: {
    input: {} as { orderId: string; euros: number },
    context: {} as { orderId: string; euros: number; payments: number; receipt: string | null },
  },
  actors: {
    approval,
    // Each program and test provides its own.
    pay: fromPromise<string, { orderId: string; euros: number }>(() =>
      Promise.reject(new Error('pay is not provided')),
    ),
  },
  guards: {
    // An edited amount is not the one that would be paid.
    isApproved: (_, { decision, isEdited }: ApprovalDecision) => decision === 'approve' && !isEdited,
    mayPayAgain: ({ context }) => context.payments < MAX_PAYMENTS,
  },
  delays: { approvalTime: 3 * 24 * 60 * 60 * 1_000, paymentPause: 60_000 },
}).createMachine({
  id: 'order',
  // Change it whenever you change the machine, and keep the old one in `versions` for the orders that it started.
  version: '1',
  context: ({ input }) => ({ ...input, payments: 0, receipt: null }),
  initial: 'asking',
  states: {
    asking: {
      invoke: {
        src: 'approval',
        input: ({ context }) => ({ question: { pay: context.euros } }),
        onDone: [
          { guard: { type: 'isApproved', params: ({ event }) => event.output }, target: 'paying' },
          { target: 'denied' },
        ],
      },
      after: { approvalTime: 'expired' },
    },
    paying: {
      entry: assign({ payments: ({ context }) => context.payments + 1 }),
      invoke: {
        src: 'pay',
        input: ({ context: { orderId, euros } }) => ({ orderId, euros }),
        onDone: { target: 'paid', actions: assign({ receipt: ({ event }) => event.output }) },
        onError: [{ guard: 'mayPayAgain', target: 'pausing' }, { target: 'failed' }],
      },
    },
    pausing: { after: { paymentPause: 'paying' } },
    paid: { type: 'final' },
    denied: { type: 'final' },
    expired: { type: 'final' },
    failed: { type: 'final' },
  },
});
