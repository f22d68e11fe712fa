import { expect, it } from 'vitest';
import type { AnyStateMachine } from 'xstate';
import { actionMachine } from '../../../../machines/action/action.machine.ts';

import { chainMachine } from '../../../../machines/chain/chain.machine.ts';
import type { ChainState } from '../../../../machines/contracts/chain-state.ts';
import { attemptChart } from '../../../../src/testing/charts/attempt-chart.ts';
import { chainChart } from '../../../../src/testing/charts/chain-chart.ts';
import { mutantsOf } from '../../../../src/testing/mutants.ts';
import { type ChartSuite, chartSuites, suiteCheck } from '../../../support/chart-tables.ts';
import { isSoak, sampleSize } from '../../../support/soak.ts';

type Args = { readonly context: ChainState };

const mistake = (machine: AnyStateMachine, name: string): AnyStateMachine => {
  const found = mutantsOf(machine).find((mutant) => mutant.name === name);
  if (found === undefined) throw new Error(`there is no mutant "${name}"`);
  return found.machine;
};

const {
  'a question': question,
  'a long history': history,
  'with session, documents and embeddings': everything,
} = chainChart.inputs;
const few = <Input extends { limits: { maxCycles: number } }>(input: Input): Input => ({
  ...input,
  limits: { ...input.limits, maxCycles: 2 },
});
/** Enough of the chain to find a fault within a second. */
const small: ChartSuite = {
  ...(chartSuites['postChain'] as ChartSuite),
  isPart: true,
  options: {
    ...(chainChart as unknown as ChartSuite['options']),
    inputs: {
      'a question': few(question),
      'a long history': few(history),
      'with session, documents and embeddings': few(everything),
    },
  },
};

/** A fault of each kind in a policy or a chart, and what finds it: the property or the row, and the shortest counterexample. */
const faults: readonly (readonly [string, ChartSuite, AnyStateMachine, RegExp])[] = [
  [
    'one cycle too many',
    small,
    chainMachine.provide({
      guards: {
        cycleLimitReached: ({ context: { recursion, limits } }: Args) => recursion.completedCycles > limits.maxCycles,
      },
    }),
    /^yield\.assessing, attempt: confident → writing, but its condition does not hold; expected .* \[Y2\], after a question → (?:[^→]* → ){5}attempt: unsure, proposes yield → attempt: confident$/u,
  ],
  [
    'unlimited retries of a failed phase',
    small,
    chainMachine.provide({ guards: { phaseMayRepeat: () => true } }),
    /^action, action: refused → action; expected experience\.searching or .* \[Y9\], after a question → action: refused$/u,
  ],
  [
    'too low a confidence threshold',
    small,
    chainMachine.provide({
      guards: { confidenceReached: ({ context }: Args) => (context.assessment?.confidence ?? 0) > 0.1 },
    }),
    /^yield\.assessing, attempt: task complete → writing, but its condition does not hold; expected writing .* \[Y1, Y2\], after a question → /u,
  ],
  [
    'missing consent',
    small,
    chainMachine.provide({ guards: { consentNeeded: () => false } }),
    /^understanding\.measuring, measureContext: .* → action; expected .* \[U10.*\], after a long history → recallSession: done → measureContext: /u,
  ],
  [
    'a missing backoff for a rate-limited source',
    small,
    chainMachine.provide({ guards: { sourceMayRecover: () => false } }),
    /^experience\.searching, retrievePassages: too many requests → experience\.reading; expected experience\.backingOff \[C5\], after with session, documents and embeddings → recallSession: done → action: replied → retrievePassages: too many requests$/u,
  ],
  [
    'a canceled run that continues',
    small,
    mistake(chainMachine, 'postChain.cycling, run.cancelled: transition dropped'),
    /^action, run\.cancelled is ignored; expected remembering or answered \[E3, E9\], after a question → run\.cancelled$/u,
  ],
  [
    'a run that hangs with its phase',
    small,
    mistake(chainMachine, 'intention, after phaseDeadline: transition dropped'),
    /^intention, after phaseDeadline is ignored; expected intention \[Y9\], after a question → .* → after phaseDeadline$/u,
  ],
  [
    'an ignored valid value',
    chartSuites['attempt'] as ChartSuite,
    attemptChart.machine.provide({ actions: { assignValue: () => {} } }),
    /^FAILS: never done without a value or a failure: reached in "succeeded", after one model → readReply: lost → readReply: unvalidated → validateReply: valid$/u,
  ],
  [
    'a retry after a permanent failure',
    chartSuites['attempt'] as ChartSuite,
    attemptChart.machine.provide({ guards: { fallbackIsDue: () => false } }),
    /^opening, readReply: rate limited for an hour → failed; expected opening \[A13\], after two models → readReply: rate limited for an hour$/u,
  ],
  [
    'a run of an unknown capability',
    chartSuites['actionLoop'] as ChartSuite,
    actionMachine.provide({ guards: { nextStepInvalid: () => false } }),
    /^classifying, attempt: an unknown capability → validatingArguments, .*; expected concluded \[R5\], after a function decides → attempt: an unknown capability$/u,
  ],
];

const sample = faults.slice(-sampleSize('seeded faults', 4, faults.length));

it.each(sample)('finds %s with the shortest counterexample', (_, suite, faulty, witness) => {
  expect(() => suiteCheck(suite)(faulty)).toThrow(witness);
});

// Built-in charts have tests of their own.
it.runIf(isSoak)('finds nothing in the correct charts', () => {
  suiteCheck(small)(chainMachine);
});
