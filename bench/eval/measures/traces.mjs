import { balancedAccuracy } from './balanced-accuracy.mjs';

/**
 * At each step of a run: is a model that claims to be done right? The policy sees the question, the text gathered before the step, and
 * the thought and action of the step, but no gold data.
 *
 * @typedef {{ thought: string, action: string, observation: string }} Step
 * @typedef {{ question: string, steps: readonly Step[], step_complete: readonly boolean[] }} Row
 * @typedef {{ id: string, content: string }} GatheredText
 * @typedef {{ request: string, answer: string, claims: boolean, gathered: readonly GatheredText[], rationale: string }} Claim
 * @typedef {{ claimedCompletion: (claim: Claim) => { complete: boolean } }} Policies
 */

/** The action that ends a run and contains its answer. */
const FINISH = /^\s*finish\s*\[([\s\S]*)/i;
/** The baseline rule rejects answers with more words. */
const SHORT_WORDS = 5;
/** The targets. */
const AT_LEAST = 0.92;
const RECALLS_AT_LEAST = 0.84;

export const measure = {
  /** The data file's name up to its first dot. */
  file: 'yield_traces',
  /**
   * @param {readonly Row[]} rows
   * @param {Policies} policies
   */
  run(rows, { claimedCompletion }) {
    const steps = rows.flatMap(claimsOf);
    const { value, recalls } = balancedAccuracy(steps, ({ claim }) => claimedCompletion(claim).complete);
    return [
      {
        measure: 'completion_traces',
        value,
        unit: 'balanced accuracy',
        atLeast: AT_LEAST,
        recalls,
        recallsAtLeast: RECALLS_AT_LEAST,
        rows: steps.length,
        baselines: {
          "believing the model's Finish": balancedAccuracy(steps, ({ claim }) => claim.claims).value,
          'a Finish with at most 5 words': balancedAccuracy(steps, ({ claim }) => isShort(claim)).value,
          'never complete': balancedAccuracy(steps, () => false).value,
        },
      },
    ];
  },
};

/** @param {Claim} claim */
function isShort({ claims, answer }) {
  return claims && answer.split(/\s+/).length <= SHORT_WORDS;
}

/**
 * Returns each step of a run as the policy sees it, and whether the run was complete at that step.
 *
 * @param {Row} row
 * @returns {{ claim: Claim, complete: boolean }[]}
 */
function claimsOf({ question, steps, step_complete }) {
  const observed = steps.map(({ observation }, at) => ({ id: `step ${at + 1}`, content: observation }));
  return steps.map(({ thought, action }, at) => {
    const finish = FINISH.exec(action);
    const claim = {
      request: question,
      answer: finish?.[1]?.replace(/\]\s*$/, '') ?? '',
      claims: finish !== null,
      gathered: observed.slice(0, at).filter(({ content }) => content.trim() !== ''),
      rationale: thought,
    };
    return { claim, complete: step_complete[at] === true };
  });
}
