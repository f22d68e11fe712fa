import type { EmbeddingModel } from '../../machines/contracts/model.ts';

/** A vector of length 1, or of zeros. The dot product of two is the cosine of their angle. */
export type UnitVector = Float32Array;

/** Single precision halves the memory and is more precise than embeddings are. */
export function unitVector(vector: readonly number[]): UnitVector {
  // Scaled by the largest number first: the square of a large number would be infinite.
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  if (largest === 0) return new Float32Array(vector.length);
  const norm = Math.sqrt(vector.reduce((sum, value) => sum + (value / largest) ** 2, 0));
  return Float32Array.from(vector, (value) => value / largest / norm);
}

/**
 * Returns the cosine similarity, from 0 to 1: opposite vectors are as dissimilar as orthogonal ones. An empty vector stands for a blank
 * text, which is similar to nothing.
 *
 * @throws TypeError for vectors of different lengths.
 */
export function similarityOf(a: UnitVector, b: UnitVector): number {
  if (a.length === 0 || b.length === 0) return 0;
  if (a.length !== b.length)
    throw new TypeError(`cannot compare a vector of ${a.length} numbers with one of ${b.length}`);
  let product = 0;
  for (let at = 0; at < a.length; at += 1) product += (a[at] ?? 0) * (b[at] ?? 0);
  return Math.min(1, Math.max(0, product));
}

/** The vector of a blank text, which is never sent to the model. */
const BLANK: UnitVector = new Float32Array(0);

/**
 * Returns the texts as unit vectors, in order.
 *
 * @throws TypeError if the model, which may be the user's code, does not return one vector per text, all of the same length.
 */
export async function embedTexts(
  model: EmbeddingModel,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<readonly UnitVector[]> {
  const nonBlank = texts.filter((text) => text.trim() !== '');
  const vectors: unknown = nonBlank.length === 0 ? [] : await model.embed(nonBlank, { signal });
  signal.throwIfAborted();
  if (!Array.isArray(vectors) || vectors.length !== nonBlank.length)
    throw new TypeError(`the embedding model ${model.id} must return ${nonBlank.length} vectors`);
  const [first] = vectors;
  const invalid = vectors.findIndex((vector) => !isVector(vector) || vector.length !== first.length);
  if (invalid >= 0)
    throw new TypeError(`the embedding model ${model.id} returned an invalid vector at index ${invalid}`);
  let at = 0;
  return texts.map((text) => (text.trim() === '' ? BLANK : unitVector(vectors[at++])));
}

function isVector(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length > 0 && value.every(Number.isFinite);
}
