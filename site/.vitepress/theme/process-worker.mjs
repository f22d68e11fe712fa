import { createDurableMachine } from 'postchain/durable';
import { chartOf } from 'postchain/src/durable/charts/chart';
import { assign, fromPromise, setup } from 'xstate';
import { mermaid } from '../../../src/durable/charts/mermaid.ts';
import { browserJournals } from './browser-journals.mjs';

const after = (ms, value) => new Promise((resolve) => setTimeout(resolve, ms, value));

const order = setup({
  actors: { reserve: fromPromise(() => after(2_000, 'A7')), ship: fromPromise(() => after(3_000, 'parcel 12')) },
  delays: { paymentDue: 20_000 },
}).createMachine({
  id: 'order',
  initial: 'cart',
  context: { books: 0 },
  states: {
    cart: {
      on: {
        add: { actions: assign({ books: ({ context }) => context.books + 1 }) },
        order: 'reserving',
      },
    },
    reserving: { invoke: { src: 'reserve', onDone: 'unpaid' } },
    unpaid: { after: { paymentDue: 'expired' }, on: { pay: 'shipping', cancel: 'cancelled' } },
    shipping: { invoke: { src: 'ship', onDone: 'delivered' } },
    delivered: { type: 'final' },
    cancelled: { type: 'final' },
    expired: { type: 'final' },
  },
});

const ID = 'o-17';
const chart = mermaid(chartOf(order));
let orders;
let actor;
let isReporting = false;

/** Posts what the page shows. */
async function report() {
  if (!actor) return;
  const entries = [];
  for await (const entry of orders.journals.read(ID)) entries.push(entry);
  const { value, context, status } = actor.getSnapshot();
  const { timers, events } = actor.pending;
  self.postMessage({ chart, value, context, status, timers, events, entries });
}

/** Reports once for entries that are stored in quick succession. */
function reportSoon() {
  if (isReporting) return;
  isReporting = true;
  setTimeout(() => {
    isReporting = false;
    report().catch(fail);
  }, 20);
}

const opening = browserJournals('postchain-playground', reportSoon);

const fail = (error) => self.postMessage({ problem: error.message });

const DO = {
  async open() {
    const journals = await opening;
    orders = createDurableMachine(order, { journals });
    actor = await orders.open(ID);
  },
  async restart() {
    const journals = await opening;
    if ((await journals.list()).length > 0) await journals.delete(ID);
    await DO.open();
  },
  send: ({ event }) => actor.send({ type: event }),
};

let turn = Promise.resolve();
self.onmessage = ({ data }) => {
  turn = turn
    .then(() => DO[data.type](data))
    .then(reportSoon)
    .catch(fail);
};
