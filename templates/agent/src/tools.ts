import { readFile, writeFile } from 'node:fs/promises';
import { type Capability, defineCapability, type PassageSource } from 'postchain/agents';
import * as z from 'zod';

export interface Order {
  readonly id: string;
  readonly article: string;
  readonly euros: number;
  readonly deliveredOn: string;
  readonly isRefunded: boolean;
}

/** An order in the file, with the key of its refund; null if it is not refunded. */
type StoredOrder = Omit<Order, 'isRefunded'> & { readonly refundKey: string | null };

export type Shop = ReturnType<typeof createShop>;

/** Stands in for the database of a shop: a file with orders. */
export function createShop(file: string) {
  const read = async (): Promise<StoredOrder[]> => JSON.parse(await readFile(file, 'utf8'));
  const orderIn = (orders: readonly StoredOrder[], id: string): StoredOrder => {
    const order = orders.find((each) => each.id === id);
    if (order === undefined) throw new Error(`There is no order "${id}".`);
    return order;
  };
  return {
    async find(id: string): Promise<Order> {
      const { refundKey, ...order } = orderIn(await read(), id);
      return { ...order, isRefunded: refundKey !== null };
    },
    /** Refunds an order once: with the same key again, for example after a crash, it changes nothing. */
    async refund(id: string, key: string): Promise<string> {
      const orders = await read();
      const { euros, refundKey } = orderIn(orders, id);
      if (refundKey !== null && refundKey !== key) throw new Error(`Order "${id}" was already refunded.`);
      const changed = orders.map((order) => (order.id === id ? { ...order, refundKey: key } : order));
      await writeFile(file, `${JSON.stringify(changed, null, 2)}\n`);
      return `Refunded ${euros} euros for order ${id}.`;
    },
  };
}

/** What the model may call on its own: it reads, and changes nothing. */
export function createTools(shop: Shop, documents: PassageSource): readonly Capability[] {
  const findOrder = defineCapability({
    name: 'find_order',
    description: 'Returns an order: its article, price, date of delivery, and whether it is refunded.',
    arguments: z.object({ id: z.string() }),
    // An error becomes a failed result that the model reads.
    execute: ({ id }) => shop.find(id),
  });
  const searchDocuments = defineCapability({
    name: 'search_documents',
    description: 'Returns passages of the policy of the shop.',
    arguments: z.object({ query: z.string() }),
    async execute({ query }, { signal }) {
      const { passages } = await documents.search(query, { limit: 3, minRelevance: 0, signal });
      return passages.map(({ text, source }) => `${text} (${source.path})`).join('\n') || 'Nothing was found.';
    },
  });
  return [findOrder, searchDocuments];
}
