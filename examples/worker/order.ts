import { DurableObject } from 'cloudflare:workers';
import { durableObjectJournals } from 'postchain/cloudflare';
import { createDurableMachine } from 'postchain/durable';
import { createMachine } from 'xstate';

const orderMachine = createMachine({
  id: 'order',
  initial: 'open',
  states: {
    open: { on: { PAY: 'paid' }, after: { [24 * 60 * 60 * 1_000]: 'expired' } },
    paid: { type: 'final' },
    expired: { type: 'final' },
  },
});

export class Order extends DurableObject {
  readonly #orders = createDurableMachine(orderMachine, { journals: durableObjectJournals(this.ctx.storage) });

  /** PUT starts the order, POST pays it, and GET reads it. */
  async fetch({ method }: Request): Promise<Response> {
    if (method === 'PUT') await (await this.#orders.open('order')).park();
    if (method === 'POST') await this.#orders.send('order', { type: 'PAY' });
    const { snapshot } = await this.#orders.query('order');
    return Response.json(snapshot.value);
  }

  /** A delay has ended, or the object was evicted during a call. */
  async alarm(): Promise<void> {
    await this.#orders.wake();
  }
}

interface Env {
  readonly ORDERS: { getByName(name: string): { fetch(request: Request): Promise<Response> } };
}

/** Each path is an object with one order, for example `/o-17`. */
export default {
  fetch: (request: Request, { ORDERS }: Env) => ORDERS.getByName(new URL(request.url).pathname).fetch(request),
};
