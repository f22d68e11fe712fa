import { type Capability, defineCapability } from 'postchain';
import * as z from 'zod';

export interface Order {
  readonly article: string;
  readonly euros: number;
  readonly deliveredOn: string;
  readonly isRefunded: boolean;
}

/** Stands in for the database of a shop. */
export type Orders = Map<string, Order>;

export const sampleOrders = (): Orders =>
  new Map([['A7', { article: 'umbrella', euros: 80, deliveredOn: '2026-11-02', isRefunded: false }]]);

export function createTools(orders: Orders): readonly Capability[] {
  // An error becomes a failed result that the model sees.
  function orderOf(id: string): Order {
    const order = orders.get(id);
    if (order === undefined) throw new Error(`There is no order "${id}".`);
    return order;
  }

  const findOrder = defineCapability({
    name: 'find_order',
    description: 'Returns an order: its article, price, date of delivery, and whether it is refunded.',
    arguments: z.object({ id: z.string() }),
    execute: ({ id }) => orderOf(id),
  });

  const refundOrder = defineCapability({
    name: 'refund_order',
    description: 'Refunds the full price of an order.',
    arguments: z.object({ id: z.string() }),
    // A person sees the arguments and decides, whatever the model or a document says.
    approval: 'always',
    execute({ id }) {
      const order = orderOf(id);
      if (order.isRefunded) return `Order ${id} was already refunded.`;
      orders.set(id, { ...order, isRefunded: true });
      return `Refunded ${order.euros} euros for order ${id}.`;
    },
  });

  return [findOrder, refundOrder];
}
