import type { EmbeddingModel } from '../../../machines/contracts/model.ts';
import { type UnitVector, unitVector } from './unit-vector.ts';

/** What a blank text gets, which is never sent: it is like nothing. */
const NOTHING: UnitVector = new Float32Array(0);

/**
 * The texts as unit vectors, in order. Models are the user's code: what are no vectors of one length is a failed embedding.
 *
 * Rejects as the model does, and with a TypeError for what cannot be compared.
 */
export async function embedTexts(
  model: EmbeddingModel,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<readonly UnitVector[]> {
  const worded = texts.filter((text) => text.trim() !== '');
  const vectors: unknown = worded.length === 0 ? [] : await model.embed(worded, { signal });
  signal.throwIfAborted();
  if (!Array.isArray(vectors) || vectors.length !== worded.length)
    throw new TypeError(`the embedding model ${model.id} gave no ${worded.length} vectors`);
  const [first] = vectors;
  const unlike = vectors.findIndex((vector) => !isVector(vector) || vector.length !== first.length);
  if (unlike >= 0) throw new TypeError(`the embedding model ${model.id} gave no vector to compare at ${unlike}`);
  let at = 0;
  return texts.map((text) => (text.trim() === '' ? NOTHING : unitVector(vectors[at++])));
}

function isVector(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length > 0 && value.every(Number.isFinite);
}
