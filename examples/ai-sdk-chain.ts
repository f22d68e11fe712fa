import { generateText } from 'ai';
import { createPassageIndex, createPostChain } from 'postchain';
import { asLanguageModel } from 'postchain/ai-sdk';
import { loadDocuments } from 'postchain/node';

const { documents } = await loadDocuments(['docs']);
const chain = createPostChain({ documents: createPassageIndex(documents) });

const { text, sources, totalUsage, providerMetadata } = await generateText({
  model: asLanguageModel(chain),
  prompt: 'What does the Yield phase decide?',
});
console.log(text, sources, totalUsage, providerMetadata?.['postchain']);
