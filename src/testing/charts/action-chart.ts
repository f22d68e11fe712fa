import { actionMachine } from '../../../machines/action/action.machine.ts';
import type { ActionInput } from '../../../machines/contracts/action-state.ts';
import type { AttemptInput } from '../../../machines/contracts/attempt.ts';
import type {
  ArgumentsCheck,
  CapabilityCall,
  CapabilityResult,
  DeciderKind,
} from '../../../machines/contracts/capability.ts';
import { actionInput } from '../../../machines/policies/phase-input.ts';
import { initialState } from '../../../machines/policies/progress.ts';
import { chainInput } from '../../engine/runtime/bare-chain.ts';
import type { ExploredChart } from '../exploration/explore.ts';
import { done, fails } from '../exploration/occurrences.ts';
import { attemptOutcomes, reportsUsage } from './attempt-outcomes.ts';
import { CLOCK, LOOKUP } from './explored-world.ts';

const CALL: CapabilityCall = { capability: LOOKUP.name, arguments: '{}' };
const UNKNOWN: CapabilityCall = { capability: 'nobody', arguments: '{}' };

const FITS: ArgumentsCheck = { ok: true, arguments: {} };
const MISFIT: ArgumentsCheck = { ok: false, code: 'arguments_misfit', problem: 'the arguments do not fit' };

const WORKED: CapabilityResult = {
  ...{ capability: LOOKUP.name, arguments: {}, success: true, output: 'found', code: null, error: null },
  ...{ sessionId: null, synthesized: false, startedAtMs: 0, durationMs: 0 },
};
const THREW: CapabilityResult = { ...WORKED, success: false, output: '', code: 'threw', error: 'it is dead' };

/** What a model, or a function, may say comes next. */
const CONTINUATIONS = {
  'that is all': { done: true, finalOutput: null, next: null },
  'its own words': { done: true, finalOutput: 'It is so.', next: null },
  'once more': { done: false, finalOutput: null, next: CALL },
  'with an unknown one': { done: false, finalOutput: null, next: UNKNOWN },
  'with no step': { done: false, finalOutput: null, next: null },
};

const REPLIES = {
  'an answer': { response: 'It is so.', confidence: 0.5, call: null },
  'a capability': { response: '', confidence: 0.5, call: CALL },
  'an unknown capability': { response: '', confidence: 0.5, call: UNKNOWN },
};

function inputOf(decider: DeciderKind, changes: Partial<ActionInput> = {}): ActionInput {
  const options = { clock: CLOCK, capabilities: [LOOKUP], newId: () => 'explored', limits: { maxContinuations: 2 } };
  const state = initialState(chainInput({ request: 'Is it so?' }, options));
  return { ...actionInput(state), decider, ...changes };
}

/** The capability loop with everything that a model, a capability and a decider can do to it. */
export const actionChart = {
  machine: actionMachine,
  inputs: {
    'a function decides': inputOf('function'),
    'the model decides': inputOf('model'),
    'the model decides, with one call': inputOf('model', { maxTokens: 1 }),
    'nobody decides': inputOf('none'),
    'the step is given': inputOf('function', { call: CALL }),
  },
  outcomes: {
    classification: (input) => [...attemptOutcomes(input as AttemptInput, REPLIES), reportsUsage],
    continuation: (input) => [...attemptOutcomes(input as AttemptInput, CONTINUATIONS), reportsUsage],
    validateArguments: [done(FITS, 'fit'), done(MISFIT, 'do not fit'), fails()],
    executeCapability: [done(WORKED, 'works'), done(THREW, 'throws'), fails()],
    decideContinuation: [
      ...Object.entries(CONTINUATIONS).map(([name, said]) => done(said, name)),
      done('nonsense', 'nonsense'),
      fails(),
    ],
  },
  /** The step wished for, what was said of it, how many were taken, and what came of them. */
  abstraction: ({
    context: { call, runs, begun, continuation, problem, failure, stopReason, results, execution, usageInFlight },
  }) => ({
    ...{
      call: call?.capability,
      runs,
      begun,
      continuation,
      problem: problem?.code,
      failure: failure?.code,
      stopReason,
    },
    ...{ results: results.length, last: results.at(-1)?.code },
    isAsked: execution.usage.modelCalls + usageInFlight.modelCalls > 0,
  }),
} satisfies ExploredChart<typeof actionMachine>;
