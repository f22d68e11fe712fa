import { createPassageIndex } from 'postchain';
import { generate, type Passage, search } from 'postchain/agents';
import { scriptedModel } from 'postchain/testing'; // A real model: openaiModel({ model: 'gpt-4.1-mini' }).
import { assign, createActor, setup, toPromise } from 'xstate';
import * as z from 'zod';

export const documents = createPassageIndex([{ path: 'library.md', text: 'It opens at nine and closes at five.' }]);
const Draft = z.object({ answer: z.string(), quotes: z.array(z.string().min(1)) });
type Research = z.infer<typeof Draft> & { question: string; query: string; steps: number; passages: Passage[] };
const ask = (task: string) => (research: Research) => `${task}\n${JSON.stringify(research)}`;
const whole = ({ context }: { readonly context: Research }): Research => context;
const keep = { type: 'keep', params: ({ event }: { event: { output: object } }) => event.output } as const;
export const model = scriptedModel({ query: [{ query: 'opens' }], draft: [{ answer: 'Nine.', quotes: ['at nine'] }] });

export const machine = setup({
  types: { input: {} as { question: string }, context: {} as Research },
  actors: {
    find: search(documents),
    rephrase: generate({ model, name: 'query', schema: z.object({ query: z.string() }), prompt: ask('Rephrase it.') }),
    answer: generate({ model, name: 'draft', schema: Draft, prompt: ask('Answer with quotes from the passages.') }),
  },
  guards: {
    isFound: ({ context }) => context.passages.length > 0,
    isQuoted: ({ context: c }) => !!c.quotes[0] && c.quotes.every((q) => c.passages.some((p) => p.text.includes(q))),
    maySearch: ({ context }) => context.steps < 6,
  },
  actions: { keep: assign(({ context }, found: object) => ({ ...found, steps: context.steps + 1 })) },
}).createMachine({
  id: 'research',
  context: ({ input: { question } }) => ({ question, query: question, passages: [], answer: '', quotes: [], steps: 0 }),
  output: ({ context: { answer, quotes } }) => ({ answer, quotes }),
  initial: 'searching',
  states: {
    searching: {
      description: 'Searches the documents.',
      invoke: { src: 'find', input: whole, onDone: { target: 'reading', actions: keep }, onError: 'unanswered' },
    },
    reading: {
      description: 'Were passages found?',
      always: [{ guard: 'isFound', target: 'answering' }, { guard: 'maySearch', target: 'rephrasing' }, 'unanswered'],
    },
    answering: {
      description: 'The model answers with quotes from the passages.',
      invoke: { src: 'answer', input: whole, onDone: { target: 'checking', actions: keep }, onError: 'unanswered' },
    },
    checking: {
      description: 'Is each quote in a passage?',
      always: [{ guard: 'isQuoted', target: 'answered' }, { guard: 'maySearch', target: 'rephrasing' }, 'unanswered'],
    },
    rephrasing: {
      description: 'The model writes another query.',
      invoke: { src: 'rephrase', input: whole, onDone: { target: 'searching', actions: keep }, onError: 'unanswered' },
    },
    answered: { description: 'An answer whose quotes are in the passages.', type: 'final' },
    unanswered: { description: 'No supported answer.', type: 'final', entry: assign({ answer: '', quotes: [] }) },
  },
});

const actor = createActor(machine, { input: { question: 'When can I visit?' } });
if (process.argv[1] === import.meta.filename) console.log(await toPromise(actor.start()));
