import { Command, END, interrupt, START, StateGraph, StateSchema } from '@langchain/langgraph';
import * as z from 'zod';
import { model } from '../langchain-model.mjs';

const Reply = z.object({ reply: z.string(), confidence: z.number().min(0).max(1) });
const State = new StateSchema({
  mail: z.string(),
  note: z.string().default('none'),
  reply: z.string().default(''),
  confidence: z.number().default(0),
});
const prompt = ({ mail, note }) => `Answer this mail: ${mail}\nNote of a colleague: ${note}`;
const answerer = model.withStructuredOutput(Reply, { name: 'answer' });

export const createApp = (checkpointer) =>
  new StateGraph(State)
    .setNodeDefaults({ retryPolicy: { maxAttempts: 3 }, errorHandler: () => new Command({ goto: 'person' }) })
    .addNode('answer', (state) => answerer.invoke(prompt(state)))
    .addNode(
      'person',
      ({ mail, reply }) => {
        const { type, text } = interrupt({ mail, reply });
        if (type === 'handedBack') return new Command({ update: { note: text }, goto: 'answer' });
        return new Command({ update: { reply: type === 'replied' ? text : '', confidence: 1 }, goto: END });
      },
      { ends: ['answer', END] },
    )
    .addEdge(START, 'answer')
    .addConditionalEdges('answer', ({ confidence }) => (confidence >= 0.7 ? END : 'person'))
    .compile({ checkpointer });
export const stateOf = (input) => input;
