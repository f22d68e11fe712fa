import { createPassageIndex, createPostChain } from 'postchain';
import { loadDocuments } from 'postchain/node';

const { documents } = await loadDocuments(['docs']);
const chain = createPostChain({
  documents: createPassageIndex(documents),
  profile: { writing: 'always' },
});
const run = chain.run({ request: 'What does the Understanding phase decide?' });

for await (const event of run.events) {
  if (event.type === 'partial' && event.task === 'synthesis') console.log(event.value.answerText);
}
