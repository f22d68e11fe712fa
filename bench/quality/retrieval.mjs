/** `npm run quality -- retrieval`: how often a search finds the passages that answer a question. */
import { readFileSync } from 'node:fs';
import MiniSearch from 'minisearch';
import { createPassageIndex, documentsFrom } from '../../dist/index.js';
import { CORPUS, readDocuments } from '../answer/documents.mjs';
import { hasExpected } from '../eval/measures/judge.mjs';
import { readRows } from '../eval/rows.mjs';
import { gridLines } from '../table.mjs';
import { bootstrap, mean } from './statistics.mjs';

/**
 * @typedef {import('../../dist/index.js').Passage} Passage
 * @typedef {(query: string) => Promise<readonly Pick<Passage, 'id'>[]>} Find Returns passages, the best first.
 * @typedef {{ text: string, golds: readonly ((passage: Pick<Passage, 'id'>) => boolean)[] }} Asked `golds`: what must be found, each by any
 * passage for which it holds.
 * @typedef {{ passages: readonly Passage[], documents: readonly any[], questions: readonly Asked[] }} Collection Documents and questions.
 * @typedef {Readonly<Record<string, readonly Collection[]>>} Corpora By name.
 * @typedef {import('../../dist/index.js').EmbeddingModel} EmbeddingModel
 */

const LIMIT = 5;
/** PostChain's default. */
const MIN_RELEVANCE = 0.1;
const EMBEDDED_AT_ONCE = 32;

/**
 * Returns the recall at 5 of each search on each corpus.
 *
 * @param {{ data: string, embeddings: EmbeddingModel | null, seed: number }} options
 */
export async function measureRetrieval({ data, embeddings, seed }) {
  const results = [];
  for (const [corpus, collections] of Object.entries(await corporaIn(data))) {
    /** @type {Map<string, number[]>} The share of what a question needs that was found, by search. */
    const shares = new Map();
    for (const collection of collections)
      for (const [search, find] of Object.entries(await searchesOf(collection, embeddings))) {
        const found = shares.get(search) ?? [];
        shares.set(search, found);
        for (const { text, golds } of collection.questions) {
          const best = (await find(text)).slice(0, LIMIT);
          found.push(golds.filter((isGold) => best.some(isGold)).length / golds.length);
        }
      }
    const passages = collections.reduce((sum, collection) => sum + collection.passages.length, 0);
    for (const [search, found] of shares) {
      const missed = found.filter((share) => share === 0).length / found.length;
      results.push({ corpus, questions: found.length, passages, search, recall: bootstrap(found, mean, seed), missed });
    }
  }
  return results;
}

/** @param {string} data @returns {Promise<Corpora>} */
async function corporaIn(data) {
  const { rows } = readRows(data, 'multihop') ?? { rows: [] };
  if (rows.length === 0) process.stderr.write(`quality: skipped multihop: no multihop.*.jsonl in ${data}\n`);
  return {
    ...(rows.length > 0 && { multihop: [await paragraphs(rows)] }),
    'own documents': await sets(['questions', 'unseen']),
    'own documents, other words': await sets(['paraphrased']),
  };
}

/** @param {Awaited<ReturnType<typeof measureRetrieval>>} results */
export function formatRetrieval(results) {
  const lines = results.map(({ corpus, questions, passages, search, recall, missed }) => [
    `${corpus}: ${search}`,
    String(questions),
    String(passages),
    recall === null ? '–' : `${recall.value.toFixed(3)} (${recall.low.toFixed(3)} to ${recall.high.toFixed(3)})`,
    missed.toFixed(3),
  ]);
  return `${gridLines({ columns: ['search', 'questions', 'passages', 'recall at 5', 'all missed'], lines }).join('\n')}\n`;
}

/**
 * All paragraphs of the multi-hop questions as one collection. Each is a document; a question needs several.
 *
 * @param {readonly any[]} rows
 * @returns {Promise<Collection>}
 */
async function paragraphs(rows) {
  /** @type {Map<string, string>} */
  const paths = new Map();
  const textOf = (/** @type {{ title: string, text: string }} */ { title, text }) => `# ${title}\n\n${text}`;
  for (const text of rows.flatMap(({ messages }) => messages.map(textOf)))
    if (!paths.has(text)) paths.set(text, `p${paths.size}.md`);
  const { documents } = await documentsFrom([...paths].map(([text, path]) => ({ path, text })));
  const questions = rows.map(({ question: text, messages, gold }) => ({
    text,
    golds: messages
      .filter((/** @type {{ id: string }} */ { id }) => gold.includes(id))
      .map(
        (/** @type {any} */ message) =>
          (/** @type {{ id: string }} */ { id }) =>
            id.startsWith(`${paths.get(textOf(message))}#`),
      ),
  }));
  return { documents, passages: await passagesOf(documents), questions };
}

/**
 * The invented sets of documents, each with the questions of some files. A passage answers a question if it is in the right document and
 * has the expected text.
 *
 * @param {readonly string[]} files
 * @returns {Promise<readonly Collection[]>}
 */
async function sets(files) {
  /** @typedef {import('../eval/measures/judge.mjs').Expected & { set: string, q: string, in?: string }} Line */
  const lines = files.flatMap((file) =>
    readFileSync(new URL(`${file}.jsonl`, CORPUS), 'utf8')
      .trimEnd()
      .split('\n'),
  );
  const questions = lines
    .map((line) => /** @type {Line} */ (JSON.parse(line)))
    .filter(({ expected }) => expected !== null);
  return await Promise.all(
    [...new Set(questions.map(({ set }) => set))].map(async (set) => {
      const documents = await readDocuments(set);
      const passages = await passagesOf(documents);
      const asked = questions
        .filter((question) => question.set === set)
        .flatMap((question) => {
          const answers = new Set(
            passages
              .filter(
                ({ source, heading, text }) =>
                  source.path.endsWith(question.in ?? '') && hasExpected(question, [...heading, text].join('\n')),
              )
              .map(({ id }) => id),
          );
          const isAnswer = (/** @type {{ id: string }} */ { id }) => answers.has(id);
          return answers.size === 0 ? [] : [{ text: question.q, golds: [isAnswer] }];
        });
      return { documents, passages, questions: asked };
    }),
  );
}

/** Returns all passages of documents: those that a search for all of their words finds. */
async function passagesOf(/** @type {readonly any[]} */ documents) {
  const all = [];
  for (const document of documents) {
    const words = JSON.stringify(document).match(/[\p{L}\p{N}]+/gu) ?? [];
    const { passages } = await createPassageIndex([document]).search([...new Set(words)].join(' '), {
      limit: Number.MAX_SAFE_INTEGER,
      minRelevance: 0,
      signal: new AbortController().signal,
    });
    all.push(...passages);
  }
  return all;
}

/**
 * @param {Collection} collection
 * @param {EmbeddingModel | null} embeddings
 * @returns {Promise<Record<string, Find>>}
 */
async function searchesOf({ documents, passages }, embeddings) {
  const findIn = (/** @type {import('../../dist/index.js').PassageSource} */ index, minRelevance = MIN_RELEVANCE) => {
    const options = { limit: LIMIT, minRelevance, signal: new AbortController().signal };
    return async (/** @type {string} */ query) => (await index.search(query, options)).passages;
  };
  const mini = new MiniSearch({
    fields: ['heading', 'text'],
    searchOptions: { prefix: true, fuzzy: 0.2, boost: { heading: 2 } },
  });
  mini.addAll(passages.map(({ id, heading, text }) => ({ id, heading: heading.join('\n'), text })));
  const index = createPassageIndex(documents);
  const searches = {
    'passage index': findIn(index),
    'passage index, relevance from 0.35': findIn(index, 0.35),
    MiniSearch: async (/** @type {string} */ query) => mini.search(query).map(({ id }) => ({ id })),
  };
  if (embeddings === null) return searches;
  const texts = passages.map(({ heading, text }) => [...heading, text].join('\n'));
  const vectors = await embedAll(embeddings, texts);
  return {
    ...searches,
    'embeddings only': async (query) => {
      const [asked = []] = await embedAll(embeddings, [query]);
      return passages
        .map(({ id }, at) => ({ id, score: dot(asked, vectors[at] ?? []) }))
        .sort((one, other) => other.score - one.score);
    },
    'passage index with embeddings': findIn(createPassageIndex(documents, { embeddings })),
  };
}

/** @param {EmbeddingModel} model @param {readonly string[]} texts */
async function embedAll(model, texts) {
  const vectors = [];
  for (let at = 0; at < texts.length; at += EMBEDDED_AT_ONCE)
    vectors.push(
      ...(await model.embed(texts.slice(at, at + EMBEDDED_AT_ONCE), { signal: new AbortController().signal })),
    );
  return vectors;
}

const dot = (/** @type {readonly number[]} */ one, /** @type {readonly number[]} */ other) =>
  one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);
