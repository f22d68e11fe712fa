import { openDocuments } from './documents.mjs';

/** The question of every contender. The search finds five passages for it, in three documents. */
export const QUESTION = 'How to descale the Brewer 200 and the Espresso 400, and is limescale covered?';

/** Its documents: two manuals and the terms of a warranty. */
export const SET = 'manual';

/** The text that every contender answers with. */
export const ANSWER =
  'Descale the Brewer 200 every three months, or when the CALC light blinks, with a citric acid based descaler only; vinegar attacks the seals. Pour 100 ml of descaler into the tank, fill it to the MAX line, hold the CLEAN button for five seconds, and then rinse it with two tanks of fresh water. The program of the Espresso 400 takes 25 minutes and must not be interrupted; only use the liquid descaler DL-2. The warranty does not cover damage from limescale.';

/** What the ReAct loops tell their model. */
export const REACT = {
  system:
    'You answer questions from documents. Search them before you answer, use only what they say, and answer in the language of the question.',
  tool: 'search',
  description: 'Searches the documents and returns the passages that fit the query best.',
  argument: 'What to search for, in words that the documents probably contain.',
};

/** Begins the question in a prompt that has the passages already. */
export const QUESTION_LABEL = 'Question: ';

/** PostChain's defaults for a search, which the search tool uses too. */
const SEARCH = { limit: 5, minRelevance: 0.1 };

/**
 * Returns the search tool of the ReAct loops: a function from a query to the best passages of an index, as text.
 *
 * @param {Pick<import('../../dist/index.js').PassageSource, 'search'>} index
 * @returns {(query: string) => Promise<string>}
 */
export function searchIn(index) {
  return async (query) => {
    const { passages } = await index.search(query, { ...SEARCH, signal: new AbortController().signal });
    return passages.map(({ id, heading, text }) => `[${id}] ${heading.join(' > ')}\n${text}`).join('\n\n');
  };
}

export const openSearch = async () => searchIn(await openDocuments(SET));
