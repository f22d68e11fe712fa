import { createServer } from 'node:http2';
import { createEndpointHandler } from '@restatedev/restate-sdk';
import { approval, idempotencyKey } from 'postchain/durable';
import { createRestateActor } from 'postchain/restate';
import { setup } from 'xstate';

const order = setup({
  types: { input: {} as { amount: number; graceMs: number }, context: {} as { amount: number; graceMs: number } },
  actors: { approval },
  actions: { ship: (args) => console.log(`ships ${args.context.amount}, key ${idempotencyKey(args)}`) },
  delays: { grace: ({ context }) => context.graceMs },
}).createMachine({
  id: 'order',
  context: ({ input }) => input,
  initial: 'asking',
  states: {
    asking: {
      invoke: {
        src: 'approval',
        input: ({ context }) => ({ question: { amount: context.amount } }),
        onDone: [
          { guard: ({ event }) => event.output.decision === 'approve', target: 'waiting' },
          { target: 'denied' },
        ],
      },
    },
    waiting: { after: { grace: { target: 'shipped', actions: 'ship' } } },
    shipped: { type: 'final' },
    denied: { type: 'final' },
  },
  output: ({ context }) => ({ amount: context.amount }),
});

const server = createServer(createEndpointHandler({ services: [createRestateActor(order)] }));
server.listen(Number(process.env['PORT'] ?? 9080), '127.0.0.1');
