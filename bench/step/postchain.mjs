import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import { memoryJournals, readRun } from '../../dist/index.js';
import { fileJournals, sqliteJournals } from '../../dist/node.js';
import { temporaryFolder } from '../temporary-folder.mjs';
import { assertDone, longRunChain } from './long-run.mjs';
import { MODEL_PHASES, REQUEST } from './replies.mjs';

/** The stores of journals. Without one, a journal lives as long as its run. */
const STORES = {
  none: () => undefined,
  memory: () => memoryJournals(),
  file: () => fileJournals(temporaryFolder()),
  SQLite: () => sqliteJournals(join(temporaryFolder(), 'runs.db')),
};

/** @type {{ chain: ReturnType<typeof longRunChain>, journals: ReturnType<typeof STORES[keyof typeof STORES]> } | undefined} */
let created;

/**
 * Measures microseconds per phase step through all of PostChain, including starting each run and writing its final answer, in `runs` runs
 * one after the other. The chain is created beforehand. With `watched`, every event and partial value is read.
 *
 * @param {{ cycles: number, runs?: number, store?: keyof typeof STORES, watched?: boolean }} options
 */
export async function measure({ cycles, runs = 1, store = 'none', watched = false }) {
  created ??= createChain(cycles, store);
  const { chain, journals } = created;
  const steps = cycles * MODEL_PHASES.length * runs;
  const ended = [];
  let partials = 0;
  const startedAt = performance.now();
  for (let at = 0; at < runs; at += 1) {
    const run = chain.run({ request: REQUEST });
    const events = watched ? countPartials(run.events) : 0;
    await run.answer;
    partials += await events;
    ended.push(run);
  }
  const microseconds = ((performance.now() - startedAt) * 1000) / steps;
  let entries = 0;
  for (const run of ended) {
    await assertDone(run, cycles);
    if (journals !== undefined) await assertStored(run, journals);
    entries += run.entries.length;
  }
  const context = ended[0]?.ref.getSnapshot().context.messages.length;
  return { microseconds, records: entries / steps, context, partials: partials / steps };
}

/**
 * @param {number} cycles
 * @param {keyof typeof STORES} store
 */
function createChain(cycles, store) {
  const journals = STORES[store]();
  return { chain: longRunChain(cycles, undefined, journals), journals };
}

/** @param {AsyncIterable<{ type: string }>} events */
async function countPartials(events) {
  let partials = 0;
  for await (const event of events) if (event.type === 'partial') partials += 1;
  return partials;
}

/**
 * Asserts that the store has every entry of the run's journal, then deletes it.
 *
 * @param {ReturnType<ReturnType<typeof longRunChain>['run']>} run
 * @param {import('../../dist/index.js').JournalStore} journals
 */
async function assertStored({ id, entries, journalFailure }, journals) {
  assert.equal(journalFailure, null);
  assert.deepEqual(await readRun(journals.read(id)), entries);
  await journals.delete?.(id);
}
