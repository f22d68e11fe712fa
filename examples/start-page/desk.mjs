// An agent that asks a person before it refunds.

import { decide } from 'postchain/agents';
import { approval, createDurableMachine } from 'postchain/durable';
import { fileJournals } from 'postchain/node';
import { scriptedModel } from 'postchain/testing';
import { assign, raise, setup } from 'xstate';
import * as z from 'zod';

const model = scriptedModel({ route: [{ type: 'refund', euros: 90 }] });

const desk = setup({
  actors: {
    approval,
    route: decide({
      model,
      name: 'route',
      events: { refund: z.object({ euros: z.int() }) },
      prompt: () => 'What now?',
    }),
  },
}).createMachine({
  id: 'desk',
  context: { euros: 0 },
  initial: 'routing',
  states: {
    routing: {
      invoke: { src: 'route', onDone: { actions: raise(({ event }) => event.output) } },
      on: { refund: { target: 'asking', actions: assign({ euros: ({ event }) => event.euros }) } },
    },
    asking: {
      invoke: {
        src: 'approval',
        input: ({ context }) => ({ question: { refund: context.euros } }),
        onDone: [
          { guard: ({ event }) => event.output.decision === 'approve', target: 'refunded' },
          { target: 'refused' },
        ],
      },
    },
    refunded: { type: 'final' },
    refused: { type: 'final' },
  },
});

export const desks = createDurableMachine(desk, { journals: fileJournals(process.env.JOURNALS) });

if (process.argv[1] === import.meta.filename) {
  const actor = await desks.open('mail-3');
  const isAsked = () => actor.pending.approvals.length > 0;
  while (!isAsked()) await new Promise((resolve) => setTimeout(resolve, 20));
  console.log(`mail-3 asks: ${JSON.stringify(actor.pending.approvals[0].question)}`);
  await actor.park();
}
