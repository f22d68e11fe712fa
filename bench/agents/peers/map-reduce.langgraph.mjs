import { Command, END, ReducedValue, Send, START, StateGraph, StateSchema } from '@langchain/langgraph';
import * as z from 'zod';
import { model } from '../langchain-model.mjs';

const Notes = z.record(z.string(), z.string().nullable());
const State = new StateSchema({
  texts: z.array(z.string()),
  notes: new ReducedValue(Notes.default({}), { reducer: (notes, more) => ({ ...notes, ...more }) }),
  summary: z.string().nullable().default(null),
});
const sendTexts = ({ texts }) => texts.map((text, at) => new Send('read', { id: `text${at + 1}`, text }));
const notesText = ({ texts, notes }) => texts.flatMap((_, at) => notes[`text${at + 1}`] ?? []).join(' ');

export const createApp = (checkpointer) =>
  new StateGraph(State)
    .setNodeDefaults({ retryPolicy: { maxAttempts: 3 } })
    .addNode(
      'read',
      async ({ id, text }) => ({ notes: { [id]: (await model.invoke(`Summarize in one sentence:\n${text}`)).text } }),
      { errorHandler: ({ id }) => ({ notes: { [id]: null } }) },
    )
    .addNode('combine', async (all) => ({ summary: (await model.invoke(`Combine:\n${notesText(all)}`)).text }), {
      errorHandler: () => new Command({ goto: END }),
    })
    .addConditionalEdges(START, sendTexts, ['read'])
    .addConditionalEdges('read', (all) => (notesText(all) === '' ? END : 'combine'), ['combine', END])
    .addEdge('combine', END)
    .compile({ checkpointer });
export const stateOf = (texts) => ({ texts });
