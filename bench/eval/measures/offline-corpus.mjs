import { readFileSync } from 'node:fs';
import { CORPUS, openDocuments } from '../../answer/documents.mjs';
import { hasExpected } from './judge.mjs';

/**
 * Questions about invented documents. Half of them have no answer there.
 *
 * @typedef {object} Question
 * @property {string} set
 * @property {string} q
 * @property {string | null} expected
 * @property {readonly string[]} [also] Other wordings of the expected text.
 * @property {string} [in] The file that has it.
 * @property {true} [chat] A greeting or the like, which asks nothing.
 */

/** An answer with at least this confidence counts as sure. */
export const SURE = 0.7;

/**
 * Yields the questions of one file of the corpus, each with the index of its documents.
 *
 * @param {'questions' | 'unseen'} file
 * @returns {AsyncGenerator<{ question: Question, documents: import('../../../dist/index.js').PassageSource }, void>}
 */
export async function* questionsIn(file) {
  const lines = readFileSync(new URL(`${file}.jsonl`, CORPUS), 'utf8')
    .trimEnd()
    .split('\n');
  const questions = /** @type {Question[]} */ (lines.map((line) => JSON.parse(line)));
  for (const set of new Set(questions.map((question) => question.set))) {
    const documents = await openDocuments(set);
    for (const question of questions.filter((one) => one.set === set)) yield { question, documents };
  }
}

/**
 * Whether an answer contains the expected text and cites its file.
 *
 * @param {Question} question
 * @param {{ answerText: string, sources: readonly { path: string }[] }} answer
 */
export function isRight(question, { answerText, sources }) {
  return hasExpected(question, answerText) && sources.some(({ path }) => path.endsWith(question.in ?? ''));
}
