import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDurableMachine, defineGuard, fileJournals, idempotencyKey } from 'postchain/durable';
import { assign, fromPromise, setup } from 'xstate';

const order = setup({
  types: {
    input: {} as { amount: number },
    context: {} as { amount: number; receipt: string | null },
    events: {} as { type: 'approve' } | { type: 'reject' },
  },
  actors: {
    // A payment service that gets the same key twice charges once.
    pay: fromPromise<string, number>(async ({ input, self }) => `${input} paid, key ${idempotencyKey({ self })}`),
  },
  actions: { remind: ({ context }) => console.log(`Reminder: an order of ${context.amount} waits for approval.`) },
  guards: {
    isAffordable: defineGuard(({ context }) => ({
      holds: context['amount'] <= 100,
      inputs: { amount: context['amount'], limit: 100 },
    })),
  },
  delays: { threeDays: 3 * 24 * 60 * 60 * 1_000 },
}).createMachine({
  id: 'order',
  version: '1',
  context: ({ input }) => ({ amount: input.amount, receipt: null }),
  initial: 'waiting',
  states: {
    waiting: {
      on: { approve: { guard: 'isAffordable', target: 'paying' }, reject: 'rejected' },
      after: { threeDays: { target: 'waiting', reenter: true, actions: 'remind' } },
    },
    paying: {
      invoke: {
        src: 'pay',
        input: ({ context }) => context.amount,
        onDone: { target: 'paid', actions: assign({ receipt: ({ event }) => event.output }) },
        onError: 'waiting',
      },
    },
    paid: { type: 'final' },
    rejected: { type: 'final' },
  },
  output: ({ context }) => context.receipt,
});

const journals = fileJournals(mkdtempSync(join(tmpdir(), 'orders-')));

// One process starts an order.
const started = await createDurableMachine(order, { journals }).open('o-17', { input: { amount: 40 } });
await started.close();

// Another process continues it, days later.
const continued = await createDurableMachine(order, { journals }).open('o-17');
console.log(continued.pending.events);
await continued.send({ type: 'approve' }, { id: 'click-1' });
console.log(await continued.output);
