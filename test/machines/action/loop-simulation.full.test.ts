import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loopPlanArbitrary, referenceLoop } from '../../support/loop-reference.ts';
import { runLoopPlan } from '../../support/loop-simulation.ts';
import { sampleSize } from '../../support/soak.ts';

/** Printed on failure with the path of the smallest failing plan: pass both to fast-check to reproduce it. */
const SEED = 20_260_802;
const LOOPS = sampleSize('capability loops', 600, 50_000);

/** Possible outcomes of a loop; each occurs often. */
const WAYS = [
  'budget_exhausted',
  'decider_failed',
  'done',
  'invalid_next_step arguments_misfit',
  'invalid_next_step arguments_not_object',
  'invalid_next_step empty_name',
  'invalid_next_step missing_name',
  'invalid_next_step unknown_capability',
  'limit_reached',
  'no_decider',
  'no_reply',
  'nothing_to_run',
];

describe(`${LOOPS} capability loops`, () => {
  it('[R1] [R2] [R3] [R4] [R5] [R7] [R8] [R10] match a straightforward implementation of the rules and leave no timers or listeners behind', async () => {
    const met = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(loopPlanArbitrary, async (plan) => {
        const { outcome, leftovers } = await runLoopPlan(plan);
        const expected = referenceLoop(plan);
        expect({ ...outcome, leftovers }).toEqual({ ...expected, leftovers: [] });
        const way = `${expected.stopReason} ${expected.code ?? ''}`.trim();
        met.set(way, (met.get(way) ?? 0) + 1);
      }),
      { numRuns: LOOPS, seed: SEED },
    );
    expect([...met.keys()].sort()).toEqual(WAYS);
    expect(Math.min(...met.values())).toBeGreaterThan(LOOPS / 300);
  });
});
