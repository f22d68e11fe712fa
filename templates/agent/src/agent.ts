import { createPassageIndex, createPostChain, type PostChainOptions } from 'postchain';
import { loadDocuments } from 'postchain/node';
import { createTools, type Orders } from './tools.ts';

/** Tests pass a scripted model. */
export async function createAgent(orders: Orders, options: Pick<PostChainOptions, 'model' | 'journals'>) {
  const { documents } = await loadDocuments(['documents']);
  return createPostChain({
    ...options,
    documents: createPassageIndex(documents),
    capabilities: createTools(orders),
    // The model sees the result of a tool before it calls the next one: it finds an order, then refunds it.
    continuation: 'model',
    instructions: 'You work for the support of a shop. Check an order and the policy before you refund it.',
  });
}
