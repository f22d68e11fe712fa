import { Command, END, interrupt, START, StateGraph, StateSchema } from '@langchain/langgraph';
import * as z from 'zod';
import { model } from '../langchain-model.mjs';
import { bank } from '../world.mjs';

const Refund = z.object({ order: z.string(), cents: z.int().min(1).max(100_000) });
const State = new StateSchema({
  mail: z.string(),
  refund: Refund.nullable().default(null),
  status: z.enum(['open', 'refunded', 'left']).default('open'),
});
const prompt = ({ mail }) => `${mail}\n\nPropose a refund, or null to leave the mail to a colleague.`;
const desk = model.withStructuredOutput(z.object({ refund: Refund.nullable() }), { name: 'desk' });
const afterDeciding = ({ refund }) => (refund === null ? 'leave' : refund.cents > 5_000 ? 'ask' : 'pay');

export const createApp = (checkpointer) =>
  new StateGraph(State)
    .setNodeDefaults({ retryPolicy: { maxAttempts: 3 }, errorHandler: () => new Command({ goto: 'leave' }) })
    .addNode('decide', (state) => desk.invoke(prompt(state)))
    .addNode('ask', ({ refund }) => new Command({ goto: interrupt({ refund }).approved ? 'pay' : 'leave' }), {
      ends: ['pay', 'leave'],
    })
    .addNode('pay', async ({ refund }, { configurable }) => {
      await bank.refund(`refund ${configurable.thread_id}`, refund);
      return { status: 'refunded' };
    })
    .addNode('leave', () => ({ status: 'left' }))
    .addEdge(START, 'decide')
    .addConditionalEdges('decide', afterDeciding, ['leave', 'ask', 'pay'])
    .addEdge('pay', END)
    .addEdge('leave', END)
    .compile({ checkpointer });
export const stateOf = (mail) => ({ mail });
