import { generate } from 'postchain/agents';
import { createDurableMachine, memoryJournals } from 'postchain/durable';
import { scriptedModel } from 'postchain/testing';
import { assign, setup } from 'xstate';
import * as z from 'zod';

const Critique = z.object({ score: z.int().min(0).max(10), advice: z.string() });
type Draft = { task: string; text: string; critique: z.infer<typeof Critique>; rounds: number };
const scored = (score: number, advice: string) => ({ score, advice });
// With a real model: openaiModel({ model: 'gpt-4.1-mini' }).
export const model = scriptedModel({
  write: [{ text: 'Our lamp is good.' }, { text: 'Our lamp saves 40 euros a year.' }],
  judge: [scored(3, 'Name a fact.'), scored(9, 'Publish it.')],
});
const writing = ({ task, text, critique }: Draft) => `${task}\nLast draft: ${text}\nCritique: ${critique.advice}`;
const judging = ({ task, text }: Draft) => `Judge this text, 0 to 10.\nThe task: ${task}\nThe text: ${text}`;
const draft = ({ context }: { context: Draft }) => context;

export const machine = setup({
  types: {} as { input: string; context: Draft; output: string },
  actors: {
    write: generate({ model, name: 'write', prompt: writing }),
    judge: generate({ model, name: 'judge', schema: Critique, prompt: judging }),
  },
  actions: {
    keepText: assign({ text: ({ event }) => Object(event).output, rounds: ({ context }) => context.rounds + 1 }),
    keepScore: assign({ critique: ({ event }) => Object(event).output }),
  },
  guards: { isGood: ({ context }) => context.critique.score >= 8, mayRevise: ({ context }) => context.rounds < 3 },
}).createMachine({
  id: 'evaluatorOptimizer',
  context: ({ input }) => ({ task: input, text: '', critique: scored(0, ''), rounds: 0 }),
  output: ({ context }) => context.text,
  initial: 'writing',
  states: {
    writing: {
      description: 'The model writes a draft, or improves the last one by its critique.',
      invoke: { src: 'write', input: draft, onDone: { target: 'judging', actions: 'keepText' }, onError: 'failed' },
    },
    judging: {
      description: 'The model judges the draft.',
      invoke: { src: 'judge', input: draft, onDone: { target: 'comparing', actions: 'keepScore' }, onError: 'failed' },
    },
    comparing: {
      description: 'Is the draft good enough, or may the model improve it?',
      always: [{ guard: 'isGood', target: 'good' }, { guard: 'mayRevise', target: 'writing' }, 'best'],
    },
    good: { description: 'The output has a score of at least eight.', type: 'final' },
    best: { description: 'The output is the third draft, which is not good enough.', type: 'final' },
    failed: { description: 'The model gave no valid reply.', type: 'final' },
  },
});

if (process.argv[1] === import.meta.filename) {
  const texts = createDurableMachine(machine, { journals: memoryJournals() });
  console.log(await (await texts.open('t-1', { input: 'Praise a lamp.' })).output); // Our lamp saves 40 euros a year.
}
