import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { replay } from '../../../src/journal/replay.ts';
import { temporaryFolder } from '../../support/cli.ts';
// @ts-expect-error: plain JavaScript, because it also runs in child processes.
import { aChain, request } from '../../support/killed-run.mjs';

const program = new URL('../../support/killed-run.mjs', import.meta.url).pathname;

/** Killing at every entry takes minutes: by default every twentieth entry, in the long suite all of them. */
const EVERY = process.env['POSTCHAIN_LONG'] === '1' ? 1 : 20;

interface Counted {
  readonly model: number;
  readonly capability: number;
}

/** A new store path, and the number of calls made there by all processes. */
function createPlace(kind: string) {
  const folder = temporaryFolder();
  const place = join(folder, kind === 'file' ? 'runs' : 'runs.db');
  const counts = join(folder, 'counts');
  writeFileSync(counts, '');
  const counted = (): Counted => {
    const lines = readFileSync(counts, 'utf8').split('\n');
    return {
      model: lines.filter((line) => line.startsWith('model')).length,
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

const readBack = (entries: readonly JournalEntry[]): unknown => JSON.parse(JSON.stringify(entries));

describe.each(['file', 'sqlite'])('a killed process with its journal in %s', (kind) => {
  it('[promise 6] resumes to the same answer, loses no entry and repeats at most one call, wherever it is killed', async () => {
    const alone = createPlace(kind);
    const whole = aChain(kind, alone.place, alone.counts).chain.run(request);
    const { answerText } = await whole.answer;
    const once = alone.counted();
    const seqs = whole.journal.map(({ seq }: JournalEntry) => seq).filter((seq: number) => seq % EVERY === 0);

    const check = async (seq: number): Promise<void> => {
      const { place, counts, counted } = createPlace(kind);
      await killedAt(kind, place, counts, seq);
      expect(existsSync(place)).toBe(true);
      const { chain, store } = aChain(kind, place, counts);
      const stored: JournalEntry[] = [];
      for await (const entry of store.read('run-1')) stored.push(entry);
      expect(stored).toHaveLength(seq + 1);
      const resumed = await chain.resume('run-1');
      const answer = await resumed.answer;
      expect(answer.answerText).toBe(answerText);
      expect(readBack(resumed.journal.slice(0, stored.length))).toEqual(stored);
      const { model, capability } = counted();
      expect(model).toBeGreaterThanOrEqual(once.model);
      expect(model + capability).toBeLessThanOrEqual(once.model + once.capability + 1);
      expect(replay(readBack(resumed.journal) as JournalEntry[]).divergence).toBeNull();
    };
    // Two at a time, for small machines.
    const work = seqs.values();
    const worker = async (): Promise<void> => {
      for (const seq of work) await check(seq);
    };
    await Promise.all([worker(), worker()]);
    expect(seqs.length).toBeGreaterThan(10);
  });
});
