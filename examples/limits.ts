import { createPassageIndex, createPostChain } from 'postchain';
import { loadDocuments } from 'postchain/node';

const { documents } = await loadDocuments(['docs']);
const chain = createPostChain({
  documents: createPassageIndex(documents),
  limits: { maxCycles: 2, maxModelCalls: 30, totalMs: 60_000 },
});
const { metadata } = await chain.run({ request: 'What happens if a phase fails?' }).answer;
console.log(metadata.reason, metadata.budget);
