import { describe, expect, it } from 'vitest';
import { killReport, mutantsOf } from '../../../../src/testing/mutants.ts';
import { chartSuites, suiteCheck } from '../../../support/chart-tables.ts';
import { isSoak } from '../../../support/soak.ts';

/** Equivalent mutants with the reason why no test can find them. */
const EQUIVALENT: Readonly<Record<string, readonly string[]>> = {
  attempt: [
    // A reply is either unvalidated or valid.
    'attempt.calling, reply.ended: candidate 2 of 4 swapped with the next',
    // The policy plans no next call for a permanent failure, so the guard after it is false too.
    'attempt.recordingFailure, always: candidate 2 of 4 dropped',
    'attempt.recordingFailure, always: candidate 2 of 4 swapped with the next',
  ],
  actionLoop: [
    // The two guards of each pair exclude each other: nothing to continue or the limit of runs; calls that ran before or that cannot run; the model
    // or a function decides; unreadable or done.
    'actionLoop.beginning, always: candidate 3 of 5 swapped with the next',
    'actionLoop.continuing, always: candidate 1 of 4 swapped with the next',
    'actionLoop.branching, always: candidate 1 of 3 swapped with the next',
  ],
  postChain: [
    // A direction is one phase, so exactly one of the guards for it is true.
    ...[2, 3, 4, 5].map((nth) => `routing, always: candidate ${nth} of 7 swapped with the next`),
    ...[11, 12, 13, 14, 15, 16].map(
      (nth) => `postChain.cycling.yield.deciding, always: candidate ${nth} of 17 swapped with the next`,
    ),
    // A saved phase has no failure, which is what makes a model unavailable.
    'recovering, always: candidate 1 of 5 swapped with the next',
  ],
};

/** All of them take almost half an hour, most of it for the chain's. */
const EVERY = isSoak ? 1 : 12;
const isSkipped = (name: string): boolean => name === 'postChain' && !isSoak;

describe.each(Object.entries(chartSuites))('the mutants of %s', (name, suite) => {
  it.skipIf(isSkipped(name))('are killed unless they are equivalent to the original', async () => {
    const held = suiteCheck(suite);
    const mutants = mutantsOf(suite.machine).filter((_, at) => at % EVERY === 0);
    const { results, killed, survivors } = await killReport(mutants, held);
    process.stderr.write(`${name}: ${killed} of ${results.length} mutants killed\n`);
    const equivalent = (EQUIVALENT[name] ?? []).filter((known) => mutants.some((mutant) => mutant.name === known));
    expect(survivors).toEqual(equivalent);
  });
});
