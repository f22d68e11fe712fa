import { createPassageIndex, createPostChain } from 'postchain';
import { loadDocuments } from 'postchain/node';

const { documents } = await loadDocuments(['shop']);
export const chain = createPostChain({ documents: createPassageIndex(documents) });
