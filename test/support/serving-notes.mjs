import { serve } from '@hono/node-server';
import { assign, createMachine } from 'xstate';
import { createDurableMachine, fileJournals, postgresJournals } from '../../dist/durable.js';
import { bearerTokens, createServer } from '../../dist/server.js';

/** Serves a machine that keeps notes: `node serving-notes.mjs KIND PLACE`. Prints its port. */
const [, , kind, place] = process.argv;
const machine = createMachine({
  id: 'notes',
  context: { notes: [] },
  initial: 'open',
  states: { open: { on: { CLOSE: 'closed' } }, closed: { type: 'final' } },
  on: { NOTE: { actions: assign({ notes: ({ context, event }) => [...context.notes, event.text] }) } },
});
const journals = kind === 'file' ? fileJournals(place) : postgresJournals(place);
const notes = createDurableMachine(machine, { journals });
const authorize = bearerTokens({ 'the-token-of-alice': 'alice' });
const server = await createServer({ machines: { order: notes }, authorize });
serve({ fetch: server.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => process.stdout.write(`${port}\n`));
