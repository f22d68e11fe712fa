/**
 * At each user turn: do the user's words close the dialogue? The policy sees only the role and content of the turns.
 *
 * @typedef {{ role: 'user' | 'assistant', content: string }} Turn
 * @typedef {{ history: readonly Turn[], complete: boolean }} Row
 * @typedef {{ userSatisfaction: (turns: readonly Turn[]) => { score: number } }} Policies
 */

/** The simple baseline: phrases for leaving and declining, anywhere in the text. */
const GOODBYE = /\b(?:good ?bye|bye|see you|that(?:'s| is| will be| would be) all|no,? thank(?:s| you))\b/i;
/** The lowest score at which the policy considers the user satisfied. */
const SATISFIED = 0.5;
/** The target. */
const AT_LEAST = 0.88;

export const measure = {
  /** The data file's name up to its first dot. */
  file: 'yield_sgd',
  /**
   * @param {readonly Row[]} rows
   * @param {Policies} policies
   */
  run(rows, { userSatisfaction }) {
    const { value, recalls } = score(rows, (turns) => userSatisfaction(turns).score >= SATISFIED);
    return [
      {
        measure: 'completion_dialogue',
        value,
        unit: 'balanced accuracy',
        atLeast: AT_LEAST,
        recalls,
        rows: rows.length,
        baselines: {
          'goodbye pattern': score(rows, (turns) => GOODBYE.test(turns.at(-1)?.content ?? '')).value,
          'never complete': score(rows, () => false).value,
        },
      },
    ];
  },
};

/**
 * Returns the balanced accuracy: the mean of both recalls.
 *
 * @param {readonly Row[]} rows
 * @param {(turns: readonly Turn[]) => boolean} predict
 */
function score(rows, predict) {
  const right = { complete: 0, incomplete: 0 };
  const all = { complete: 0, incomplete: 0 };
  for (const { history, complete } of rows) {
    const kind = complete ? 'complete' : 'incomplete';
    const predicted = predict(history.map(({ role, content }) => ({ role, content })));
    all[kind] += 1;
    if (predicted === complete) right[kind] += 1;
  }
  const recalls = { complete: right.complete / all.complete, incomplete: right.incomplete / all.incomplete };
  return { value: (recalls.complete + recalls.incomplete) / 2, recalls };
}
