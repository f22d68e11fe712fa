import { createPassageIndex, createPostChain, documentsFrom } from 'postchain';

async function* pages() {
  yield { path: 'faq/hours', text: 'The library opens at nine and closes at five.' };
  yield { path: 'faq/books', text: '<h1>Books</h1><p>A lost book costs ten euros.</p>', type: 'html' as const };
}

const { documents, skipped } = await documentsFrom(pages());
const chain = createPostChain({ documents: createPassageIndex(documents) });
const { answerText, sources } = await chain.run({ request: 'When does the library open?' }).answer;
console.log(answerText, sources, skipped);
