import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPassageIndex, createPostChain, readRun, replay } from 'postchain';
import { fileJournals, loadDocuments } from 'postchain/node';

const { documents } = await loadDocuments(['docs']);
const journals = fileJournals(await mkdtemp(join(tmpdir(), 'postchain-')));
const chain = createPostChain({ documents: createPassageIndex(documents), journals });

const run = chain.run({ request: 'What does the Yield phase decide?' });
await run.answer;

// Replays the real charts with no model, in a few milliseconds.
const recorded = await readRun(journals.read(run.id));
// Every entry is identical.
console.log(replay(recorded).divergence); // null

// The same run with a different threshold at its first decision.
const decision = recorded.find(({ type }) => type === 'decision');
const fork = await chain.fork(run.id, { at: decision?.seq ?? 1, set: { 'thresholds.confidence': 0.1 } });
console.log((await fork.answer).metadata.decision?.rule); // confidenceReached

// In another process, after a crash: chain.resume(runId).
for (const { id, status, title } of await journals.list()) console.log(id, status, title);
