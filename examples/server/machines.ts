import { serve } from '@hono/node-server';
import { approval, createDurableMachine, fileJournals } from 'postchain/durable';
import { bearerTokens, createServer } from 'postchain/server';
import { assign, setup } from 'xstate';
import * as z from 'zod';

const orderMachine = setup({
  types: {
    context: {} as { items: readonly string[]; note: string },
    input: {} as { note: string },
    events: {} as { type: 'ADD'; item: string } | { type: 'ORDER' },
  },
  actors: { approval },
}).createMachine({
  id: 'order',
  context: ({ input }) => ({ items: [], note: input.note }),
  initial: 'open',
  states: {
    open: {
      on: {
        ADD: { actions: assign({ items: ({ context, event }) => [...context.items, event.item] }) },
        ORDER: 'asking',
      },
    },
    asking: {
      invoke: { src: 'approval', input: ({ context }) => ({ question: context.items }), onDone: 'ordered' },
    },
    ordered: { type: 'final' },
  },
});

const { TOKEN = '', JOURNALS = 'orders', PORT = '8787' } = process.env;
const orders = createDurableMachine(orderMachine, { journals: fileJournals(JOURNALS) });
const server = await createServer({
  machines: {
    order: {
      host: orders,
      input: z.object({ note: z.string() }),
      events: { ADD: z.object({ item: z.string().min(1) }), ORDER: z.object({}) },
      view: ({ context }) => ({ items: context.items }),
    },
  },
  authorize: bearerTokens({ [TOKEN]: 'alice' }),
});
const http = serve({ fetch: server.fetch, hostname: '127.0.0.1', port: Number(PORT) });
process.once('SIGTERM', async () => {
  http.close();
  await server.close();
});
