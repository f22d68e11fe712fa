import { createAttempt } from 'postchain';
import { scriptedModel } from 'postchain/testing';
import { assign, createActor, setup, toPromise } from 'xstate';
import * as z from 'zod';

const Ticket = z.object({ urgent: z.boolean(), summary: z.string() });
const model = scriptedModel({ ticket: [{ urgent: true, summary: 'The shop is down.' }] });
const triage = createAttempt({ model, schema: Ticket, name: 'ticket', system: 'You triage support mail.' });

const desk = setup({
  types: {
    context: {} as { mail: string; summary: string },
    input: {} as { mail: string },
    output: {} as { summary: string },
  },
  actors: { triage: triage.machine },
}).createMachine({
  context: ({ input }) => ({ ...input, summary: '' }),
  output: ({ context }) => ({ summary: context.summary }),
  initial: 'reading',
  states: {
    reading: {
      invoke: {
        src: 'triage',
        input: ({ context }) => triage.input(context.mail),
        onDone: [
          {
            guard: ({ event }) => event.output.ok && event.output.value.urgent,
            target: 'waking',
            actions: assign({ summary: ({ event }) => (event.output.ok ? event.output.value.summary : '') }),
          },
          { target: 'queued' },
        ],
      },
    },
    waking: { type: 'final' },
    queued: { type: 'final' },
  },
});

const actor = createActor(desk, { input: { mail: 'Nobody has been able to pay since nine!' } }).start();
console.log((await toPromise(actor)).summary, actor.getSnapshot().value);
