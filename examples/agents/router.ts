import { decide, generate } from 'postchain/agents';
import { createDurableMachine, memoryJournals } from 'postchain/durable';
import { scriptedModel } from 'postchain/testing';
import { assign, type OutputFrom, raise, setup } from 'xstate';
import * as z from 'zod';

// These replies are scripted. A real model decides for itself: openaiModel({ model: 'gpt-4.1-mini' }).
export const model = scriptedModel({
  route: [{ type: 'billing.chosen' }],
  billing: [{ text: 'Your invoice is on its way.' }],
});
const none = z.object({});
const route = decide({ model, name: 'route', events: { 'billing.chosen': none, 'repairs.chosen': none } });
const specialist = (name: string, system: string) => generate({ model, name, system, prompt: (mail: string) => mail });

export const machine = setup({
  types: {} as { input: string; context: { mail: string; reply: string }; events: OutputFrom<typeof route> },
  actors: {
    route,
    billing: specialist('billing', 'You answer questions about invoices and payments.'),
    repairs: specialist('repairs', 'You help customers to repair their lamps.'),
  },
  actions: { keepReply: assign({ reply: ({ event }) => Object(event).output }) },
}).createMachine({
  id: 'router',
  context: ({ input }) => ({ mail: input, reply: '' }),
  output: ({ context }) => context.reply,
  initial: 'routing',
  states: {
    routing: {
      description: 'The model chooses the specialist who answers the mail.',
      invoke: {
        src: 'route',
        input: ({ context }) => context.mail,
        onDone: { actions: raise(({ event }) => event.output) },
        onError: 'failed',
      },
      on: {
        'billing.chosen': { description: 'It is about an invoice or a payment.', target: 'billing' },
        'repairs.chosen': { description: 'Something is broken.', target: 'repairs' },
      },
    },
    billing: {
      description: 'The specialist for invoices answers.',
      invoke: { src: 'billing', input: ({ context }) => context.mail, onDone: 'answered', onError: 'failed' },
    },
    repairs: {
      description: 'The specialist for repairs answers.',
      invoke: { src: 'repairs', input: ({ context }) => context.mail, onDone: 'answered', onError: 'failed' },
    },
    answered: { description: 'The output is the reply.', entry: 'keepReply', type: 'final' },
    failed: { description: 'A person has to answer.', type: 'final' },
  },
});

if (process.argv[1] === import.meta.filename) {
  const desk = createDurableMachine(machine, { journals: memoryJournals() }); // In production: files, SQLite or PostgreSQL.
  console.log(await (await desk.open('m-1', { input: 'Where is my invoice?' })).output); // Your invoice is on its way.
}
