import { delivered } from './delivered.mjs';
import { isRight, questionsIn, SURE } from './offline-corpus.mjs';

/**
 * Answers of the extractive model to questions about invented documents, through whole runs.
 *
 * @typedef {import('./offline-corpus.mjs').Question} Question
 * @typedef {{ question: Question, text: string, confidence: number, status: string, right: boolean }} Answered
 */

/** The minimum share of sure answers that are right, and the maximum confidence for a question without an answer. */
const [AT_LEAST, AT_MOST] = [0.85, 0.3];

export const measure = {
  /** The corpus is in the repository. */
  file: null,
  async run() {
    const [seen, unseen] = [await answersTo('questions'), await answersTo('unseen')];
    return [...resultsOf('offline_answers', seen), ...resultsOf('offline_answers_unseen', unseen)];
  },
};

/**
 * Returns the answers to the questions of one file of the corpus.
 *
 * @param {'questions' | 'unseen'} file
 * @returns {Promise<Answered[]>}
 */
async function answersTo(file) {
  const { createPostChain } = await import('../../../dist/index.js');
  /** @type {Answered[]} */
  const answers = [];
  for await (const { question, documents } of questionsIn(file)) {
    const answer = await createPostChain({ documents }).run({ request: question.q }).answer;
    const { answerText: text, confidence, status } = answer;
    answers.push({ question, text, confidence, status, right: isRight(question, answer) });
  }
  return answers;
}

/**
 * @param {string} name
 * @param {readonly Answered[]} answers
 * @returns {readonly import('../result.mjs').Result[]}
 */
function resultsOf(name, answers) {
  const sure = answers.filter(({ confidence }) => confidence >= SURE);
  const unanswerable = answers.filter(({ question }) => question.expected === null);
  const answerable = answers.filter(({ question }) => question.expected !== null);
  const wrong = sure.filter(({ right }) => !right).map(({ question }) => `${question.set}: ${question.q}`);
  const most = Math.max(...unanswerable.map(({ confidence }) => confidence));
  return [
    {
      measure: `${name}_sure`,
      value: shareRight(sure),
      unit: `right of the answers with confidence ≥ ${SURE}`,
      atLeast: AT_LEAST,
      rows: sure.length,
      baselines: { 'all answers': shareRight(answers) },
      detail: { ...bySet(sure), ...(wrong.length > 0 && { wrong: wrong.join(' · ') }) },
    },
    {
      measure: `${name}_answerable`,
      value: shareRight(answerable),
      unit: 'right answers to answerable questions, with any confidence',
      rows: answerable.length,
      detail: bySet(answerable),
    },
    {
      measure: `${name}_unanswerable`,
      value: most,
      unit: 'highest confidence for a question without an answer',
      atMost: AT_MOST,
      rows: unanswerable.length,
      detail: { above: unanswerable.filter(({ confidence }) => confidence > AT_MOST).length },
    },
    delivered(`${name}_completed`, answers),
  ];
}

/** @param {readonly Answered[]} answers */
const shareRight = (answers) => answers.filter(({ right }) => right).length / answers.length;

/**
 * Returns how many answers of each set are right.
 *
 * @param {readonly Answered[]} answers
 */
function bySet(answers) {
  const sets = [...new Set(answers.map(({ question }) => question.set))];
  const of = (/** @type {string} */ set) => answers.filter(({ question }) => question.set === set);
  const rightOf = (/** @type {string} */ set) => of(set).filter(({ right }) => right).length;
  return Object.fromEntries(sets.map((set) => [set, `${rightOf(set)} of ${of(set).length}`]));
}
