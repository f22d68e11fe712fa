import { describe, expect, it } from 'vitest';
import type { EmbeddingModel } from '../../../machines/contracts/model.ts';
import { createPassageIndex } from '../../../src/documents/passage-index.ts';

const text =
  '# House rules\n\nPets are not allowed.\n\n# Opening hours\n\nThe house opens at nine.\n\n# Fees\n\nA seat costs 12 euros.';
const { signal } = new AbortController();
const options = { limit: 3, minRelevance: 0.1, signal };

/** A model that knows three meanings, and the texts of each of its calls. */
function modelOf(fails: () => boolean = () => false) {
  const calls: string[][] = [];
  const model: EmbeddingModel = {
    id: 'three-meanings',
    embed: async (texts) => {
      calls.push([...texts]);
      if (fails()) throw new Error('the server is down');
      return texts.map((one) =>
        [/dog|pets/i, /open|hours|early/i, /fees|costs|pay/i].map((it) => Number(it.test(one))),
      );
    },
  };
  return { model, calls };
}

describe('a passage index with embeddings', () => {
  const textsFor = async (query: string, { model } = modelOf()) => {
    const { passages } = await createPassageIndex([{ path: 'house.md', text }], { embeddings: model }).search(
      query,
      options,
    );
    return passages.map((passage) => passage.text);
  };

  it('[C5] finds passages by their meaning, by their words, and first those that both find', async () => {
    expect(await textsFor('May my dog come along?')).toEqual(['Pets are not allowed.']);
    expect(await textsFor('euros')).toEqual(['A seat costs 12 euros.']);
    expect(await textsFor('How early is the seat free, and must I pay 12 euros?')).toEqual([
      'A seat costs 12 euros.',
      'The house opens at nine.',
    ]);
  });

  it('[C5] states the cosine similarity as relevance, and finds nothing below the minimum', async () => {
    const index = createPassageIndex([{ path: 'house.md', text }], { embeddings: modelOf().model });
    expect((await index.search('dog', { ...options, minRelevance: 1 })).passages).toMatchObject([{ relevance: 1 }]);
    expect((await index.search('dog, or is it early?', { ...options, minRelevance: 0.8 })).passages).toEqual([]);
  });

  it('embeds the passages once, with their headings, and each query once', async () => {
    const { model, calls } = modelOf();
    const index = createPassageIndex([{ path: 'house.md', text }], { embeddings: model });
    await Promise.all([index.search('dog', options), index.search('early', options)]);
    await index.search('dog', options);
    expect(calls.filter((texts) => texts.length === 3)).toEqual([
      ['House rules\nPets are not allowed.', 'Opening hours\nThe house opens at nine.', 'Fees\nA seat costs 12 euros.'],
    ]);
    expect(calls.filter((texts) => texts.length === 1)).toEqual([['dog'], ['early'], ['dog']]);
  });

  it('[C5] rejects if the model fails, and asks it again at the next search', async () => {
    let isDown = true;
    const { model } = modelOf(() => isDown);
    const index = createPassageIndex([{ path: 'house.md', text }], { embeddings: model });
    await expect(index.search('dog', options)).rejects.toThrow('the server is down');
    isDown = false;
    expect((await index.search('dog', options)).passages).toHaveLength(1);
  });

  it('rejects a value that is not an embedding model', () => {
    const wrong = {} as EmbeddingModel;
    expect(() => createPassageIndex([{ path: 'a.md', text }], { embeddings: wrong })).toThrow(
      'expected an embedding model, for example openaiEmbeddings()',
    );
  });
});
