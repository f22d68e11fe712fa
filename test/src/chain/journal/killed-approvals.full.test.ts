import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import { pendingApprovals } from '../../../../machines/policies/questions.ts';
import { replay } from '../../../../src/chain/journal/replay.ts';
import { storedEntry } from '../../../../src/chain/journal/stored-entries.ts';
import type { Run } from '../../../../src/chain/runtime/run.ts';
import type { JournalStore } from '../../../../src/durable/journals/journal-store.ts';
import { memoryJournals } from '../../../../src/durable/journals/memory-journals.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { defineCapability } from '../../../../src/tools/capability.ts';
import { temporaryFolder } from '../../../support/cli.ts';
import { JOURNAL_STORES, writeJournal } from '../../../support/journal-files.ts';
import { scriptedChain } from '../../../support/run-chain.ts';

const calls = [1, 2, 3, 4].map((euros) => ({ capability: 'pay', arguments: JSON.stringify({ euros }) }));

/** A chain whose model calls "pay" four times, and what was paid, with the key of the call. */
function payingChain(journals: JournalStore) {
  const paid: { readonly key: string; readonly euros: number }[] = [];
  const pay = defineCapability({
    name: 'pay',
    description: 'Pays.',
    arguments: z.object({ euros: z.number().max(10) }),
    approval: ({ euros }) => euros > 1,
    execute: ({ euros }, { idempotencyKey: key }) => void paid.push({ key, euros }),
  });
  const plan = { action: { ...replies.action, calls } };
  return { ...scriptedChain(plan, { capabilities: [pay], journals }), paid };
}

/** Answers each question of a run once it is asked: 2 euros are approved, 3 become 9, at the second try, and 4 are denied. */
async function answerQuestions(run: Run): Promise<void> {
  const answered = new Set<string>();
  let hasEnded = false;
  run.answer.then(() => {
    hasEnded = true;
  });
  while (!hasEnded) {
    for (const { questionId, digest, arguments: given, problem } of pendingApprovals(run.entries)) {
      if (answered.has(questionId)) continue;
      answered.add(questionId);
      const answer = { type: 'approval.given', questionId, digest } as const;
      if (given['euros'] === 2) run.send({ ...answer, decision: 'approve' });
      else if (given['euros'] === 4) run.send({ ...answer, decision: 'deny' });
      else run.send({ ...answer, decision: 'approve', arguments: { euros: problem === null ? 99 : 9 } });
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const resultsIn = (entries: readonly JournalEntry[]) =>
  entries.flatMap((entry) => (entry.type === 'capability-end' ? [entry.result] : []));

/** What the calls paid whose result is stored. */
const finishedIn = (entries: readonly JournalEntry[]): readonly unknown[] =>
  entries.flatMap((entry) => {
    if (entry.type !== 'activity-event' || entry.event.type !== 'done') return [];
    const { capability, arguments: given } = Object(entry.event.output);
    return capability === 'pay' ? [given.euros] : [];
  });

describe.each(JOURNAL_STORES)('a run with approvals in a %s store', (_, storeOf) => {
  it('[Q1] [Q2] is killed at any entry: no effect before its approval or twice, no approval lost', async () => {
    const whole = payingChain(memoryJournals());
    const run = whole.chain.run({ request: 'Pay.' });
    await answerQuestions(run);
    expect(whole.paid.map(({ euros }) => euros).toSorted()).toEqual([1, 2, 9]);
    const end = run.entries.findIndex(({ type }) => type === 'capability-stop');
    for (let at = 1; at <= end; at += 1) {
      const recorded = run.entries.slice(0, at);
      const journals = storeOf();
      await writeJournal(journals, 'run-1', recorded.map(storedEntry));
      const { chain, paid } = payingChain(journals);
      const resumed = await chain.resume('run-1');
      await answerQuestions(resumed);
      const before = finishedIn(recorded);
      const results = resultsIn(resumed.entries);
      expect(results.map(({ arguments: given, code }) => [given['euros'], code])).toEqual(
        expect.arrayContaining([
          [1, null],
          [2, null],
          [9, null],
          [4, 'denied'],
        ]),
      );
      // What ended before the kill is not repeated; all else runs once, with the same key and the approved arguments.
      const expected = results
        .filter(({ id, arguments: given }) => id !== null && !before.includes(given['euros']))
        .map(({ id, arguments: given }) => ({ key: `run-1.${id}`, euros: given['euros'] }));
      expect(paid.toSorted(byEuros), `killed after entry ${at - 1}`).toEqual(expected.toSorted(byEuros));
      expect(new Set(results.map(({ id, capability }) => id ?? capability)).size).toBe(4);
      // Each effect is after its approval in the journal.
      const decided = resumed.entries.findLastIndex(({ type }) => type === 'approval-resolved');
      const started = resumed.entries.findIndex(({ type }) => type === 'capability-start');
      expect(started).toBeGreaterThan(decided);
      // An answer that was given before the kill still counts: each question is resolved once.
      const resolved = resumed.entries.flatMap((entry) =>
        entry.type === 'approval-resolved' ? [entry.questionId] : [],
      );
      expect(new Set(resolved).size).toBe(resolved.length);
      expect(resolved).toHaveLength(4);
      expect(replay(resumed.entries).divergence).toBeNull();
    }
  });
});

const byEuros = (one: { readonly euros: unknown }, other: { readonly euros: unknown }): number =>
  Number(one.euros) - Number(other.euros);

describe.each(['file', 'sqlite'])('two processes that answer the same questions, with a %s store', (kind) => {
  it('[Q1] [Q2] run each approved call once: one owns the run, the other is refused', async () => {
    const folder = temporaryFolder();
    const effects = join(folder, 'effects');
    writeFileSync(effects, '');
    const place = join(folder, kind === 'file' ? 'runs' : 'runs.db');
    const processFor = (what: string): ChildProcess =>
      fork('test/support/approving.mjs', [kind, place, effects, what], { stdio: 'ignore' });
    const said = async (child: ChildProcess): Promise<unknown> => (await once(child, 'message'))[0];

    const first = processFor('start');
    await said(first);
    await said(first);
    first.kill('SIGKILL');
    await once(first, 'exit');
    expect(readFileSync(effects, 'utf8')).toBe('');

    const rivals = [processFor('resume'), processFor('resume')];
    await Promise.all(rivals.map(said));
    const outcomes = rivals.map(said);
    for (const rival of rivals) rival.send('go');
    const found = await Promise.all(outcomes);
    expect(found.toSorted()).toEqual(['journal_held', 'owner']);
    const owner = rivals[found.indexOf('owner')] as ChildProcess;
    const status = said(owner);
    owner.send('approve');
    expect(await status).toBe('completed');
    expect(readFileSync(effects, 'utf8').trim().split('\n').toSorted()).toEqual(['1', '2']);
  });
});

const WAITING = `
  import * as z from 'zod';
  import { createCapabilityLoop, createPostChain, pendingApprovals } from './dist/index.js';
  import { replies, scriptedModel } from './dist/testing.js';
  const calls = [{ capability: 'pay', arguments: '{}' }];
  const model = scriptedModel(({ task }) => ({ reply: task === 'action' ? { ...replies.action, calls } : replies[task] }));
  const pay = { name: 'pay', description: 'Pays.', arguments: z.object({}), approval: 'always', execute: () => console.log('paid') };
  const parts = { model, capabilities: [pay] };
  const request = { request: 'Pay.' };
  const run = process.argv[1] === 'chain' ? createPostChain(parts).run(request) : createCapabilityLoop(parts).run(request);
  const approve = () => {
    const [asked] = pendingApprovals(run.entries);
    if (asked === undefined) return setTimeout(approve, 100).unref();
    run.send({ type: 'approval.given', questionId: asked.questionId, digest: asked.digest, decision: 'approve' });
  };
  // The timer does not keep the process alive.
  setTimeout(approve, 100).unref();
`;

it.each(['chain', 'loop'])('a %s that waits for approval keeps its process alive until its end', async (host) => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', WAITING, host]);
  expect(stdout).toBe('paid\n');
});
