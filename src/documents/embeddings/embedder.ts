import type { EmbeddingModel } from '../../../machines/contracts/model.ts';
import { embedTexts } from './embed-texts.ts';
import type { UnitVector } from './unit-vector.ts';

/** The vector of each text, in order. Rejects as `embedTexts` does. */
type Embedder = (texts: readonly string[], signal: AbortSignal) => Promise<readonly UnitVector[]>;

/** Embeds a few texts that come again: those of the last call are remembered and not asked for twice. */
export function createEmbedder(model: EmbeddingModel): Embedder {
  let last = new Map<string, UnitVector>();
  return async (texts, signal) => {
    const known = last;
    const unknown = [...new Set(texts)].filter((text) => !known.has(text));
    const vectors = await embedTexts(model, unknown, signal);
    const fresh = new Map(unknown.map((text, at) => [text, vectors[at] as UnitVector]));
    const all = texts.map((text) => (known.get(text) ?? fresh.get(text)) as UnitVector);
    last = new Map(texts.map((text, at) => [text, all[at] as UnitVector]));
    return all;
  };
}
