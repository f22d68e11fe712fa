import { createPassageIndex, createPostChain } from 'postchain';
import { loadDocuments } from 'postchain/node';
import { answerAsMarkdown, answerAsText } from 'postchain/presentation';

const { documents } = await loadDocuments(['docs']);
const chain = createPostChain({ documents: createPassageIndex(documents) });
const answer = await chain.run({ request: 'How long does a run wait for consent?' }).answer;

console.log(answerAsText(answer, { columns: 80 }));
console.log(answerAsMarkdown(answer));
