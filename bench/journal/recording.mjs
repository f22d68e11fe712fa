import { strict as assert } from 'node:assert';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contextHistory, contextOf, memoryJournals, replay, runEntries } from '../../dist/index.js';
import { fileJournals, readJournal, sqliteJournals } from '../../dist/node.js';
import { startLongRun } from '../step/long-run.mjs';

const stores = /** @type {Record<string, (folder: string) => import('../../dist/index.js').JournalStore>} */ ({
  memory: () => memoryJournals(),
  file: (folder) => fileJournals(folder),
  SQLite: (folder) => sqliteJournals(join(folder, 'runs.db')),
});

/**
 * Measures the cost of a journal. `write`: microseconds per entry in a store, early and late in one run, as the median over its cycles.
 * `read`: milliseconds to read a recording of `entries` entries, to fold its context, to replay it, and to only parse the lines of its
 * file.
 *
 * @param {{ what: 'write', store: string, cycles: number, windows: Readonly<Record<string, readonly [number, number]>> } | { what: 'read', entries: number }} options
 */
export async function measure(options) {
  const folder = mkdtempSync(join(tmpdir(), 'postchain-bench-'));
  try {
    return options.what === 'write' ? await measureWriting(folder, options) : await measureReading(folder, options);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * @param {string} folder
 * @param {{ store: string, cycles: number, windows: Readonly<Record<string, readonly [number, number]>> }} options
 */
async function measureWriting(folder, { store, cycles, windows }) {
  const cost = new Float64Array(cycles + 2);
  const written = new Float64Array(cycles + 2);
  let cycle = 0;
  const inner = /** @type {(folder: string) => import('../../dist/index.js').JournalStore} */ (stores[store])(folder);
  const journals = {
    ...inner,
    create(/** @type {string} */ runId) {
      const writer = inner.create(runId);
      return {
        failure: null,
        write(/** @type {readonly any[]} */ entries) {
          const startedAt = performance.now();
          writer.write(entries);
          cost[cycle] = (cost[cycle] ?? 0) + performance.now() - startedAt;
          written[cycle] = (written[cycle] ?? 0) + entries.length;
        },
        close: () => writer.close(),
      };
    },
  };
  const run = startLongRun(
    cycles,
    (now) => {
      cycle = now;
    },
    journals,
  );
  await run.answer;
  assert.equal(
    run.entries.length,
    written.reduce((sum, count) => sum + count, 0),
  );
  return Object.fromEntries(
    Object.entries(windows).map(([name, [from, to]]) => {
      const each = [...cost.slice(from, to)]
        .map((ms, at) => (ms * 1000) / (written[from + at] ?? 1))
        .sort((a, b) => a - b);
      return [name, each[Math.floor(each.length / 2)] ?? Number.NaN];
    }),
  );
}

/**
 * @param {string} folder
 * @param {{ entries: number }} options
 */
async function measureReading(folder, { entries }) {
  const journals = fileJournals(folder);
  const run = startLongRun(Math.ceil(entries / 80), undefined, journals);
  await run.answer;
  const path = join(folder, `${run.id}.jsonl`);
  assert.ok(run.entries.length >= entries);
  const begin = performance.now();
  const read = [];
  for await (const entry of runEntries(readJournal(path))) {
    read.push(entry);
    if (read.length === entries) break;
  }
  const wasRead = performance.now();
  const messages = contextOf(contextHistory(read)).length;
  const wasFolded = performance.now();
  const { divergence } = replay(read);
  const wasReplayed = performance.now();
  assert.equal(divergence, null);
  assert.ok(messages > 0);
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, entries);
  const parsed = lines.map((line) => JSON.parse(line)).length;
  assert.equal(parsed, entries);
  return {
    read: wasRead - begin,
    fold: wasFolded - wasRead,
    replay: wasReplayed - wasFolded,
    parse: performance.now() - wasReplayed,
    bytes: statSync(path).size / run.entries.length,
  };
}
