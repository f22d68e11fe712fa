import { appendFileSync } from 'node:fs';
import { setTimeout as rest } from 'node:timers/promises';
import * as z from 'zod';
import { createPostChain, pendingApprovals, readRun } from '../../dist/index.js';
import { postgresJournals } from '../../dist/postgres.js';
import { replies, scriptedModel } from '../../dist/testing.js';

/**
 * Starts runs with one call that needs approval, approves what waits, and resumes what was interrupted, until all runs of the store have
 * ended: `node approving-many.mjs URL EFFECTS FIRST LAST COUNT`. Runs that exist already are not started again.
 */
const [, , url, effects, first, last, count] = process.argv;
const calls = [{ capability: 'pay', arguments: '{}' }];
const journals = postgresJournals(url);
let next = Number(first);
const chain = createPostChain({
  model: scriptedModel(({ task }) => ({ reply: task === 'action' ? { ...replies.action, calls } : replies[task] })),
  capabilities: [
    {
      name: 'pay',
      description: 'Pays.',
      arguments: z.object({}),
      approval: 'always',
      execute: (_, { idempotencyKey }) => appendFileSync(effects, `${idempotencyKey}\n`),
    },
  ],
  journals,
  parkAfterMs: 20,
  newId: () => `run-${next}`,
});

async function approve(runId) {
  for (const { questionId, digest } of pendingApprovals(await readRun(journals.read(runId))))
    await chain.send(runId, { type: 'approval.given', questionId, digest, decision: 'approve' });
}

const known = new Set((await journals.list()).map(({ id }) => id));
for (; next <= Number(last); next += 1) if (!known.has(`run-${next}`)) chain.run({ request: 'Pay.' });

const acts = { waiting: approve, interrupted: (runId) => chain.resume(runId) };
for (;;) {
  const runs = await journals.list();
  if (runs.filter(({ status }) => status === 'done').length === Number(count)) break;
  // The other process may hold a run, or be faster.
  for (const { id: runId, status } of runs) await acts[status]?.(runId).catch(() => {});
  await rest(20);
}
await journals.close();
