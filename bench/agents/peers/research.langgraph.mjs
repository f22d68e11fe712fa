import { Command, END, START, StateGraph, StateSchema } from '@langchain/langgraph';
import * as z from 'zod';
import { model } from '../langchain-model.mjs';
import { searchLibrary } from '../world.mjs';

const Draft = z.object({ answer: z.string(), quotes: z.array(z.string().min(1)) });
const State = new StateSchema({
  question: z.string(),
  query: z.string(),
  passages: z.array(z.looseObject({ text: z.string() })).default([]),
  answer: z.string().default(''),
  quotes: z.array(z.string()).default([]),
  steps: z.number().default(0),
});
const ask = (task, research) => `${task}\n${JSON.stringify(research)}`;
const rephraser = model.withStructuredOutput(z.object({ query: z.string() }), { name: 'query' });
const drafter = model.withStructuredOutput(Draft, { name: 'draft' });
const isQuoted = ({ quotes, passages }) =>
  quotes.length > 0 && quotes.every((quote) => passages.some(({ text }) => text.includes(quote)));
const retry = ({ steps }) => (steps < 6 ? 'rephrase' : 'giveUp');
const step = (act) => async (research) => ({ ...(await act(research)), steps: research.steps + 1 });

export const createApp = (checkpointer) =>
  new StateGraph(State)
    .setNodeDefaults({ retryPolicy: { maxAttempts: 3 }, errorHandler: () => new Command({ goto: 'giveUp' }) })
    .addNode(
      'search',
      step(async ({ query }) => ({ passages: await searchLibrary(query) })),
    )
    .addNode(
      'draft',
      step((research) => drafter.invoke(ask('Answer with quotes from the passages.', research))),
    )
    .addNode(
      'rephrase',
      step((research) => rephraser.invoke(ask('Rephrase it.', research))),
    )
    .addNode('giveUp', () => ({ answer: '', quotes: [] }))
    .addEdge(START, 'search')
    .addConditionalEdges('search', (research) => (research.passages.length > 0 ? 'draft' : retry(research)))
    .addConditionalEdges('draft', (research) => (isQuoted(research) ? END : retry(research)))
    .addEdge('rephrase', 'search')
    .addEdge('giveUp', END)
    .compile({ checkpointer });
export const stateOf = ({ question }) => ({ question, query: question });
