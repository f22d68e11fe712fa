/**
 * The result of one measurement.
 *
 * @typedef {object} Result
 * @property {string} measure The name: the key in `--json`.
 * @property {number} value A share, 0..1, or a number in `unit`.
 * @property {string} unit
 * @property {number | null} [atLeast] The target; null or omitted if there is none.
 * @property {number | null} [atMost]
 * @property {Readonly<Record<string, number>>} [recalls] The recall of each class, 0..1.
 * @property {number} [recallsAtLeast]
 * @property {number} rows The number of rows, questions or runs measured.
 * @property {Readonly<Record<string, number>>} [baselines] The same measure for simpler methods, in the same run.
 * @property {Readonly<Record<string, Fold>>} [folds] The same measure for each source of the data.
 * @property {Readonly<Record<string, number | string>>} [detail]
 */

/** @typedef {Pick<Result, 'value' | 'rows' | 'recalls' | 'baselines'>} Fold */

/**
 * Returns whether a result meets its target; null if it has none.
 *
 * @param {Result} result
 * @returns {boolean | null}
 */
export function holds({ value, atLeast = null, atMost = null, recalls = {}, recallsAtLeast = 0 }) {
  if (atLeast === null && atMost === null) return null;
  const recallsHold = Object.values(recalls).every((recall) => recall >= recallsAtLeast);
  return value >= (atLeast ?? Number.NEGATIVE_INFINITY) && value <= (atMost ?? Number.POSITIVE_INFINITY) && recallsHold;
}
