import { createPassageIndex, createPostChain } from 'postchain';
import { loadDocuments } from 'postchain/node';

const { documents } = await loadDocuments(['docs']);
const chain = createPostChain({ documents: createPassageIndex(documents) });
const run = chain.run({ request: 'What is a session?', startAt: 'experience' });

for await (const event of run.events) {
  if (event.type === 'phase-end') console.log(event.cycle, event.phase, event.failure?.message ?? event.summary);
}
