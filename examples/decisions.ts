import { createPassageIndex, createPostChain } from 'postchain';
import { loadDocuments } from 'postchain/node';

const { documents } = await loadDocuments(['docs']);
const chain = createPostChain({ documents: createPassageIndex(documents), thresholds: { confidence: 0.8 } });
const run = chain.run({ request: 'How long does a run wait for consent?' });

for await (const event of run.events) {
  if (event.type === 'decision') console.log(event.decision.rule, event.decision.inputs);
}
