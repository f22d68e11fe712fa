import { getEventListeners } from 'node:events';
import { globalAgent } from 'node:http';
import { createPostChain } from '../../dist/index.js';
import { openaiModel } from '../../dist/openai.js';

// Starts runs together, with a deadline each, and prints how they ended and what is left:
// `node load.mjs BASE_URL RUNS TOTAL_MS [MAX_CONCURRENT_RUNS]`.
const [, , baseURL = '', count = '', totalMs = '', maxConcurrentRuns] = process.argv;
const model = openaiModel({ model: 'm', apiKey: 'k', baseURL });
const chain = createPostChain({
  model,
  profile: 'thorough',
  limits: { totalMs: Number(totalMs), maxSummaries: 0 },
  ...(maxConcurrentRuns !== undefined && { maxConcurrentRuns: Number(maxConcurrentRuns) }),
});
const { signal } = new AbortController();
const resourcesBefore = countResources();

const ends = await Promise.all(
  Array.from({ length: Number(count) }, async () => {
    const { answer, entries: journal } = chain.run({ request: 'Is it so?', signal });
    const { status, answerText, metadata } = await answer;
    const lastReplyMs = journal.findLast(({ type }) => type === 'activity-event')?.atMs ?? 0;
    return { status, reason: metadata.reason, hasText: answerText !== '', lastReplyMs };
  }),
);
globalAgent.destroy();
for (let tries = 0; tries < 1_000 && countResources() > resourcesBefore; tries += 1)
  await new Promise((resolve) => setTimeout(resolve, 10));

process.stdout.write(
  JSON.stringify({
    ends,
    listeners: getEventListeners(signal, 'abort').length,
    resources: { before: resourcesBefore, after: countResources() },
  }),
);

/** Counts the open timers and sockets of this process, without its output. */
function countResources() {
  const open = process.getActiveResourcesInfo().filter((name) => name === 'Timeout' || name === 'TCPSocketWrap');
  return open.length;
}
