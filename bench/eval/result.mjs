/**
 * What a measurement found.
 *
 * @typedef {object} Result
 * @property {string} measure Its name: the key in `--json`.
 * @property {number} value A share, 0..1, or what `unit` says.
 * @property {string} unit
 * @property {number | null} [atLeast] What must hold; null or left out where nothing must.
 * @property {number | null} [atMost]
 * @property {Readonly<Record<string, number>>} [recalls] The recall of each class, 0..1.
 * @property {number} [recallsAtLeast]
 * @property {number} rows How many rows, questions or runs it was measured on.
 * @property {Readonly<Record<string, number>>} [baselines] The same measure by simpler means, in the same run.
 * @property {Readonly<Record<string, number | string>>} [detail]
 */

/**
 * Whether a result is as it must be; null where nothing must be.
 *
 * @param {Result} result
 * @returns {boolean | null}
 */
export function holds({ value, atLeast = null, atMost = null, recalls = {}, recallsAtLeast = 0 }) {
  if (atLeast === null && atMost === null) return null;
  const recallsHold = Object.values(recalls).every((recall) => recall >= recallsAtLeast);
  return value >= (atLeast ?? Number.NEGATIVE_INFINITY) && value <= (atMost ?? Number.POSITIVE_INFINITY) && recallsHold;
}
