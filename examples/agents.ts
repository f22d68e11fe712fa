import { decide, generate } from 'postchain/agents';
import { scriptedModel } from 'postchain/testing';
import { assign, createActor, raise, setup, toPromise } from 'xstate';
import * as z from 'zod';

// These replies are scripted. A real model decides for itself: openaiModel({ model: 'gpt-4.1-mini' }).
const model = scriptedModel({
  route: [{ type: 'refund', cents: 900 }],
  reply: [{ text: 'You get 9.00 euros back.' }],
});

const desk = setup({
  types: {
    input: {} as { mail: string },
    context: {} as { mail: string; cents: number; reply: string },
    events: {} as { type: 'refund'; cents: number } | { type: 'escalate' },
    output: {} as string,
  },
  actors: {
    route: decide({
      model,
      name: 'route',
      events: { refund: z.object({ cents: z.int() }), escalate: z.object({}) },
      prompt: (mail: string) => `What does this customer need?\n${mail}`,
    }),
    reply: generate({ model, name: 'reply', prompt: (cents: number) => `Write that ${cents} cents are refunded.` }),
  },
  guards: { isSmall: ({ event }) => event.type === 'refund' && event.cents <= 1_000 },
}).createMachine({
  id: 'desk',
  context: ({ input }) => ({ ...input, cents: 0, reply: '' }),
  output: ({ context }) => context.reply,
  initial: 'routing',
  states: {
    routing: {
      invoke: {
        src: 'route',
        input: ({ context }) => context.mail,
        onDone: { actions: raise(({ event }) => event.output) },
        onError: 'waitingForPerson',
      },
      on: {
        refund: {
          description: 'The customer gets money back.',
          guard: 'isSmall',
          target: 'replying',
          actions: assign({ cents: ({ event }) => event.cents }),
        },
        escalate: { description: 'A person has to decide.', target: 'waitingForPerson' },
      },
    },
    replying: {
      invoke: {
        src: 'reply',
        input: ({ context }) => context.cents,
        onDone: { target: 'replied', actions: assign({ reply: ({ event }) => event.output }) },
        onError: 'waitingForPerson',
      },
    },
    waitingForPerson: { type: 'final' },
    replied: { type: 'final' },
  },
});

const actor = createActor(desk, { input: { mail: 'My umbrella broke. I paid 9 euros.' } }).start();
console.log(await toPromise(actor)); // You get 9.00 euros back.
