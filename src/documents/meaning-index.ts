import type { EmbeddingModel } from '../../machines/contracts/model.ts';
import { unlessAborted } from '../internal/async.ts';
import { embedTexts, similarityOf, type UnitVector } from './embeddings.ts';
import type { UnrankedPassage } from './passages.ts';

/** Passages to embed in one call: providers accept hundreds of texts, servers on the same machine fewer tokens. */
const TEXTS_PER_CALL = 64;

export interface SimilarPassage {
  /** The number of the passage. */
  readonly passage: number;
  /** Cosine similarity to the query, 0..1. */
  readonly similarity: number;
}

/** Finds passages by the cosine similarity of embeddings. The first search embeds all of them; if that fails, the next one tries again. */
export class MeaningIndex {
  readonly #model: EmbeddingModel;
  #vectors: Promise<readonly UnitVector[]> | null = null;

  constructor(model: EmbeddingModel) {
    this.#model = model;
  }

  /** Returns the passages that are most similar to the query, the most similar first. Rejects if the model does. */
  async search(
    query: string,
    passages: readonly UnrankedPassage[],
    { limit, signal }: { readonly limit: number; readonly signal: AbortSignal },
  ): Promise<readonly SimilarPassage[]> {
    this.#vectors ??= this.#embedAll(passages).catch((error) => {
      this.#vectors = null;
      throw error;
    });
    const [vectors, [asked]] = await Promise.all([
      unlessAborted(this.#vectors, signal),
      embedTexts(this.#model, [query], signal),
    ]);
    return vectors
      .map((vector, passage) => ({ passage, similarity: asked === undefined ? 0 : similarityOf(asked, vector) }))
      .sort((one, other) => other.similarity - one.similarity || one.passage - other.passage)
      .slice(0, limit);
  }

  /** Not bound to the search that needs it first, because others wait for it, too. */
  async #embedAll(passages: readonly UnrankedPassage[]): Promise<readonly UnitVector[]> {
    const texts = passages.map(({ heading, text }) => [...heading, text].join('\n'));
    const vectors: UnitVector[] = [];
    const { signal } = new AbortController();
    for (let at = 0; at < texts.length; at += TEXTS_PER_CALL)
      vectors.push(...(await embedTexts(this.#model, texts.slice(at, at + TEXTS_PER_CALL), signal)));
    return vectors;
  }
}
