/**
 * One run in each profile, and what is compared between them.
 *
 * @typedef {import('../result.mjs').Result} Result
 * @typedef {{ decisions: string, answer: any }} Ended `decisions`: the phases, the decisions and the status of the run, as JSON.
 * @typedef {Readonly<Record<Named, Ended>>} Runs
 * @typedef {keyof typeof PROFILES} Named
 */

/** The profile that the others are compared with. */
const REFERENCE = 'thorough';
/** A profile that asks no model in four of six phases: how much the decisions depend on these phases at all. */
export const BY_POLICY = 'four phases by policy';

const PROFILES = /** @type {const} */ ({
  [REFERENCE]: REFERENCE,
  balanced: 'balanced',
  lean: 'lean',
  [BY_POLICY]: { experience: 'policy', intention: 'policy', observation: 'policy', understanding: 'policy' },
});
const NAMES = /** @type {Named[]} */ (Object.keys(PROFILES));

/**
 * Runs a request to its end in each profile.
 *
 * @param {(profile: any) => any} start Starts a run.
 * @returns {Promise<Runs>}
 */
export async function runInEach(start) {
  /** @type {Partial<Record<Named, Ended>>} */
  const runs = {};
  for (const name of NAMES) {
    const run = start(PROFILES[name]);
    const answer = await run.answer;
    runs[name] = { decisions: decisionsOf(run, answer), answer };
  }
  return /** @type {Runs} */ (runs);
}

/**
 * @param {any} run
 * @param {any} answer
 */
function decisionsOf({ entries }, { status, metadata }) {
  const phases = entries.flatMap((/** @type {any} */ entry) => (entry.type === 'phase-start' ? [entry.phase] : []));
  const decisions = entries.flatMap((/** @type {any} */ { type, decision }) =>
    type === 'decision' ? [[decision.rule, decision.complete, decision.nextPhase]] : [],
  );
  return JSON.stringify([phases, decisions, status, metadata.reason]);
}

/**
 * Returns the share of runs in which a profile makes the same decisions as the reference.
 *
 * @param {string} measure The name of the measure, without that of the profile.
 * @param {readonly (readonly [label: string, Runs])[]} rows
 * @returns {readonly Result[]}
 */
export function agreements(measure, rows) {
  const agrees = (/** @type {Named} */ name, /** @type {Runs} */ runs) =>
    runs[name].decisions === runs[REFERENCE].decisions;
  const share = (/** @type {Named} */ name) => rows.filter(([, runs]) => agrees(name, runs)).length / rows.length;
  return /** @type {const} */ (['balanced', 'lean']).map((name) => {
    const others = rows.filter(([, runs]) => !agrees(name, runs)).map(([label]) => label);
    const sameText = rows.filter(([, runs]) => runs[name].answer.answerText === runs[REFERENCE].answer.answerText);
    return {
      measure: `${measure}_${name}`,
      value: share(name),
      unit: `runs with the same phases, decisions and status as in ${REFERENCE}`,
      rows: rows.length,
      baselines: { [BY_POLICY]: share(BY_POLICY) },
      detail: {
        'with the same answer text': sameText.length,
        ...(others.length > 0 && { differ: others.join(' · ') }),
      },
    };
  });
}

/**
 * Returns the model calls of the average run in each profile.
 *
 * @param {string} measure
 * @param {readonly (readonly [label: string, Runs])[]} rows
 * @returns {readonly Result[]}
 */
export function callsOf(measure, rows) {
  const mean = (/** @type {(answer: any) => number} */ of, /** @type {Named} */ name) =>
    rows.reduce((sum, [, runs]) => sum + of(runs[name].answer), 0) / rows.length;
  return /** @type {const} */ ([REFERENCE, 'balanced', 'lean']).map((name) => ({
    measure: `${measure}_${name}`,
    value: mean(({ metadata }) => metadata.usage.modelCalls, name),
    unit: 'model calls per answer',
    rows: rows.length,
    detail: {
      'cycles per answer': mean(({ metadata }) => metadata.cycles, name),
      'input tokens per answer (estimated)': Math.round(mean(({ metadata }) => metadata.usage.inputTokens, name)),
    },
  }));
}
