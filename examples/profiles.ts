import { createPassageIndex, createPostChain } from 'postchain';
import { loadDocuments } from 'postchain/node';

const { documents } = await loadDocuments(['docs']);
for (const profile of ['thorough', 'balanced', 'lean'] as const) {
  const chain = createPostChain({ documents: createPassageIndex(documents), profile });
  const { metadata } = await chain.run({ request: 'What does the Yield phase decide, and in which order?' }).answer;
  console.log(profile, metadata.usage.modelCalls, 'calls', metadata.usage.inputTokens, 'input tokens');
}
