import { generateText } from 'ai';
import { createPassageIndex, createPostChain } from 'postchain';
import { asLanguageModel } from 'postchain/ai-sdk';

const documents = createPassageIndex([{ path: 'hours.md', text: 'The library opens at nine and closes at five.' }]);
const chain = createPostChain({ documents });

const { text, sources, totalUsage, providerMetadata } = await generateText({
  model: asLanguageModel(chain),
  prompt: 'When does the library open?',
});
console.log(text, sources, totalUsage, providerMetadata?.['postchain']);
