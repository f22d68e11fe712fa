import { type AgentParts, agentSetup, output } from './actors.ts';

/** The support agent. The model replies and proposes; the chart decides what happens. */
export const createAgent = (parts: AgentParts) =>
  agentSetup(parts).createMachine({
    id: 'agent',
    // Change it whenever you change the chart, and keep the old one in `versions` for the conversations that it started.
    version: '1',
    context: ({ input }) => ({ ...input, text: '', refund: '', order: null }),
    output: ({ context }) => context.text,
    invoke: { src: 'budget', systemId: 'budget', input: { calls: 20, tokens: 100_000 } },
    initial: 'answering',
    states: {
      answering: {
        description: 'The model looks up orders and documents, and replies. It may propose a refund.',
        invoke: {
          src: 'support',
          input: ({ context }) => context.request,
          onDone: [
            {
              guard: { type: 'isProposed', params: output },
              target: 'checking',
              actions: { type: 'keepReply', params: output },
            },
            { target: 'answered', actions: { type: 'keepReply', params: output } },
          ],
          onError: 'failed',
        },
        on: { 'budget.reached': 'outOfBudget' },
      },
      checking: {
        description: 'Reads the order from the shop, not from the model, and checks whether it was already refunded.',
        invoke: {
          src: 'findOrder',
          input: ({ context }) => context.refund,
          onDone: [
            {
              guard: { type: 'isOpen', params: output },
              target: 'asking',
              actions: { type: 'keepOrder', params: output },
            },
            { target: 'answered', actions: { type: 'keepText', params: 'The order was already refunded.' } },
          ],
          onError: 'failed',
        },
      },
      asking: {
        description: 'A person approves exactly this refund, or denies it.',
        invoke: {
          src: 'approval',
          input: ({ context: { order } }) => ({ question: { refund: { ...order } } }),
          onDone: [
            { guard: { type: 'isApproved', params: output }, target: 'refunding' },
            { target: 'denied', actions: { type: 'keepText', params: 'The refund was denied.' } },
          ],
        },
      },
      refunding: {
        description: 'The shop refunds the order, once.',
        invoke: {
          src: 'refundOrder',
          input: ({ context }) => context.refund,
          onDone: { target: 'refunded', actions: { type: 'keepText', params: output } },
          onError: 'failed',
        },
      },
      answered: { description: 'The text is the reply.', type: 'final' },
      refunded: { description: 'The customer has the money back.', type: 'final' },
      denied: { description: 'A person denied the refund.', type: 'final' },
      outOfBudget: { description: 'The model used up its calls or tokens.', type: 'final', entry: 'apologize' },
      failed: { description: 'No valid reply, no such order, or no refund.', type: 'final', entry: 'apologize' },
    },
  });
