import { expect, it } from 'vitest';
import { assign } from 'xstate';
import { actionMachine } from '../../../../machines/action/action.machine.ts';
import { chainMachine } from '../../../../machines/chain/chain.machine.ts';
import type { ActionState, StepCall } from '../../../../machines/contracts/action-state.ts';
import type { ChainState } from '../../../../machines/contracts/chain-state.ts';
import { actionChart } from '../../../../src/testing/charts/action-chart.ts';
import { attemptChart } from '../../../../src/testing/charts/attempt-chart.ts';
import { chainChart } from '../../../../src/testing/charts/chain-chart.ts';
import { actionProperties, attemptProperties, chainProperties } from '../../../../src/testing/charts/properties.ts';
import { explore } from '../../../../src/testing/exploration/explore.ts';
import { mutantsOf } from '../../../../src/testing/mutants.ts';
import { describeFinding, findingsOf, type Property } from '../../../../src/testing/properties/properties.ts';

type Args = { readonly context: ChainState };
type Machine = Parameters<typeof explore>[0];

const mutant = (name: string): Machine => mutantsOf(chainMachine).find((one) => one.name === name)?.machine as Machine;

const { 'a question': question } = chainChart.inputs;
/** Two cycles of one question: not all of the chart can be reached, so what is unreachable says nothing. */
const smallChain = {
  options: {
    ...chainChart,
    inputs: { 'a question': { ...question, limits: { ...question.limits, maxCycles: 1 } } },
    depth: 9,
  },
  properties: chainProperties.filter(({ name }) => !/dead transition|unreachable/u.test(name)),
};
const attempt = { options: attemptChart, properties: attemptProperties };
const actionLoop = { options: actionChart, properties: actionProperties };

function findings(machine: Machine, { options, properties }: { options: object; properties: readonly Property[] }) {
  const exploration = explore(machine, { ...(options as Parameters<typeof explore>[1]), limit: 50_000 });
  return findingsOf(exploration, properties).filter(({ witness }) => witness !== null);
}

const isUnstarted = ({ slot, result }: StepCall): boolean => slot === null && result === null;

/** A fault in a policy or a chart, and the property that finds it with the shortest counterexample. */
it.each<[string, Machine, Parameters<typeof findings>[1], RegExp]>([
  [
    'one cycle too many',
    chainMachine.provide({
      guards: {
        cycleLimitReached: ({ context: { recursion, limits } }: Args) => recursion.completedCycles > limits.maxCycles,
      },
    }),
    smallChain,
    /^FAILS: never over the cycle limit: reached in .*, after a question → /u,
  ],
  [
    'unlimited retries of a failed phase',
    chainMachine.provide({ guards: { phaseMayRepeat: () => true } }),
    smallChain,
    /^FAILS: never over the phase retry limit: .*, after a question → action: /u,
  ],
  [
    'a canceled run that continues',
    mutant('postChain.cycling, run.cancelled: transition dropped'),
    smallChain,
    /^FAILS: .*run\.cancelled.*/u,
  ],
  [
    'an ignored valid value',
    attemptChart.machine.provide({ actions: { assignValue: () => {} } }),
    attempt,
    /^FAILS: never done without a value or a failure: reached in "succeeded", after one model → /u,
  ],
  [
    'a fallback that never takes over',
    attemptChart.machine.provide({ guards: { fallbackIsDue: () => false } }),
    attempt,
    /^FAILS: no dead transition/u,
  ],
  [
    'a step that begins before its approval',
    actionMachine.provide({ guards: { approvalPending: () => false } }),
    actionLoop,
    /^FAILS: never a call that waits for approval outside of the states/u,
  ],
  [
    'a call that starts although nobody approved it',
    actionMachine.provide({
      guards: {
        approvalPending: () => false,
        callWaits: ({ context: { step } }: { context: ActionState }) => step.some(isUnstarted),
      },
      actions: {
        startCall: assign(({ context: { id, step, begun } }, { slot }: { slot: number }) => {
          const at = step.findIndex(isUnstarted);
          const next = step.map((call, index) => (index === at ? { ...call, slot, id: `${id}.${begun + 1}` } : call));
          return { step: next, begun: begun + 1 };
        }),
      },
    }),
    actionLoop,
    /^FAILS: never a call that runs, or has run, without approval/u,
  ],
  [
    'an answer about other arguments that counts',
    actionMachine.provide({ guards: { approvalFits: () => true } }),
    actionLoop,
    /^FAILS: an answer decides only the pending question that it names/u,
  ],
  [
    'a run of an unknown capability',
    actionMachine.provide({ guards: { nextStepInvalid: () => false } }),
    actionLoop,
    /^FAILS: no dead transition/u,
  ],
])('the properties of the charts find %s', (_, faulty, suite, finding) => {
  expect(findings(faulty, suite).map(describeFinding)).toContainEqual(expect.stringMatching(finding));
});
