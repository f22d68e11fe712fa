import { type ChatModel, createPassageIndex, createPostChain, defineCapability, type JournalStore } from 'postchain';
import { createServer } from 'postchain/server';
import * as z from 'zod';

const policy =
  'An order can be refunded within 30 days after its delivery. Shipping is free for orders of 50 euros or more.';

/** `refund` gets the id of an order, after a person has approved it. */
export function createChat(model: ChatModel, journals: JournalStore, refund: (order: string) => string) {
  const refundOrder = defineCapability({
    name: 'refund_order',
    description: 'Refunds an order.',
    arguments: z.object({ order: z.string() }),
    approval: 'always',
    execute: ({ order }) => refund(order),
  });
  const chain = createPostChain({
    model,
    journals,
    documents: createPassageIndex([{ path: 'policy.md', text: policy }]),
    capabilities: [refundOrder],
  });
  // Everyone who can use this computer is the same owner. A public server takes the owner from its login.
  return createServer({ chain, authorize: () => 'local' });
}
