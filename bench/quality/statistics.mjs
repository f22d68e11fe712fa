/** @typedef {{ value: number, low: number, high: number }} Estimate A figure with its 95 % interval. */

export const RESAMPLES = 2_000;
const Z = 1.959964;

/**
 * Returns a rate with its Wilson interval.
 *
 * @param {number} count
 * @param {number} of
 */
export function rate(count, of) {
  const share = count / of;
  const center = share + Z ** 2 / (2 * of);
  const spread = Z * Math.sqrt((share * (1 - share)) / of + Z ** 2 / (4 * of ** 2));
  const bound = (/** @type {number} */ sum) => Math.min(1, Math.max(0, sum / (1 + Z ** 2 / of)));
  return { value: share, low: bound(center - spread), high: bound(center + spread), count, of };
}

/**
 * Returns a statistic of rows with its percentile bootstrap interval: that of the same statistic of rows drawn with replacement. Draws for
 * which the statistic is not defined do not count.
 *
 * @template T
 * @param {readonly T[]} rows
 * @param {(rows: readonly T[]) => number} statistic
 * @param {number} seed
 * @returns {Estimate | null} Null without rows.
 */
export function bootstrap(rows, statistic, seed) {
  if (rows.length === 0) return null;
  const random = randomFrom(seed);
  const draw = () => /** @type {T} */ (rows[Math.floor(random() * rows.length)]);
  const found = Array.from({ length: RESAMPLES }, () => statistic(rows.map(draw)))
    .filter((value) => !Number.isNaN(value))
    .sort((a, b) => a - b);
  const at = (/** @type {number} */ share) => found[Math.round(share * (found.length - 1))] ?? Number.NaN;
  return { value: statistic(rows), low: at(0.025), high: at(0.975) };
}

/** @param {readonly number[]} values */
export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * Returns a generator of numbers from 0 to 1 (mulberry32).
 *
 * @param {number} seed
 */
function randomFrom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
