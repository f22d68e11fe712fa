import {
  type ApprovalDecision,
  approval,
  budget,
  type ChatModel,
  type PassageSource,
  runTools,
  type ToolsOutput,
} from 'postchain/agents';
import { idempotencyKey } from 'postchain/durable';
import { assign, fromPromise, setup } from 'xstate';
import * as z from 'zod';
import { createTools, type Order, type Shop } from './tools.ts';

const Reply = z.object({
  text: z.string().describe('The reply to the customer.'),
  refund: z.string().nullable().describe('The id of the order to refund, or null.'),
});
type Reply = z.infer<typeof Reply>;

const system =
  'You work for the support of a shop. Look up orders and the policy of the shop with the tools, and answer only from their results. Propose a refund only if the customer asks for one and the policy allows it: a person decides.';

export interface AgentParts {
  readonly model: ChatModel;
  readonly shop: Shop;
  readonly documents: PassageSource;
}

/** The actors, guards and actions of the chart. */
export const agentSetup = ({ model, shop, documents }: AgentParts) =>
  setup({
    types: {
      input: {} as { request: string },
      context: {} as { request: string; text: string; refund: string; order: Order | null },
      output: {} as string,
    },
    actors: {
      budget,
      approval,
      support: runTools({ model, name: 'support', system, tools: createTools(shop, documents), schema: Reply }),
      findOrder: fromPromise<Order, string>(({ input }) => shop.find(input)),
      refundOrder: fromPromise<string, string>(({ input, self }) => shop.refund(input, idempotencyKey({ self }))),
    },
    guards: {
      isProposed: (_, { answer }: ToolsOutput<Reply>) => answer.refund !== null,
      isOpen: (_, { isRefunded }: Order) => !isRefunded,
      isApproved: (_, { decision, isEdited }: ApprovalDecision) => decision === 'approve' && !isEdited,
    },
    actions: {
      keepReply: assign((_, { answer: { text, refund } }: ToolsOutput<Reply>) => ({ text, refund: refund ?? '' })),
      keepOrder: assign((_, order: Order) => ({ order })),
      keepText: assign((_, text: string) => ({ text })),
      apologize: assign({ text: 'That did not work. A colleague will help you.' }),
    },
  });

/** The output of an actor, for the parameters of guards and actions. */
export const output = <Output>({ event }: { readonly event: { readonly output: Output } }): Output => event.output;
