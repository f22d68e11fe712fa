import { createPassageIndex, documentsFrom } from '../../dist/index.js';
import { questionsIn } from '../eval/measures/offline-corpus.mjs';
import { readRows } from '../eval/rows.mjs';

/**
 * A question, its documents, and the text of a right answer.
 *
 * @typedef {import('../eval/measures/judge.mjs').Expected & { id: string, corpus: string, text: string,
 *   source?: string }} Question
 * @typedef {{ question: Question, documents: import('../../dist/index.js').PassageSource }} Asked
 */

/**
 * Returns the questions of the corpora. If there are more than `limit`, the selection looks random and is always the same, so that it has
 * each kind of question. Greetings are left out: no answer to one is wrong.
 *
 * @param {{ corpora: readonly string[], data: string, limit: number }} options
 */
export async function questionsOf({ corpora, data, limit }) {
  /** @type {Asked[]} */
  const all = [];
  for (const corpus of corpora) {
    const asked =
      corpus === 'questions' || corpus === 'unseen' ? offline(corpus) : multihop(data, corpus === 'passages');
    for await (const one of asked) all.push(one);
  }
  if (all.length <= limit) return all;
  const ranked = all.map((asked, at) => ({ asked, at, rank: hashOf(asked.question.id) }));
  ranked.sort((one, other) => one.rank - other.rank);
  const selected = ranked.slice(0, limit).sort((one, other) => one.at - other.at);
  return selected.map(({ asked }) => asked);
}

/** Returns the FNV-1a hash of a text (Fowler, Noll, Vo). */
function hashOf(/** @type {string} */ text) {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return hash >>> 0;
}

/**
 * @param {'questions' | 'unseen'} corpus
 * @returns {AsyncGenerator<Asked, void>}
 */
async function* offline(corpus) {
  for await (const { question, documents } of questionsIn(corpus)) {
    const { set, q: text, expected, also = [], chat = false } = question;
    if (!chat) yield { question: { id: `${set}: ${text}`, corpus, text, expected, also }, documents };
  }
}

/** The number of questions of the corpus `passages` with and without an answer. */
const PASSAGES = { answerable: 200, unanswerable: 100 };

/**
 * Questions that need several paragraphs. Each paragraph is a document. With `incomplete`, there are 200 of them, and 100 without the
 * paragraphs of the answer: their documents do not answer them.
 *
 * @param {string} data
 * @param {boolean} incomplete
 * @returns {AsyncGenerator<Asked, void>}
 */
async function* multihop(data, incomplete) {
  const { rows } = readRows(data, 'multihop') ?? { rows: [] };
  if (rows.length === 0) process.stderr.write(`quality: skipped multihop: no multihop.*.jsonl in ${data}\n`);
  if (!incomplete) {
    for (const row of rows) yield await questionIn(row, row.answer, 'multihop');
    return;
  }
  const ranked = rows.toSorted((one, other) => hashOf(one.id) - hashOf(other.id));
  for (const row of ranked.slice(0, PASSAGES.answerable)) yield await questionIn(row, row.answer, 'passages');
  for (const row of ranked.slice(-PASSAGES.unanswerable)) {
    const messages = row.messages.filter((/** @type {{ id: string }} */ { id }) => !row.gold.includes(id));
    yield await questionIn({ ...row, id: `${row.id} (incomplete)`, messages }, null, 'passages');
  }
}

/**
 * @param {{ id: string, source?: string, question: string, messages: readonly Record<'id' | 'title' | 'text', string>[] }} row
 * @param {string | null} expected
 * @param {string} corpus
 * @returns {Promise<Asked>}
 */
async function questionIn({ id, source, question: text, messages }, expected, corpus) {
  const paragraphs = messages.map(({ id: path, title, text: body }) => ({
    path: `${path}.md`,
    text: `# ${title}\n\n${body}`,
  }));
  const { documents } = await documentsFrom(paragraphs);
  const question = { id, corpus, text, expected, ...(source !== undefined && { source }) };
  return { question, documents: createPassageIndex(documents) };
}
