import { claimsOf } from '../fitting/samples.mjs';
import { delivered } from './delivered.mjs';
import { agreements, callsOf, runInEach } from './profile-runs.mjs';

/**
 * Whether recorded runs of language models make the same decisions in each profile if a script replies what they recorded: step n is cycle
 * n. Its thought is the reply of Action and the rationale of Yield, its action the goal, and what was observed before it is the result of
 * the search. A recording has one agent, so the other members of the replies are empty.
 *
 * A script gives a phase the same reply in every profile. This measures the engine, not what a model loses in a shared call.
 *
 * @typedef {import('./profile-runs.mjs').Runs} Runs
 */

/** At most this many recordings, evenly spaced. */
const AT_MOST = 100;
/** The confidence of a step that claims completion, and of any other, because the recordings have none. */
const [CLAIMED_CONFIDENCE, OTHER_CONFIDENCE] = [0.95, 0.5];
/** More than the steps of a recording. */
const MAX_CYCLES = 20;

export const measure = {
  /** The data file's name up to its first dot. */
  file: 'yield_traces',
  /** @param {readonly any[]} all */
  async run(all) {
    const [postchain, testing] = await Promise.all([
      import('../../../dist/index.js'),
      import('../../../dist/testing.js'),
    ]);
    const every = Math.max(1, all.length / AT_MOST);
    const chosen = Array.from({ length: Math.min(all.length, AT_MOST) }, (_, at) => all[Math.floor(at * every)]);
    /** @type {(readonly [label: string, Runs])[]} */
    const rows = [];
    for (const row of chosen)
      rows.push([row.id, await runInEach((profile) => start(row, profile, { ...postchain, ...testing }))]);
    const answers = rows.flatMap(([, { balanced }], at) =>
      chosen[at].finished ? [{ status: balanced.answer.status, right: chosen[at].correct }] : [],
    );
    return [
      ...agreements('recorded_agree', rows),
      delivered('recorded_completed', answers),
      ...callsOf('recorded_calls', rows),
    ];
  },
};

/**
 * Starts a run that replies what was recorded.
 *
 * @param {any} row
 * @param {any} profile
 * @param {any} postchain
 */
function start(row, profile, { createPostChain, scriptedModel }) {
  const claims = claimsOf(row);
  let searches = 0;
  let at = 0;
  const documents = {
    /** @param {string} query */
    async search(query) {
      const observed = row.steps[searches - 1]?.observation.trim() ?? '';
      searches += 1;
      const id = `step${searches - 1}`;
      const passage = {
        id,
        text: observed,
        heading: [],
        source: { path: 'recording', startLine: searches },
        relevance: 1,
      };
      return { query, passages: observed === '' ? [] : [passage], widened: false };
    },
  };
  const model = scriptedModel((/** @type {any} */ { task, input }) => {
    // The final answer is that of the last step.
    if (input.cycle !== undefined) at = Math.min(input.cycle, claims.length) - 1;
    return repliesOf(claims[at], row.steps[at])[task];
  });
  const limits = { maxCycles: MAX_CYCLES };
  return createPostChain({ model, documents, profile, limits }).run({ request: row.question });
}

/**
 * Returns the reply to each task in the cycle of a step.
 *
 * @param {any} claim
 * @param {any} step
 * @returns {any}
 */
function repliesOf({ answer, claimsCompletion, rationale }, { action, thought }) {
  const confidence = claimsCompletion ? CLAIMED_CONFIDENCE : OTHER_CONFIDENCE;
  const text = claimsCompletion ? answer : thought;
  return {
    action: { response: thought, confidence, calls: [] },
    experience: { summary: '', relevantPassageIds: [], missing: [], confidence },
    intention: { goal: action, alternatives: [], clarity: 1, unclearIntent: false, alignment: [] },
    observation: { insights: [], undigested: false, entities: [], connections: [], importance: [] },
    understanding: { integrated: '', assessments: [] },
    yield: {
      answer: text,
      confidence,
      taskComplete: claimsCompletion,
      informationSufficiency: 0.5,
      needsTools: false,
      proposedPhase: 'experience',
      rationale,
      usedMessageIds: [],
    },
    synthesis: { answerText: text.trim() === '' ? 'None.' : text, confidence, usedMessageIds: [], notes: '' },
    summary: { summaries: [] },
  };
}
