import { createPassageIndex, documentsFrom, type EmbeddingModel } from 'postchain';

// In production: openaiEmbeddings() of postchain/openai. This one knows two meanings.
const embeddings: EmbeddingModel = {
  id: 'two-meanings',
  embed: async (texts) => texts.map((text) => [/dog|pets/i.test(text) ? 1 : 0, /open|hours/i.test(text) ? 1 : 0, 0.1]),
};

const text = '# House rules\n\nPets are not allowed.\n\n# Opening hours\n\nThe house opens at nine.';
const { documents } = await documentsFrom([{ path: 'rules.md', text }]);
const index = createPassageIndex(documents, { embeddings });

const { signal } = new AbortController();
const { passages } = await index.search('Can I bring my dog?', { limit: 1, minRelevance: 0.1, signal });
console.log(passages[0]?.text); // Pets are not allowed.
