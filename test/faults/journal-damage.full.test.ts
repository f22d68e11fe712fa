import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseRun } from '../../src/chain/journal/run-journal.ts';
import type { DurableEntry } from '../../src/durable/entries.ts';
import { fileJournals } from '../../src/durable/journals/file-journals.ts';
import { entriesOf, type JournalStore } from '../../src/durable/journals/journal-store.ts';
import { sqliteJournals } from '../../src/durable/journals/sqlite-journals.ts';
import { temporaryFolder } from '../support/cli.ts';
import { createRandom, type Random, SEED } from '../support/random.ts';
import { startScripted } from '../support/run-chain.ts';
import { sampleSize } from '../support/soak.ts';

type Damage = (bytes: Buffer, random: Random) => Buffer;

const flippedBit: Damage = (bytes, random) => {
  const at = random.int(0, bytes.length - 1);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << random.int(0, 7));
  return bytes;
};
const truncated: Damage = (bytes, random) => bytes.subarray(0, random.int(0, bytes.length - 1));
const zeroedRange: Damage = (bytes, random) => {
  const from = random.int(0, bytes.length - 1);
  return bytes.fill(0, from, Math.min(bytes.length, from + random.int(1, 600)));
};
const ofLines =
  (change: (lines: string[], random: Random) => void): Damage =>
  (bytes, random) => {
    const lines = bytes.toString('utf8').split('\n').slice(0, -1);
    change(lines, random);
    return Buffer.from(lines.map((line) => `${line}\n`).join(''));
  };
const lostLine = ofLines((lines, random) => lines.splice(random.int(0, lines.length - 1), 1));
const doubledLine = ofLines((lines, random) => {
  const at = random.int(0, lines.length - 1);
  lines.splice(at, 0, lines[at] ?? '');
});
const swappedLines = ofLines((lines, random) => {
  const at = random.int(0, lines.length - 2);
  lines.splice(at, 2, lines[at + 1] ?? '', lines[at] ?? '');
});

/** What a damaged journal yields until it ends or is rejected. */
async function readDamaged(store: JournalStore, runId: string): Promise<{ entries: DurableEntry[]; error: unknown }> {
  const entries: DurableEntry[] = [];
  try {
    for await (const entry of store.read(runId)) entries.push(entry);
    return { entries, error: null };
  } catch (error) {
    return { entries, error };
  }
}

const asText = (entries: readonly DurableEntry[]): readonly string[] => entries.map((entry) => JSON.stringify(entry));

/** Checks that a damaged journal yields no entry that is not in the original, and is not taken for the whole original. */
async function expectDetected(store: JournalStore, original: readonly DurableEntry[], label: string): Promise<void> {
  const { entries, error } = await readDamaged(store, 'run-1');
  expect(asText(entries), label).toEqual(asText(original.slice(0, entries.length)));
  if (error === null) expect(entries.length, label).toBeLessThan(original.length);
  else expect(error, label).toMatchObject({ code: expect.stringMatching(/^invalid_(?:journal|path)$/u) });
}

async function recorded(store: JournalStore): Promise<readonly DurableEntry[]> {
  const { run } = startScripted({}, { journals: store });
  await run.answer;
  for await (const _ of run.events);
  expect(run.journalFailure).toBeNull();
  const stored = await entriesOf(store.read('run-1'));
  expect(parseRun(stored)).toEqual(JSON.parse(JSON.stringify(run.entries)));
  return stored;
}

it.each([
  ['bit flips', flippedBit, sampleSize('flipped bits in journal files', 60, 400)],
  ['truncations', truncated, sampleSize('truncated journal files', 30, 200)],
  ['lost lines', lostLine, sampleSize('journal files without a line', 15, 100)],
  ['doubled lines', doubledLine, sampleSize('journal files with a doubled line', 15, 100)],
  ['swapped lines', swappedLines, sampleSize('journal files with swapped lines', 15, 100)],
  ['zeroed ranges', zeroedRange, sampleSize('journal files with zeroed ranges', 15, 100)],
] as const)('[promise 6] finds all damage to journal files: %s', async (name, damage, times) => {
  const folder = temporaryFolder();
  const original = await recorded(fileJournals(folder));
  const bytes = readFileSync(join(folder, 'run-1.jsonl'));
  const random = createRandom(SEED);
  for (let at = 0; at < times; at += 1) {
    writeFileSync(join(folder, 'run-1.jsonl'), damage(Buffer.from(bytes), random));
    await expectDetected(fileJournals(folder), original, `${name}, number ${at} of seed ${SEED}`);
  }
});

it.each([
  ['bit flips', flippedBit, sampleSize('flipped bits in SQLite files', 40, 200)],
  ['truncations', truncated, sampleSize('truncated SQLite files', 10, 50)],
  ['zeroed ranges', zeroedRange, sampleSize('SQLite files with zeroed ranges', 10, 50)],
] as const)(
  '[promise 6] survives damage to SQLite files, and yields no changed entry: %s',
  async (name, damage, times) => {
    const folder = temporaryFolder();
    const path = join(folder, 'whole.db');
    const store = sqliteJournals(path);
    const original = await recorded(store);
    store.close();
    const bytes = readFileSync(path);
    const random = createRandom(SEED);
    for (let at = 0; at < times; at += 1) {
      const copy = join(folder, `${at}.db`);
      writeFileSync(copy, damage(Buffer.from(bytes), random));
      const damaged = sqliteJournals(copy);
      const label = `${name}, number ${at} of seed ${SEED}`;
      const { entries, error } = await readDamaged(damaged, 'run-1');
      // Damage outside the rows of the journal, such as in free space, changes nothing.
      expect(asText(entries), label).toEqual(asText(original.slice(0, entries.length)));
      // The name of the journal may be what is damaged.
      const codes = /^(?:invalid_journal|invalid_path|unknown_journal)$/u;
      if (error !== null) expect(error, label).toMatchObject({ code: expect.stringMatching(codes) });
      await damaged.list().catch((failed) => expect(failed, label).toMatchObject({ code: 'invalid_path' }));
      damaged.close();
    }
    copyFileSync(path, join(folder, 'again.db'));
    expect(asText((await readDamaged(sqliteJournals(join(folder, 'again.db')), 'run-1')).entries)).toEqual(
      asText(original),
    );
  },
);
