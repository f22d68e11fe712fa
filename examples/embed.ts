import { createPassageIndex, createPostChain } from 'postchain';
import { loadDocuments } from 'postchain/node';

const { documents } = await loadDocuments(['docs']);
const chain = createPostChain({ documents: createPassageIndex(documents) });
const run = chain.run({ request: 'What does the Yield phase decide?' });

for await (const event of run.events) {
  if (event.type === 'decision') console.log(event.decision.rationale);
}
const { answerText, reasons, sources } = await run.answer;
for (const { message } of reasons) console.warn(message);
console.log(answerText, sources);
