import { createPostChain } from 'postchain';
import { replies, scriptedModel } from 'postchain/testing';

const chain = createPostChain({
  model: scriptedModel({}, { otherwise: replies }),
  instructions: `You are Ada, who answers questions about the city library.
Answer in French, in at most three sentences, and address the reader as "vous".
"Card" always means a library card. Never state a fee without its source.`,
});

const run = chain.run({ request: 'How do I renew my card?', instructions: 'The reader is twelve years old.' });
const { answerText } = await run.answer;
console.log(answerText);

const [start] = run.entries;
if (start?.type === 'start') console.log(start.product.instructionsDigest, start.input.instructions);
