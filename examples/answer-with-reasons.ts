import { createPassageIndex, createPostChain } from 'postchain';

const documents = createPassageIndex([{ path: 'hours.md', text: 'The library opens at nine and closes at five.' }]);
const chain = createPostChain({ documents }); // Without a model, it quotes the documents.
const run = chain.run({ request: 'When does the library open?' });
const { answerText, status, reasons, sources } = await run.answer;

// Completed, if there is no reason why it may be wrong.
console.log(status, reasons, answerText, sources);
