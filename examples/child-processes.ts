import { createDurableMachine, createWorker, fromDurable, memoryJournals } from 'postchain/durable';
import { assign, fromPromise, setup } from 'xstate';

const shipment = setup({
  types: { input: {} as { to: string }, context: {} as { to: string; label: string }, output: {} as string },
  actors: { print: fromPromise<string, string>(async ({ input }) => `label for ${input}`) },
}).createMachine({
  id: 'shipment',
  context: ({ input }) => ({ ...input, label: '' }),
  initial: 'printing',
  states: {
    printing: {
      invoke: {
        src: 'print',
        input: ({ context }) => context.to,
        onDone: { target: 'sent', actions: assign({ label: ({ event }) => event.output }) },
      },
    },
    sent: { type: 'final' },
  },
  output: ({ context }) => context.label,
});

const journals = memoryJournals();
const shipments = createDurableMachine(shipment, { journals });

const order = setup({
  types: { context: {} as { label: string } },
  actors: { ship: fromDurable(shipments) },
}).createMachine({
  id: 'order',
  context: { label: '' },
  initial: 'shipping',
  states: {
    shipping: {
      invoke: {
        id: 'ship',
        src: 'ship',
        input: { to: 'Ada' },
        onDone: { target: 'shipped', actions: assign({ label: ({ event }) => event.output }) },
        onError: 'failed',
      },
    },
    shipped: { type: 'final' },
    failed: { type: 'final' },
  },
  output: ({ context }) => context.label,
});

const orders = createDurableMachine(order, { journals });
const worker = createWorker({ hosts: [orders, shipments] });
const opened = await orders.open('o-17');
console.log(await opened.output); // label for Ada

const [child] = await shipments.list({ where: { parent: 'o-17' } });
console.log(child?.id.split(':')[0], child?.status); // o-17/ship done
await worker.stop();
