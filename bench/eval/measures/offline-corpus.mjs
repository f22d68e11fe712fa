import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Questions about invented documents. Half of them have no answer there.
 *
 * @typedef {{ set: string, q: string, expected: string | null, in?: string }} Question `in` is the file that has the expected text.
 */

/** The documents, one folder per set, and the questions. */
const CORPUS = fileURLToPath(new URL('../../../test/eval/corpus/offline', import.meta.url));
/** An answer with at least this confidence counts as sure. */
export const SURE = 0.7;

/**
 * Yields the questions of one file of the corpus, each with the index of its documents.
 *
 * @param {'questions' | 'unseen'} file
 * @param {any} postchain The built package.
 * @returns {AsyncGenerator<{ question: Question, documents: any }, void>}
 */
export async function* questionsIn(file, { createPassageIndex, loadDocuments }) {
  const lines = readFileSync(join(CORPUS, `${file}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n');
  const questions = /** @type {Question[]} */ (lines.map((line) => JSON.parse(line)));
  for (const set of new Set(questions.map((question) => question.set))) {
    const loaded = await loadDocuments([join(CORPUS, set)]);
    const documents = createPassageIndex(loaded.documents);
    for (const question of questions.filter((one) => one.set === set)) yield { question, documents };
  }
}

/**
 * Whether an answer contains the expected text and cites its file.
 *
 * @param {Question} question
 * @param {{ answerText: string, sources: readonly { path: string }[] }} answer
 */
export function isRight({ expected, in: file = '' }, { answerText, sources }) {
  return expected !== null && answerText.includes(expected) && sources.some(({ path }) => path.endsWith(file));
}
