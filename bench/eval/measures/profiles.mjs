import { isRight, questionsIn, SURE } from './offline-corpus.mjs';
import { agreements, callsOf, runInEach } from './profile-runs.mjs';

/**
 * Whether the extractive model's runs make the same decisions in each profile, and how many of its sure answers are right there. It reads
 * the context that a prompt shows, so a shared call can change its replies, but far less than those of an LLM.
 *
 * @typedef {import('./offline-corpus.mjs').Question} Question
 * @typedef {import('./profile-runs.mjs').Runs} Runs
 */

export const measure = {
  /** The corpus is in the repository. */
  file: null,
  async run() {
    const { createPostChain } = await import('../../../dist/index.js');
    /** @type {{ question: Question, runs: Runs }[]} */
    const asked = [];
    for (const file of /** @type {const} */ (['questions', 'unseen'])) {
      for await (const { question, documents } of questionsIn(file)) {
        const runs = await runInEach((profile) => createPostChain({ documents, profile }).run({ request: question.q }));
        asked.push({ question, runs });
      }
    }
    const rows = asked.map(({ question, runs }) => /** @type {const} */ ([`${question.set}: ${question.q}`, runs]));
    return [...agreements('profiles_agree', rows), ...sureAnswers(asked), ...callsOf('profiles_calls', rows)];
  },
};

/**
 * @param {readonly { question: Question, runs: Runs }[]} asked
 * @returns {readonly import('../result.mjs').Result[]}
 */
function sureAnswers(asked) {
  return /** @type {const} */ (['thorough', 'balanced', 'lean']).map((name) => {
    const sure = asked.filter(({ runs }) => runs[name].answer.confidence >= SURE);
    const right = sure.filter(({ question, runs }) => isRight(question, runs[name].answer));
    return {
      measure: `profiles_sure_${name}`,
      value: right.length / sure.length,
      unit: `right of the answers with confidence ≥ ${SURE}`,
      rows: sure.length,
    };
  });
}
