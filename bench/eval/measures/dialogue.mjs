import { balancedAccuracy } from './balanced-accuracy.mjs';

/**
 * At each user turn: do the user's words close the dialogue? The policy sees only the role and content of the turns.
 *
 * @typedef {{ role: 'user' | 'assistant', content: string }} Turn
 * @typedef {{ history: readonly Turn[], complete: boolean }} Row
 * @typedef {typeof import('postchain/machines')} Policies
 */

/** The simple baseline: phrases for leaving and declining, anywhere in the text. */
const GOODBYE = /\b(?:good ?bye|bye|see you|that(?:'s| is| will be| would be) all|no,? thank(?:s| you))\b/i;
/** The lowest score at which the policy considers the user satisfied. */
const SATISFIED = 0.5;
/** The target. */
const AT_LEAST = 0.91;

const NOTHING = { request: '', answer: '', rationale: '', claimsCompletion: false, evidence: [] };

export const measure = {
  /** The data file's name up to its first dot. */
  file: 'yield_sgd',
  /**
   * @param {readonly Row[]} rows
   * @param {Policies} policies
   */
  run(rows, { gradeByDefault }) {
    const predict = (/** @type {Row} */ { history }) =>
      gradeByDefault({ ...NOTHING, dialogue: history }).satisfaction >= SATISFIED;
    const { value, recalls } = balancedAccuracy(rows, predict);
    return [
      {
        measure: 'completion_dialogue',
        value,
        unit: 'balanced accuracy',
        atLeast: AT_LEAST,
        recalls,
        rows: rows.length,
        baselines: {
          'goodbye pattern': balancedAccuracy(rows, ({ history }) => GOODBYE.test(history.at(-1)?.content ?? '')).value,
          'never complete': balancedAccuracy(rows, () => false).value,
        },
      },
    ];
  },
};
