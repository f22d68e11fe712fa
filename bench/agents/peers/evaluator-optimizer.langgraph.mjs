import { Command, END, START, StateGraph, StateSchema } from '@langchain/langgraph';
import * as z from 'zod';
import { model } from '../langchain-model.mjs';

const Critique = z.object({ score: z.int().min(0).max(10), advice: z.string() });
const State = new StateSchema({
  task: z.string(),
  text: z.string().default(''),
  critique: Critique.default({ score: 0, advice: '' }),
  rounds: z.number().default(0),
  failed: z.boolean().default(false),
});
const writing = ({ task, text, critique }) => `${task}\nLast draft: ${text}\nCritique: ${critique.advice}`;
const judging = ({ task, text }) => `Judge this text, 0 to 10.\nThe task: ${task}\nThe text: ${text}`;
const judge = model.withStructuredOutput(Critique, { name: 'judge' });

export const createApp = (checkpointer) =>
  new StateGraph(State)
    .setNodeDefaults({
      retryPolicy: { maxAttempts: 3 },
      errorHandler: () => new Command({ update: { failed: true }, goto: END }),
    })
    .addNode('write', async (draft) => ({ text: (await model.invoke(writing(draft))).text, rounds: draft.rounds + 1 }))
    .addNode('judge', async (draft) => ({ critique: await judge.invoke(judging(draft)) }))
    .addEdge(START, 'write')
    .addEdge('write', 'judge')
    .addConditionalEdges('judge', ({ critique, rounds }) => (critique.score >= 8 || rounds >= 3 ? END : 'write'))
    .compile({ checkpointer });
export const stateOf = (task) => ({ task });
