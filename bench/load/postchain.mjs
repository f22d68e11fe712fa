import { createPostChain, memoryJournals } from '../../dist/index.js';
import { openaiModel } from '../../dist/openai.js';
import { REQUEST } from '../step/replies.mjs';

/** @typedef {{ port: number, deadlineMs: number | null, maxConcurrentRuns: number | null }} Options */

/**
 * Returns a function that starts a run with its journal in memory, and resolves to how it ended.
 *
 * @param {Options} options
 */
export function prepare(options) {
  const journals = memoryJournals();
  const chain = createChain(journals, options);
  return {
    kept: journals,
    start: async (/** @type {number} */ number) => {
      const { status, metadata } = await chain.run({ request: `${REQUEST} (${number})` }).answer;
      // The budget does not count the final answer.
      return { status, calls: metadata.budget.modelCalls.used + 1 };
    },
  };
}

/**
 * Creates a chain whose runs make each call of `CALLS` once, one after the other.
 *
 * @param {import('../../dist/index.js').JournalStore} journals
 * @param {Options} options
 */
function createChain(journals, { port, deadlineMs, maxConcurrentRuns }) {
  return createPostChain({
    model: openaiModel({ model: 'm', apiKey: 'none', baseURL: `http://127.0.0.1:${port}/v1` }),
    journals,
    profile: { extends: 'thorough', earlyCalls: false },
    // A summary would be one more call.
    limits: { maxSummaries: 0, ...(deadlineMs !== null && { totalMs: deadlineMs }) },
    ...(maxConcurrentRuns !== null && { maxConcurrentRuns }),
  });
}
