import { createPassageIndex, createPostChain } from 'postchain';
import { loadDocuments } from 'postchain/node';

const { documents } = await loadDocuments(['docs']);
const chain = createPostChain({ documents: createPassageIndex(documents) });
const run = chain.run({ request: 'What does the Yield phase decide?' });
const { answerText, status, reasons, sources } = await run.answer;

// "completed" only if no reason stands against the answer.
console.log(status, reasons, answerText, sources);
