import pg from 'pg';
import { createDurableMachine, createWorker, postgresJournals } from '../../dist/durable.js';
import { customerAt, describeAttributes, order, WEEK_MS } from './machine.mjs';
import { atRate, CONCURRENCY, memory, repeatFor } from './tasks.mjs';

const DELAY_MS = 1_800_000;

/** An hour behind: what waits for half an hour is due. */
const earlierClock = {
  now: () => Date.now() - 2 * DELAY_MS,
  setTimeout: (/** @type {() => void} */ act, /** @type {number} */ ms) => setTimeout(act, ms),
  clearTimeout: (/** @type {unknown} */ timer) => clearTimeout(/** @type {NodeJS.Timeout} */ (timer)),
};

/**
 * @param {{ url: string, pool: number, number: number }} options
 * @returns {Promise<import('./processes.mjs').Tasks>}
 */
export async function open({ url, pool: max, number: own }) {
  const journals = postgresJournals(new pg.Pool({ connectionString: url, max }));
  const orders = createDurableMachine(order, { journals, describeAttributes });
  const earlier = createDurableMachine(order, { journals, describeAttributes, clock: earlierClock });
  await orders.list({ limit: 1 });
  /** @type {import('../../dist/durable.js').Worker | null} */
  let worker = null;
  let opened = 0;
  const send = (/** @type {number} */ number) =>
    orders.send(`open-${own}-${number % opened}`, { type: 'line.added', price: 1 }, { reply: true });
  return {
    runs: ({ forMs }) =>
      repeatFor(forMs, async (number) => {
        const actor = orders.start(`run-${own}-${forMs}-${number}`, {
          input: { kind: 'steps', customer: customerAt(number), delayMs: 0 },
        });
        await actor.output;
        await actor.close();
      }),
    starts: async ({ forMs }) => {
      opened = await repeatFor(forMs, async (number) => {
        const input = /** @type {const} */ ({ kind: 'open', customer: customerAt(number), delayMs: WEEK_MS });
        await orders.start(`open-${own}-${number}`, { input }).park();
      });
      return opened;
    },
    delayed: ({ forMs }) =>
      repeatFor(forMs, async (number) => {
        const input = /** @type {const} */ ({ kind: 'due', customer: customerAt(number), delayMs: DELAY_MS });
        await earlier.start(`due-${own}-${number}`, { input }).park();
      }),
    sends: ({ forMs }) => repeatFor(forMs, send),
    latencies: (load) => atRate(load, send),
    async work() {
      worker = createWorker({ hosts: [orders], concurrency: CONCURRENCY, pollMs: 1_000 });
    },
    rest: () => worker?.stop(),
    list: () => orders.list({ limit: 50 }).then(({ length }) => length),
    where: ({ customer }) => orders.list({ where: { customer }, limit: 50 }).then(({ length }) => length),
    remove: () => journals.prune({ olderThanMs: 0 }),
    memory,
  };
}
