import { createPassageIndex, createPostChain, memoryJournals } from 'postchain';
import { inspectionServer } from 'postchain/inspection';
import { loadDocuments } from 'postchain/node';

const { documents } = await loadDocuments(['docs']);
const chain = createPostChain({ documents: createPassageIndex(documents), journals: memoryJournals() });
const inspector = await inspectionServer();
console.log(inspector.url);

const run = chain.run({ request: 'What does the Yield phase decide?' });
inspector.watch(run);
await run.answer;
// The page stays open until Ctrl-C.
process.once('SIGINT', () => inspector.close());
