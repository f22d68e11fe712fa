/**
 * Whether a model that says it is done is done, at each step of its runs. Question, what was gathered before the step, the thought
 * and the action of the step are given to the policy; nothing of what is right.
 *
 * @typedef {{ thought: string, action: string, observation: string }} Step
 * @typedef {{ question: string, steps: readonly Step[], step_complete: readonly boolean[] }} Row
 * @typedef {{ id: string, content: string }} GatheredText
 * @typedef {{ request: string, answer: string, claims: boolean, gathered: readonly GatheredText[], rationale: string }} Claim
 * @typedef {{ claimedCompletion: (claim: Claim) => { complete: boolean } }} Policies
 */

/** The action that ends a run, with its answer. */
const FINISH = /^\s*finish\s*\[([\s\S]*)/i;
/** An answer of more words is not believed by the simplest rule about its form. */
const SHORT_WORDS = 5;
/** What the issue asks for. */
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
    const { value, recalls } = score(steps, (claim) => claimedCompletion(claim).complete);
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
          "believing the model's Finish": score(steps, ({ claims }) => claims).value,
          'a Finish with at most 5 words': score(steps, isShort).value,
          'never complete': score(steps, () => false).value,
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
 * Each step of a run as the policy sees it, and whether the run was complete with it.
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

/**
 * Balanced accuracy: the mean of both recalls.
 *
 * @param {readonly { claim: Claim, complete: boolean }[]} steps
 * @param {(claim: Claim) => boolean} says
 */
function score(steps, says) {
  const right = { complete: 0, incomplete: 0 };
  const all = { complete: 0, incomplete: 0 };
  for (const { claim, complete } of steps) {
    const kind = complete ? 'complete' : 'incomplete';
    all[kind] += 1;
    if (says(claim) === complete) right[kind] += 1;
  }
  const recalls = { complete: right.complete / all.complete, incomplete: right.incomplete / all.incomplete };
  return { value: (recalls.complete + recalls.incomplete) / 2, recalls };
}
