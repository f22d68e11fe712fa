import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { similarityOf, unitVector } from '../../../src/documents/embeddings.ts';

const pair = fc
  .integer({ min: 1, max: 12 })
  .chain((length) =>
    fc.tuple(
      fc.array(fc.integer({ min: -9, max: 9 }), { minLength: length, maxLength: length }),
      fc.array(fc.integer({ min: -9, max: 9 }), { minLength: length, maxLength: length }),
    ),
  );

/** The textbook formula for cosine similarity. */
function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
  const norms = Math.hypot(...a) * Math.hypot(...b);
  return norms === 0 ? 0 : dot / norms;
}

describe('the similarity of two vectors', () => {
  it('is the cosine of their angle, at least 0 [U1]', () => {
    fc.assert(
      fc.property(pair, ([a, b]) => {
        const similarity = similarityOf(unitVector(a), unitVector(b));
        expect(similarity).toBeCloseTo(Math.max(0, cosine(a, b)), 5);
        expect(similarity).toBeLessThanOrEqual(1);
        expect(similarity).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it.each([
    [[1e300, 1e300], [1e300, 1e300], 1],
    [[5e-324, 0], [3, 0], 1],
    [[1, 0], [-1, 0], 0],
    [[0, 0], [1, 0], 0],
    [[], [1, 0], 0],
    [[], [], 0],
  ])('of %j and %j is %d [U1]', (a, b, expected) => {
    expect(similarityOf(unitVector(a), unitVector(b))).toBeCloseTo(expected, 6);
  });

  it('throws for vectors of different lengths [U1]', () => {
    expect(() => similarityOf(unitVector([1, 0]), unitVector([1, 0, 0]))).toThrow(/of 2 numbers with one of 3/);
  });
});
