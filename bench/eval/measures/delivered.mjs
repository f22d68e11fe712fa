/**
 * Returns how many completed answers are right, and how many degraded ones.
 *
 * @param {string} measure
 * @param {readonly { status: string, right: boolean }[]} answers
 * @returns {import('../result.mjs').Result}
 */
export function delivered(measure, answers) {
  const count = (/** @type {boolean} */ completed, /** @type {boolean} */ right) =>
    answers.filter((answer) => (answer.status === 'completed') === completed && answer.right === right).length;
  const [right, wrong] = [count(true, true), count(true, false)];
  return {
    measure,
    value: right / (right + wrong),
    unit: 'right of the completed answers',
    rows: answers.length,
    detail: {
      'completed and right': right,
      'completed and wrong': wrong,
      'degraded but right': count(false, true),
      'degraded and wrong': count(false, false),
    },
  };
}
