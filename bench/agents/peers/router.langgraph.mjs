import { Command, END, START, StateGraph, StateSchema } from '@langchain/langgraph';
import * as z from 'zod';
import { model } from '../langchain-model.mjs';

const State = new StateSchema({
  mail: z.string(),
  specialist: z.string().default(''),
  reply: z.string().default(''),
  failed: z.boolean().default(false),
});
const Route = z.object({
  specialist: z
    .enum(['billing', 'repairs'])
    .describe('billing: an invoice or a payment. repairs: something is broken.'),
});
const router = model.withStructuredOutput(Route, { name: 'route' });
const specialist =
  (system) =>
  async ({ mail }) => {
    const { text } = await model.invoke([
      { role: 'system', content: system },
      { role: 'user', content: mail },
    ]);
    return { reply: text };
  };

export const createApp = (checkpointer) =>
  new StateGraph(State)
    .setNodeDefaults({
      retryPolicy: { maxAttempts: 3 },
      errorHandler: () => new Command({ update: { failed: true }, goto: END }),
    })
    .addNode('route', ({ mail }) => router.invoke(`Choose the specialist who answers this mail: ${mail}`))
    .addNode('billing', specialist('You answer questions about invoices and payments.'))
    .addNode('repairs', specialist('You help customers to repair their lamps.'))
    .addEdge(START, 'route')
    .addConditionalEdges('route', (state) => state.specialist, ['billing', 'repairs'])
    .addEdge('billing', END)
    .addEdge('repairs', END)
    .compile({ checkpointer });
export const stateOf = (mail) => ({ mail });
