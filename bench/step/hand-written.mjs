import { strict as assert } from 'node:assert';
import { MODEL_PHASES } from './replies.mjs';
import { readReply } from './zero-latency-model.mjs';

/**
 * Measures microseconds per step of a hand-written loop: the same replies from the same stream, JSON.parse, zod, and a check of the
 * confidence. No retries and no record.
 *
 * @param {{ cycles: number }} options
 */
export async function measure({ cycles }) {
  const startedAt = performance.now();
  let steps = 0;
  for (let cycle = 1, done = false; cycle <= cycles && !done; cycle += 1) {
    for (const phase of MODEL_PHASES) {
      const reply = await readReply(phase, cycle);
      if (phase === 'yield') done = /** @type {{ confidence: number }} */ (reply).confidence > 0.9;
      steps += 1;
    }
  }
  const elapsedMs = performance.now() - startedAt;
  assert.equal(steps, cycles * MODEL_PHASES.length);
  return { microseconds: (elapsedMs * 1000) / steps };
}
