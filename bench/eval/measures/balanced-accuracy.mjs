/**
 * Returns the balanced accuracy of a prediction: the mean of its recalls on complete and on incomplete rows.
 *
 * @template {{ readonly complete: boolean }} Row
 * @param {readonly Row[]} rows
 * @param {(row: Row) => boolean} predict
 */
export function balancedAccuracy(rows, predict) {
  const recall = (/** @type {boolean} */ kind) => {
    const all = rows.filter(({ complete }) => complete === kind);
    return all.filter((row) => predict(row) === kind).length / all.length;
  };
  const recalls = { complete: recall(true), incomplete: recall(false) };
  return { value: (recalls.complete + recalls.incomplete) / 2, recalls };
}
