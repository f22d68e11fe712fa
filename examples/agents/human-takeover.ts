import { generate } from 'postchain/agents';
import { createDurableMachine, memoryJournals } from 'postchain/durable';
import { scriptedModel } from 'postchain/testing';
import { assign, setup, waitFor } from 'xstate';
import * as z from 'zod';

const Reply = z.object({ reply: z.string(), confidence: z.number().min(0).max(1) });
type Case = { readonly mail: string; readonly note: string } & z.infer<typeof Reply>;
type FromPerson = { type: 'person.tookOver' } | { type: 'person.handedBack' | 'person.replied'; text: string };
const prompt = ({ mail, note }: Case) => `Answer this mail: ${mail}\nNote of a colleague: ${note}`;
const unsure = { reply: 'Perhaps.', confidence: 0.3 };
// With a real model: openaiModel({ model: 'gpt-4.1-mini' }).
export const model = scriptedModel({ answer: [unsure, { reply: 'Yes, until Friday.', confidence: 0.9 }] });

export const machine = setup({
  types: { input: {} as { mail: string }, context: {} as Case, events: {} as FromPerson },
  actors: { answer: generate({ model, name: 'answer', schema: Reply, prompt }) },
  guards: { isConfident: ({ context }) => context.confidence >= 0.7 },
  delays: { patience: 3_600_000 },
}).createMachine({
  id: 'humanTakeover',
  context: ({ input }) => ({ ...input, note: 'none', reply: '', confidence: 0 }),
  output: ({ context }) => context.reply,
  initial: 'answering',
  states: {
    answering: {
      description: 'The model drafts a reply. A person may take over meanwhile.',
      invoke: {
        src: 'answer',
        input: ({ context }) => context,
        onDone: { target: 'checking', actions: assign(({ event }) => event.output) },
        onError: 'withPerson',
      },
      on: { 'person.tookOver': 'withPerson' },
    },
    checking: {
      description: 'Is the model confident?',
      always: [{ guard: 'isConfident', target: 'answered' }, { target: 'withPerson' }],
    },
    withPerson: {
      description: 'A person replies, or hands the mail back with a note.',
      on: {
        'person.handedBack': { target: 'answering', actions: assign({ note: ({ event }) => event.text }) },
        'person.replied': { target: 'answered', actions: assign({ reply: ({ event }) => event.text, confidence: 1 }) },
      },
      after: { patience: { target: 'unanswered', actions: assign({ reply: '' }) } },
    },
    answered: { description: 'A reply of a person, or one of which the model is confident.', type: 'final' },
    unanswered: { description: 'No person replied within an hour.', type: 'final' },
  },
});

if (process.argv[1] === import.meta.filename) {
  const desk = createDurableMachine(machine, { journals: memoryJournals() }); // In production: files, SQLite or PostgreSQL.
  const mail = await desk.open('mail-1', { input: { mail: 'Is the offer still valid?' } });
  await waitFor(mail.ref, (snapshot) => snapshot.matches('withPerson'));
  await mail.send({ type: 'person.handedBack', text: 'The offer ends on Friday.' });
  console.log(await mail.output); // Yes, until Friday.
}
