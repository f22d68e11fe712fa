import { createServer } from 'node:http2';
import { createEndpointHandler } from '@restatedev/restate-sdk';
import { createPassageIndex } from 'postchain';
import { approval } from 'postchain/durable';
import { loadDocuments } from 'postchain/node';
import { createRestateActor, createRestateChain } from 'postchain/restate';
import { setup } from 'xstate';

const { documents } = await loadDocuments(['docs']);
const chain = createRestateChain({ documents: createPassageIndex(documents) });

const order = setup({
  types: { input: {} as { amount: number } },
  actors: { approval },
  actions: { ship: () => console.log('The order ships.') },
}).createMachine({
  id: 'order',
  context: ({ input }) => input,
  initial: 'asking',
  states: {
    asking: {
      invoke: {
        src: 'approval',
        input: ({ context }) => ({ question: context }),
        onDone: [
          {
            guard: ({ event: { output } }) => output.decision === 'approve' && !output.isEdited,
            target: 'waiting',
          },
          { target: 'denied' },
        ],
      },
    },
    waiting: { after: { 2000: { target: 'shipped', actions: 'ship' } } },
    shipped: { type: 'final' },
    denied: { type: 'final' },
  },
  output: ({ context }) => context,
});

const port = Number(process.env['PORT'] ?? 9080);
const server = createServer(createEndpointHandler({ services: [chain, createRestateActor(order)] }));
server.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port}`));

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
