import { appendFileSync, closeSync, fsyncSync, openSync } from 'node:fs';
import { createPassageIndex, documentsFrom } from '../../dist/index.js';

/** What agents share in this process: the server of the model, and the file to which effects are appended. */
export const world = { port: 0, effects: '', killAtEffect: 0 };

let count = 0;

/**
 * Records an effect with its idempotency key, durably. The process may be killed right after that, before the caller knows.
 *
 * @param {string} name
 * @param {string} key
 * @param {unknown} args
 */
export function recordEffect(name, key, args) {
  if (world.effects === '') return;
  appendFileSync(world.effects, `${JSON.stringify({ name, key, args })}\n`);
  const file = openSync(world.effects, 'r');
  fsyncSync(file);
  closeSync(file);
  count += 1;
  if (count === world.killAtEffect) process.kill(process.pid, 'SIGKILL');
}

const prices = [{ path: 'prices', text: 'A lamp costs 39 euros. A shade costs 12 euros.' }];
const shopIndex = createPassageIndex((await documentsFrom(prices)).documents);
const library = createPassageIndex([{ path: 'library.md', text: 'It opens at nine and closes at five.' }]);

const { signal } = new AbortController();

/** The tools of the shop, as those of PostChain's example. */
export const shop = {
  /** @param {{ query: string }} args @param {string} key */
  async search({ query }, key) {
    recordEffect('search', key, { query });
    return await shopIndex.search(query, { limit: 3, minRelevance: 0, signal });
  },
  /** @param {{ left: number, operator: '+' | '*', right: number }} args @param {string} key */
  calculate({ left, operator, right }, key) {
    recordEffect('calculate', key, { left, operator, right });
    return operator === '+' ? left + right : left * right;
  },
};

export const bank = {
  /** @param {string} key @param {{ order: string, cents: number }} refund */
  async refund(key, { order, cents }) {
    recordEffect('refund', key, { order, cents });
    return `${cents} cents for ${order}`;
  },
};

/** Searches the documents of the library, as `search(documents)` does. @param {string} query */
export async function searchLibrary(query) {
  return (await library.search(query, { limit: 5, minRelevance: 0, signal })).passages;
}
