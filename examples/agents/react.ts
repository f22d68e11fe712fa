import { createPassageIndex, documentsFrom } from 'postchain';
import { defineCapability, runTools } from 'postchain/agents';
import { createDurableMachine, memoryJournals } from 'postchain/durable';
import { scriptedModel } from 'postchain/testing';
import { assign, setup } from 'xstate';
import * as z from 'zod';

const text = 'A lamp costs 39 euros. A shade costs 12 euros.';
const index = createPassageIndex((await documentsFrom([{ path: 'prices', text }])).documents); // Or loadDocuments(['docs']).
export const tools = [
  defineCapability({
    name: 'search',
    description: 'Returns passages of the documents of the shop.',
    arguments: z.object({ query: z.string() }),
    execute: ({ query }, { signal }) => index.search(query, { limit: 3, minRelevance: 0, signal }),
  }),
  defineCapability({
    name: 'calculate',
    description: 'Adds or multiplies two numbers.',
    arguments: z.object({ left: z.number(), operator: z.enum(['+', '*']), right: z.number() }),
    execute: ({ left, operator, right }) => (operator === '+' ? left + right : left * right),
  }),
];
const calls = (tool: string, input: object) => ({ answer: null, calls: [{ tool, arguments: JSON.stringify(input) }] });
// These replies are scripted. A real model decides for itself: openaiModel({ model: 'gpt-4.1-mini' }).
export const model = scriptedModel({
  shop: [
    calls('search', { query: 'What does a lamp cost?' }),
    calls('calculate', { left: 2, operator: '*', right: 39 }),
    { answer: 'Two lamps cost 78 euros.', calls: [] },
  ],
});

export const machine = setup({
  types: {} as { input: string; context: { question: string; answer: string }; output: string },
  actors: { shop: runTools({ model, name: 'shop', tools, limits: { maxRounds: 8 } }) },
}).createMachine({
  id: 'react',
  context: ({ input }) => ({ question: input, answer: '' }),
  output: ({ context }) => context.answer,
  initial: 'working',
  states: {
    working: {
      description: 'The model searches and calculates until it knows the answer, in at most eight rounds.',
      invoke: {
        src: 'shop',
        input: ({ context }) => context.question,
        onDone: { target: 'answered', actions: assign({ answer: ({ event }) => event.output.answer }) },
        onError: 'failed',
      },
    },
    answered: { description: 'The output is the answer.', type: 'final' },
    failed: { description: 'The model gave no valid answer.', type: 'final' },
  },
});

if (process.argv[1] === import.meta.filename) {
  const shop = await createDurableMachine(machine, { journals: memoryJournals() }).open('q-1', { input: 'Two lamps?' });
  console.log(await shop.output); // Two lamps cost 78 euros.
}
