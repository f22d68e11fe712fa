import { readdirSync, readFileSync } from 'node:fs';
import { createPassageIndex, documentsFrom } from '../../dist/index.js';

/** The questions and documents of the evaluation of offline answers, one folder per set. */
export const CORPUS = new URL('../../test/eval/corpus/offline/', import.meta.url);

/**
 * Returns an index of the documents of a set.
 *
 * @param {string} set
 */
export const openDocuments = async (set) => createPassageIndex(await readDocuments(set));

/**
 * Returns the documents of a set. Their paths are relative, so that prompts have the same length everywhere.
 *
 * @param {string} set
 */
export async function readDocuments(set) {
  const given = readdirSync(new URL(set, CORPUS))
    .sort()
    .map((file) => ({ path: `${set}/${file}`, text: readFileSync(new URL(`${set}/${file}`, CORPUS), 'utf8') }));
  const { documents, skipped } = await documentsFrom(given);
  if (skipped.length > 0) throw new Error(`${skipped[0]?.path} was skipped: ${skipped[0]?.reason}`);
  return documents;
}
