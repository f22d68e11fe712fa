import { createPassageIndex, documentsFrom } from '../../dist/index.js';
import { questionsIn } from '../eval/measures/offline-corpus.mjs';
import { readRows } from '../eval/rows.mjs';

/**
 * A question, its documents, and the text of a right answer.
 *
 * @typedef {import('../eval/measures/judge.mjs').Expected & { id: string, corpus: string, text: string }} Question
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
    const asked = corpus === 'multihop' ? multihop(data) : offline(/** @type {'questions' | 'unseen'} */ (corpus));
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

/**
 * Questions that need several paragraphs. Each paragraph is a document.
 *
 * @param {string} data
 * @returns {AsyncGenerator<Asked, void>}
 */
async function* multihop(data) {
  const { rows } = readRows(data, 'multihop') ?? { rows: [] };
  if (rows.length === 0) process.stderr.write(`quality: skipped multihop: no multihop.*.jsonl in ${data}\n`);
  for (const { id, question: text, answer: expected, messages } of rows) {
    const paragraphs = messages.map((/** @type {Record<'id' | 'title' | 'text', string>} */ { id, title, text }) => ({
      path: `${id}.md`,
      text: `# ${title}\n\n${text}`,
    }));
    const { documents } = await documentsFrom(paragraphs);
    yield { question: { id, corpus: 'multihop', text, expected }, documents: createPassageIndex(documents) };
  }
}
