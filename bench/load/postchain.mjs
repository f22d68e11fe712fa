import { createPostChain, memoryJournals } from '../../dist/index.js';
import { openaiModel } from '../../dist/openai.js';
import { REQUEST } from '../step/replies.mjs';

/**
 * Returns a function that starts a run with its journal in memory, and resolves to how it ended.
 *
 * @param {{ port: number, deadlineMs: number | null, maxConcurrentRuns: number | null }} options
 */
export function prepare({ port, deadlineMs, maxConcurrentRuns }) {
  const journals = memoryJournals();
  const chain = createPostChain({
    model: openaiModel({ model: 'm', apiKey: 'none', baseURL: `http://127.0.0.1:${port}/v1` }),
    journals,
    // A summary would be an eighth call.
    limits: { maxSummaries: 0, ...(deadlineMs !== null && { totalMs: deadlineMs }) },
    ...(maxConcurrentRuns !== null && { maxConcurrentRuns }),
  });
  return {
    kept: journals,
    start: async (/** @type {number} */ number) => {
      const { status, metadata } = await chain.run({ request: `${REQUEST} (${number})` }).answer;
      return { status, calls: metadata.budget.modelCalls.used + 1 };
    },
  };
}
