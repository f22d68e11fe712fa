import { DurableObject } from 'cloudflare:workers';
import { durableObjectJournals } from 'postchain/cloudflare';
import { createDurableMachine, idempotencyKey } from 'postchain/durable';
import { journalStoreChecks } from 'postchain/testing';
import { assign, fromPromise, setup } from 'xstate';

/** An order that is paid by a call over the network, and expires after an hour. */
const orderMachine = setup({
  actors: {
    pay: fromPromise(async ({ input, ...args }) => {
      const response = await fetch(input, { method: 'POST', headers: { 'idempotency-key': idempotencyKey(args) } });
      return await response.text();
    }),
  },
}).createMachine({
  id: 'order',
  context: { paid: null, notes: 0 },
  initial: 'open',
  states: {
    open: {
      on: { PAY: 'paying', NOTE: { actions: assign({ notes: ({ context }) => context.notes + 1 }) } },
      after: { 3600000: 'expired' },
    },
    paying: {
      invoke: {
        src: 'pay',
        input: ({ event }) => event.url,
        onDone: { target: 'paid', actions: assign({ paid: ({ event }) => event.output }) },
      },
    },
    paid: { type: 'final' },
    expired: { type: 'final' },
  },
});

export class Order extends DurableObject {
  #laterMs = 0;
  journals = durableObjectJournals(this.ctx.storage);
  orders = createDurableMachine(orderMachine, {
    journals: this.journals,
    clock: {
      now: () => Date.now() + this.#laterMs,
      setTimeout: (act, ms) => setTimeout(act, ms),
      clearTimeout: (timer) => clearTimeout(timer),
    },
  });

  async start() {
    await (await this.orders.open('order')).park();
  }

  async send(event) {
    return (await this.orders.send('order', event, { reply: true })).snapshot.value;
  }

  async sendMany(count) {
    const order = await this.orders.open('order');
    for (let sent = 0; sent < count; sent += 1) await order.send({ type: 'NOTE' });
    await order.park();
  }

  async state() {
    const [{ status, waiting }] = await this.orders.list();
    const { snapshot } = await this.orders.query('order');
    const alarmMs = await this.ctx.storage.getAlarm();
    return { status, value: snapshot.value, context: snapshot.context, alarmMs, dueAtMs: waiting?.dueAtMs ?? null };
  }

  async replay() {
    const { divergence } = await this.orders.replay('order');
    let entries = 0;
    for await (const _ of this.journals.read('order')) entries += 1;
    return { divergence, entries };
  }

  /** Lets the alarm end now, after as much time as the clock of the orders then shows. */
  async alarmAfter(laterMs) {
    this.#laterMs = laterMs;
    await this.ctx.storage.setAlarm(Date.now());
  }

  async check(name, journal) {
    const { check } = journalStoreChecks({ open: () => this.journals, journal }).find((each) => each.name === name);
    return await check();
  }

  async alarm() {
    await this.orders.wake();
  }
}

export default {
  async fetch(request, { ORDERS }) {
    const { object, method, args } = await request.json();
    try {
      return Response.json({ value: (await ORDERS.getByName(object)[method](...args)) ?? null });
    } catch (error) {
      return Response.json({ error: `${error.code}: ${error.message}` });
    }
  },
};
