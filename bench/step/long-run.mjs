import { strict as assert } from 'node:assert';
import { createPostChain } from '../../dist/index.js';
import { MODEL_PHASES, REQUEST } from './replies.mjs';
import { zeroLatencyModel } from './zero-latency-model.mjs';

const PLENTY = 1_000_000_000;

/**
 * Creates a chain whose runs have that many cycles and pass through all of PostChain: the charts, streamed replies, validation and the
 * in-memory journal. Each phase makes its own call, one after the other. The other options differ from the defaults only in bounds that
 * would end the run early, or change the calls of a cycle: a crowded context starts some cycles with Understanding, and summaries need
 * extra calls.
 *
 * @param {number} cycles
 * @param {(cycle: number) => void} [onCycle]
 * @param {import('../../dist/index.js').JournalStore} [journals]
 */
export function longRunChain(cycles, onCycle, journals) {
  const limits = { maxCycles: cycles, maxModelCalls: PLENTY, maxTokens: PLENTY, totalMs: PLENTY, maxSummaries: 0 };
  const thresholds = { crowdedMessages: PLENTY };
  return createPostChain({
    model: zeroLatencyModel(onCycle),
    profile: { extends: 'thorough', earlyCalls: false },
    limits,
    thresholds,
    ...(journals && { journals }),
  });
}

/**
 * Starts a run of such a chain.
 *
 * @param {Parameters<typeof longRunChain>} options
 */
export function startLongRun(...options) {
  return longRunChain(...options).run({ request: REQUEST });
}

/**
 * Asserts that the run did the work being measured: every phase of every cycle, with each reply streamed, validated and journaled at
 * the first attempt.
 *
 * @param {ReturnType<typeof startLongRun>} run
 * @param {number} cycles
 */
export async function assertDone(run, cycles) {
  const { metadata } = await run.answer;
  assert.equal(metadata.decision?.rule, 'cycleLimitReached');
  assert.equal(metadata.cycles, cycles);
  assert.equal(metadata.synthesis.writtenBy, 'model');
  assert.deepEqual(metadata.failures, []);
  const count = (/** @type {string} */ type) => run.entries.filter((entry) => entry.type === type).length;
  assert.equal(count('phase-end'), 6 * cycles);
  assert.equal(count('attempt-end'), MODEL_PHASES.length * cycles + 2);
  assert.equal(count('decision'), cycles);
  // Deltas that arrive together are journaled as one.
  const chars = run.entries.reduce((sum, entry) => sum + (entry.type === 'text-delta' ? entry.text.length : 0), 0);
  assert.ok(chars > 200 * MODEL_PHASES.length * cycles);
}
