import { Command, END, ReducedValue, START, StateGraph, StateSchema } from '@langchain/langgraph';
import * as z from 'zod';
import { model } from '../langchain-model.mjs';

const Verdict = z.object({ winner: z.enum(['pro', 'contra']), reason: z.string() });
const Speeches = z.array(z.string()).default([]);
const State = new StateSchema({
  topic: z.string(),
  rounds: z.number(),
  speeches: new ReducedValue(Speeches, { reducer: (speeches, more) => [...speeches, ...more] }),
  verdict: Verdict.nullable().default(null),
});
const lines = (task, { topic, speeches }) => [`${task}: ${topic}`, ...speeches].join('\n');
const speak = (task) => async (debate) => ({ speeches: [(await model.invoke(lines(task, debate))).text] });
const judge = model.withStructuredOutput(Verdict, { name: 'judge' });

export const createApp = (checkpointer) =>
  new StateGraph(State)
    .setNodeDefaults({ retryPolicy: { maxAttempts: 3 }, errorHandler: () => new Command({ goto: 'judge' }) })
    .addNode('pro', speak('Argue for this'))
    .addNode('contra', speak('Argue against this'))
    .addNode('judge', async (debate) => ({ verdict: await judge.invoke(lines('Who argues better?', debate)) }), {
      errorHandler: () => new Command({ goto: END }),
    })
    .addEdge(START, 'pro')
    .addEdge('pro', 'contra')
    .addConditionalEdges('contra', ({ speeches, rounds }) => (speeches.length < 2 * rounds ? 'pro' : 'judge'))
    .addEdge('judge', END)
    .compile({ checkpointer });
export const stateOf = (input) => input;
