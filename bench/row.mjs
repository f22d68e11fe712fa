/**
 * One figure in a report.
 *
 * @typedef {object} Row
 * @property {string} what
 * @property {number} value
 * @property {'microseconds' | 'bytes' | 'count' | 'share'} unit
 * @property {readonly number[]} samples The value is their median.
 * @property {number | null} ratio The ratio to the samples of `ratioTo`, round by round.
 * @property {string | null} ratioTo
 * @property {number | null} limit The highest allowed ratio, or the lowest with `isMinimum`.
 * @property {true} [isMinimum]
 * @property {number | null} goal The ratio to aim for.
 * @property {boolean | null} holds
 */

/** @param {readonly number[]} samples */
export function median(samples) {
  const sorted = [...samples].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/**
 * Returns a figure without a comparison.
 *
 * @param {string} what
 * @param {readonly number[]} samples
 * @param {Row['unit']} [unit]
 * @returns {Row}
 */
export function row(what, samples, unit = 'microseconds') {
  return {
    what,
    value: median(samples),
    unit,
    samples,
    ratio: null,
    ratioTo: null,
    limit: null,
    goal: null,
    holds: null,
  };
}

/**
 * Returns a figure compared with another one, with the limit of their ratio, if any. The ratio is the median of the ratios of the
 * rounds that both ran: a slow moment affects both.
 *
 * @param {Row} one
 * @param {Row} other
 * @param {{ limit?: number, goal?: number }} [bounds]
 * @returns {Row}
 */
export function against(one, other, { limit, goal } = {}) {
  const pairs = one.samples.slice(0, other.samples.length);
  const ratio = median(pairs.map((sample, round) => sample / (other.samples[round] ?? Number.NaN)));
  const holds = limit === undefined ? null : ratio <= limit;
  return { ...one, ratio, ratioTo: other.what, limit: limit ?? null, goal: goal ?? null, holds };
}

/**
 * Returns a figure compared with a fixed limit.
 *
 * @param {Row} one
 * @param {string} what The limit in words.
 * @param {number} most The limit, in the unit of the figure.
 * @returns {Row}
 */
export function withinLimit(one, what, most) {
  const limit = row(
    what,
    one.samples.map(() => most),
    one.unit,
  );
  return against(one, limit, { limit: 1 });
}

/**
 * Returns a figure compared with a fixed limit below which it must not be.
 *
 * @param {Row} one
 * @param {string} what The limit in words.
 * @param {number} least The limit, in the unit of the figure.
 * @returns {Row}
 */
export function atLeast(one, what, least) {
  const compared = withinLimit(one, what, least);
  return { ...compared, isMinimum: true, holds: (compared.ratio ?? 0) >= 1 };
}
