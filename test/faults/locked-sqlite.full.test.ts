import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { replay } from '../../src/chain/journal/replay.ts';
import { readRun, runSummary } from '../../src/chain/journal/run-journal.ts';
import type { ActorSummary } from '../../src/durable/journals/journal-store.ts';
import { sqliteJournals } from '../../src/durable/journals/sqlite-journals.ts';
import { temporaryFolder } from '../support/cli.ts';
import { lockInOtherProcess } from '../support/file-lock.ts';
// @ts-expect-error: plain JavaScript, because it also runs in child processes.
import { answerOf, continueRuns, someChains } from '../support/killed-runs.mjs';

const RUNS = 20;

/** Starts twenty runs in a process, and returns when they have made `calls` model calls. */
async function startRuns(place: string, calls: number) {
  const child = spawn(process.execPath, ['test/support/killed-runs.mjs', 'sqlite', place, String(RUNS), 'stay'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  for (let call = 0; call < calls; call += 1) await lines.next();
  return {
    /** Resolves with what the process prints when its runs have ended. */
    async ended(): Promise<{ failures: readonly (string | null)[] }> {
      for (;;) {
        const { value } = await lines.next();
        if (value !== 'call') return JSON.parse(value ?? 'null');
      }
    },
    async kill(): Promise<void> {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

it('records twenty runs whole while another process locks the file', async () => {
  const place = join(temporaryFolder(), 'runs.db');
  const runs = await startRuns(place, RUNS);
  const release = await lockInOtherProcess(place);
  await release();
  const { failures } = await runs.ended();
  expect(failures).toEqual(Array.from({ length: RUNS }, () => null));
  await runs.kill();

  const store = sqliteJournals(place);
  onTestFinished(() => store.close());
  for (const listed of await store.list()) {
    expect(runSummary(listed).status).toBe('completed');
    expect(replay(await readRun(store.read(listed.id))).divergence).toBeNull();
  }
  expect(await store.list()).toHaveLength(RUNS);
});

it('resumes runs that were killed while another process locked the file', async () => {
  const place = join(temporaryFolder(), 'runs.db');
  const runs = await startRuns(place, RUNS);
  const release = await lockInOtherProcess(place);
  await runs.kill();
  await release();
  const all = someChains('sqlite', place, RUNS, () => {});
  onTestFinished(() => all.store.close());
  for (const run of await continueRuns(all)) {
    expect((await run.answer).answerText).toBe(answerOf(run));
    expect(run.journalFailure).toBeNull();
  }
  expect((await all.store.list()).map((listed: ActorSummary) => runSummary(listed).status)).toEqual(
    Array.from({ length: RUNS }, () => 'completed'),
  );
});
