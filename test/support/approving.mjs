import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import * as z from 'zod';
import { createPostChain, pendingApprovals } from '../../dist/index.js';
import { fileJournals, sqliteJournals } from '../../dist/node.js';
import { replies, scriptedModel } from '../../dist/testing.js';

/**
 * A run with two calls that need approval. As a program, it prints the questions and waits to be killed, or resumes the run at the first
 * message of its parent and approves everything at the second: `node approving.mjs file|sqlite PLACE EFFECTS start|resume`.
 */
const [, , kind, place, effects, what] = process.argv;
const calls = [1, 2].map((euros) => ({ capability: 'pay', arguments: JSON.stringify({ euros }) }));
const chain = createPostChain({
  model: scriptedModel(({ task }) => ({ reply: task === 'action' ? { ...replies.action, calls } : replies[task] })),
  capabilities: [
    {
      name: 'pay',
      description: 'Pays.',
      arguments: z.object({ euros: z.number() }),
      approval: 'always',
      execute: ({ euros }) => appendFileSync(effects, `${euros}\n`),
    },
  ],
  journals: kind === 'file' ? fileJournals(place) : sqliteJournals(place),
  newId: () => 'run-1',
});

if (what === 'start') {
  for await (const event of chain.run({ request: 'Pay.' }).events)
    if (event.type === 'approval-asked') process.send(event.questionId);
} else {
  process.once('message', async () => {
    try {
      const run = await chain.resume('run-1');
      process.send('owner');
      await once(process, 'message');
      for (const { questionId, digest } of pendingApprovals(run.entries))
        run.send({ type: 'approval.given', questionId, digest, decision: 'approve' });
      process.send((await run.answer).status);
    } catch ({ code }) {
      process.send(code);
    }
    process.disconnect();
  });
  process.send('ready');
}
