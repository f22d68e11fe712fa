import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { JournalEntry } from '../../machines/contracts/journal.ts';
import { replay } from '../../src/chain/journal/replay.ts';
import { readRun } from '../../src/chain/journal/run-journal.ts';
import { temporaryFolder } from '../support/cli.ts';
// @ts-expect-error: plain JavaScript, because it also runs in child processes.
import { aChain, request } from '../support/killed-run.mjs';
// @ts-expect-error: plain JavaScript, because it also runs in child processes.
import { answerOf, continueRuns, someChains } from '../support/killed-runs.mjs';
import { hasPostgres, type PostgresServer, startPostgres } from '../support/postgres.ts';
import { createRandom, SEED } from '../support/random.ts';
import { sampleSize } from '../support/soak.ts';

const program = new URL('../support/killed-run.mjs', import.meta.url).pathname;

/** Killing at every entry takes minutes. */
const KILLS = sampleSize('entries at which a process is killed, at most', 5, 1_000);

interface Counted {
  readonly model: number;
  readonly capability: number;
}

let server: PostgresServer | null = null;
beforeAll(async () => {
  if (hasPostgres) server = await startPostgres();
});
afterAll(() => server?.stop());

/** A new place for a store, and the number of calls made there by all processes. */
async function createPlace(kind: string) {
  const folder = temporaryFolder();
  const place = (kind === 'postgres' && (await server?.newSchema())) || join(folder, 'runs.db');
  const counts = join(folder, 'counts');
  writeFileSync(counts, '');
  const counted = (): Counted => {
    const lines = readFileSync(counts, 'utf8').split('\n');
    return {
      model: lines.filter((line) => line === 'call').length,
      capability: lines.filter((line) => line === 'capability').length,
    };
  };
  return { place, counts, counted };
}

async function killedAt(kind: string, place: string, counts: string, seq: number): Promise<void> {
  const child = spawn(process.execPath, [program, kind, place, counts, String(seq)], { stdio: 'inherit' });
  const signal = await new Promise((resolve) => child.once('close', (_, killedBy) => resolve(killedBy)));
  expect(signal).toBe('SIGKILL');
}

/** Runs many runs at once in a process, and kills it after a number of model calls. Returns the number of calls it made. */
async function killedAfter(kind: string, place: string, runs: number, calls: number): Promise<number> {
  const child = spawn(process.execPath, ['test/support/killed-runs.mjs', kind, place, String(runs)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let made = 0;
  child.stdout.on('data', (bytes: Buffer) => {
    made += bytes.toString().split('\n').length - 1;
    if (made >= calls) child.kill('SIGKILL');
  });
  await new Promise((resolve) => child.once('close', resolve));
  return made;
}

const readBack = (entries: readonly JournalEntry[]): unknown => JSON.parse(JSON.stringify(entries));

/** PostgreSQL is skipped without the programs initdb and postgres. */
describe.each(['file', 'sqlite', 'postgres'])('a killed process with its journal in %s', (kind) => {
  const it = test.skipIf(kind === 'postgres' && !hasPostgres);
  /** Closes a store when the test ends. */
  function closing<Opened extends { readonly store: object }>(opened: Opened): Opened {
    const { store } = opened;
    if ('close' in store) onTestFinished(() => (store as { close(): void }).close());
    return opened;
  }

  it('[promise 6] resumes to the same answer, loses no entry and repeats at most one call, wherever it is killed', async () => {
    const alone = await createPlace(kind);
    const whole = closing(aChain(kind, alone.place, alone.counts)).chain.run(request);
    const { answerText } = await whole.answer;
    const once = alone.counted();
    const every = Math.ceil(whole.entries.length / KILLS);
    const seqs = whole.entries.map(({ seq }: JournalEntry) => seq).filter((seq: number) => seq % every === 0);

    const check = async (seq: number): Promise<void> => {
      const { place, counts, counted } = await createPlace(kind);
      await killedAt(kind, place, counts, seq);
      const { chain, store } = closing(aChain(kind, place, counts));
      const stored = await readRun(store.read('run-1'));
      // Entries are written in steps: the ones of the same step follow.
      expect(stored.length).toBeGreaterThan(seq);
      const resumed = await chain.resume('run-1');
      const answer = await resumed.answer;
      expect(answer.answerText).toBe(answerText);
      expect(readBack(resumed.entries.slice(0, stored.length))).toEqual(stored);
      const { model, capability } = counted();
      expect(model).toBeGreaterThanOrEqual(once.model);
      expect(model + capability).toBeLessThanOrEqual(once.model + once.capability + 1);
      expect(replay(readBack(resumed.entries) as JournalEntry[]).divergence).toBeNull();
    };
    // Two at a time, for small machines.
    const work = seqs.values();
    const worker = async (): Promise<void> => {
      for (const seq of work) await check(seq);
    };
    await Promise.all([worker(), worker()]);
    expect(seqs.length).toBeGreaterThan(3);
  });

  it('[promise 6] loses no run and no entry of many at once, killed at random points, also while resuming', async () => {
    const rounds = sampleSize('rounds of killed runs', 2, 8);
    const count = sampleSize('runs at once in each round', 12, 100);
    const random = createRandom(SEED);
    for (let round = 0; round < rounds; round += 1) {
      const { place } = await createPlace(kind);
      const label = `round ${round} of seed ${SEED}`;
      // A run makes seven calls or three.
      let killedCalls = await killedAfter(kind, place, count, random.int(1, count * 4));
      if (random.chance(0.5)) killedCalls += await killedAfter(kind, place, count, random.int(1, count * 2));
      const { store } = closing(someChains(kind, place, 0, () => {}));
      const stored = new Map<string, readonly JournalEntry[]>();
      for (const { id: runId, status } of await store.list()) {
        expect(['done', 'interrupted'], label).toContain(status);
        stored.set(runId, await readRun(store.read(runId)));
      }
      let calls = 0;
      const all = closing(
        someChains(kind, place, count, () => {
          calls += 1;
        }),
      );
      for (const run of await continueRuns(all)) {
        expect((await run.answer).answerText, label).toBe(answerOf(run));
        expect(run.journalFailure, label).toBeNull();
        const before = stored.get(run.id) ?? [];
        expect(readBack(run.entries.slice(0, before.length)), label).toEqual(before);
        expect(replay(readBack(run.entries) as JournalEntry[]).divergence, label).toBeNull();
      }
      // At most the calls that were in flight are repeated, for each run and kill: two with a call that started early.
      expect(calls + killedCalls, label).toBeLessThanOrEqual((count / 2) * (7 + 4 + 3 + 2));
      for (const { status } of await all.store.list()) expect(status, label).toBe('done');
    }
  });
});
