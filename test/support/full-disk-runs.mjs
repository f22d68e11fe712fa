import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPostChain } from '../../dist/index.js';
import { fileJournals, sqliteJournals, sqliteSessions } from '../../dist/node.js';
import { replies, scriptedModel } from '../../dist/testing.js';

/**
 * Runs ten runs on a small disk until it is full, then frees space and continues: `node full-disk-runs.mjs file|sqlite FOLDER FREE_BLOCKS`. Prints
 * what happened as one line of JSON.
 */
const [, , kind, folder, freeBlocks] = process.argv;
const journalsIn = (name) =>
  kind === 'file' ? fileJournals(join(folder, name)) : sqliteJournals(join(folder, `${name}.db`));
const journals = journalsIn('runs');
const sessions = sqliteSessions(join(folder, 'sessions.db'));
const model = scriptedModel((request) => ({ reply: replies[request.task] }));
const chain = createPostChain({ model, journals });
const request = { request: 'Is it so?' };
const runToEnd = async (chainOrNumber) => {
  const run = (typeof chainOrNumber === 'object' ? chainOrNumber : chain).run(request);
  const { answerText } = await run.answer;
  for await (const _ of run.events);
  return { runId: run.id, answerText, failure: run.journalFailure };
};
const turn = (runId) => ({ runId, request: 'Is it so?', runs: [], answer: 'It is.', status: 'completed', atMs: 0 });
const { signal } = new AbortController();

// The stores exist before the disk is full.
await runToEnd();
await sessions.open();
const ballast = join(folder, 'ballast');
const blocks = [];
let unstarted = [];
try {
  for (;;) {
    blocks.push(`${ballast}-${blocks.length}`);
    writeFileSync(blocks.at(-1), Buffer.alloc(4_096));
  }
} catch {
  // Not even a new store can be created.
  unstarted = [await runToEnd(), await runToEnd(createPostChain({ model, journals: journalsIn('new') }))];
  // Every run gets its first entries, and none of them all.
  for (const block of blocks.splice(-Number(freeBlocks))) rmSync(block, { force: true });
}
const full = await Promise.all(Array.from({ length: 10 }, runToEnd));
const listed = await journals.list();
const session = await sessions.append('u1', turn('s1'), { signal }).then(
  () => null,
  ({ code, message }) => ({ code, message }),
);

for (const block of blocks) rmSync(block);
const later = await runToEnd();
const resumed = [];
for (const { id: runId, status } of await journals.list())
  if (status === 'interrupted') {
    const run = await chain.resume(runId);
    resumed.push({ runId, answerText: (await run.answer).answerText, failure: run.journalFailure });
  }
await sessions.append('u1', turn('s2'), { signal });
const turns = await sessions.recall('u1', { turns: 9, signal });
const after = await journals.list();
process.stdout.write(JSON.stringify({ unstarted, full, listed, session, later, resumed, turns: turns.length, after }));
