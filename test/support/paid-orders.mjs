import { appendFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { assign, fromPromise, setup } from 'xstate';
import { createDurableMachine, createWorker, idempotencyKey } from '../../dist/durable.js';
import { postgresJournals } from '../../dist/postgres.js';

/** The number of `pay` events that an order expects. */
export const ROUNDS = 3;

/**
 * Orders in a PostgreSQL store: each `pay` event leads to one charge, which appends its key to the file `effects`, and to a short delay. After
 * `ROUNDS` charges, an order ends. As a program it is a worker, until it is killed: `node paid-orders.mjs URL EFFECTS`. A message
 * sets its time of day forward or back.
 */
export function ordersOn(url, effects) {
  const journals = postgresJournals(url);
  const machine = setup({
    actors: { charge: fromPromise(async ({ self }) => appendFileSync(effects, `${idempotencyKey({ self })}\n`)) },
    actions: {
      countAsked: assign({ asked: ({ context }) => context.asked + 1 }),
      countPaid: assign({ paid: ({ context }) => context.paid + 1 }),
    },
    guards: {
      isPaid: ({ context }) => context.paid === ROUNDS,
      isAsked: ({ context }) => context.asked > context.paid,
    },
  }).createMachine({
    id: 'order',
    context: { asked: 0, paid: 0 },
    initial: 'idle',
    on: { pay: { actions: 'countAsked' } },
    states: {
      idle: {
        always: [
          { guard: 'isPaid', target: 'paid' },
          { guard: 'isAsked', target: 'charging' },
        ],
      },
      charging: { invoke: { src: 'charge', onDone: { target: 'resting', actions: 'countPaid' } } },
      resting: { after: { 20: 'idle' } },
      paid: { type: 'final' },
    },
    output: ({ context }) => context,
  });
  return { journals, host: createDurableMachine(machine, { journals, logger: () => {} }) };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [, , url, effects] = process.argv;
  const { now } = Date;
  let jumpMs = 0;
  Date.now = () => now() + jumpMs;
  process.on('message', (message) => {
    ({ jumpMs } = message);
  });
  process.on('disconnect', () => process.exit());
  createWorker({ hosts: [ordersOn(url, effects).host], pollMs: 100, maxCrashes: 1_000, backoffMs: 100 });
}
