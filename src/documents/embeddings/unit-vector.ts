/** A vector of length 1, or of zeros: the dot product of two is the cosine of the angle between them. */
export type UnitVector = Float32Array;

/** In single precision, which is half the memory and more than embeddings mean. Takes finite numbers. */
export function unitVector(vector: readonly number[]): UnitVector {
  // By the largest number first, as the square of a large one would be infinite.
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  if (largest === 0) return new Float32Array(vector.length);
  const norm = Math.sqrt(vector.reduce((sum, value) => sum + (value / largest) ** 2, 0));
  return Float32Array.from(vector, (value) => value / largest / norm);
}

/**
 * Cosine similarity, 0..1: what points away from each other is as unlike as what has nothing in common. An empty vector stands for a
 * text without words, which is like nothing.
 *
 * @throws TypeError for vectors of different lengths, which no one model gives.
 */
export function similarityOf(a: UnitVector, b: UnitVector): number {
  if (a.length === 0 || b.length === 0) return 0;
  if (a.length !== b.length)
    throw new TypeError(`vectors of ${a.length} and of ${b.length} numbers cannot be compared`);
  let product = 0;
  for (let at = 0; at < a.length; at += 1) product += (a[at] ?? 0) * (b[at] ?? 0);
  return Math.min(1, Math.max(0, product));
}
