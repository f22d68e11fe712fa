import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../../machines/contracts/journal-entry.ts';
import { replay } from '../../../../src/journal/replay/replay.ts';
import { temporaryFolder } from '../../../support/cli.ts';
// @ts-expect-error: a program of plain JavaScript, since it runs in processes of its own too.
import { aChain, request } from '../../../support/killed-run.mjs';

const program = new URL('../../../support/killed-run.mjs', import.meta.url).pathname;

/** Everything at every entry takes minutes: here each store has a part of the entries, and all of them in the long suite. */
const EVERY = process.env['POSTCHAIN_LONG'] === '1' ? 1 : 20;

interface Counted {
  readonly model: number;
  readonly capability: number;
}

/** A place of its own for a run, and what was called in it over all its processes. */
function aPlace(kind: string) {
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

const written = (entries: readonly JournalEntry[]): unknown => JSON.parse(JSON.stringify(entries));

describe.each(['file', 'sqlite'])('a run whose process is killed, with its journal in %s', (kind) => {
  it('[promise 6] at any entry is gone on with to its answer; nothing is lost, and at most one call is made again', async () => {
    const alone = aPlace(kind);
    const whole = aChain(kind, alone.place, alone.counts).chain.run(request);
    const { answerText } = await whole.answer;
    const once = alone.counted();
    const seqs = whole.journal.map(({ seq }: JournalEntry) => seq).filter((seq: number) => seq % EVERY === 0);

    const check = async (seq: number): Promise<void> => {
      const { place, counts, counted } = aPlace(kind);
      await killedAt(kind, place, counts, seq);
      expect(existsSync(place)).toBe(true);
      const { chain, store } = aChain(kind, place, counts);
      const kept: JournalEntry[] = [];
      for await (const entry of store.read('run-1')) kept.push(entry);
      expect(kept).toHaveLength(seq + 1);
      const resumed = await chain.resume('run-1');
      const answer = await resumed.answer;
      expect(answer.answerText).toBe(answerText);
      expect(written(resumed.journal.slice(0, kept.length))).toEqual(kept);
      const { model, capability } = counted();
      expect(model).toBeGreaterThanOrEqual(once.model);
      expect(model + capability).toBeLessThanOrEqual(once.model + once.capability + 1);
      expect(replay(written(resumed.journal) as JournalEntry[]).divergence).toBeNull();
    };
    // Two processes at a time: the machine may have no more to give.
    const work = seqs.values();
    const worker = async (): Promise<void> => {
      for (const seq of work) await check(seq);
    };
    await Promise.all([worker(), worker()]);
    expect(seqs.length).toBeGreaterThan(10);
  });
});
