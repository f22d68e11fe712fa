import { actionMachine } from '../../../machines/action/action.machine.ts';
import type { ValidateArgumentsInput } from '../../../machines/action/actors.ts';
import type { ActionInput } from '../../../machines/contracts/action-state.ts';
import type { AttemptInput } from '../../../machines/contracts/attempt.ts';
import type {
  ArgumentsCheck,
  CapabilityCall,
  CapabilityResult,
  DeciderKind,
} from '../../../machines/contracts/capability.ts';
import { actionInput } from '../../../machines/policies/phase-calls.ts';
import { initialState } from '../../../machines/policies/progress.ts';
import { createBareChain } from '../../chain/runtime/bare-chain.ts';
import type { ExploredChart } from '../exploration/explore.ts';
import { done, fails, type Outcome } from '../exploration/occurrences.ts';
import { attemptOutcomes, CLOCK, LOOKUP, reportsModels, reportsUsage } from './stand-ins.ts';

const CALL: CapabilityCall = { capability: LOOKUP.name, arguments: '{}' };
const UNKNOWN: CapabilityCall = { capability: 'unknown', arguments: '{}' };

const VALID: ArgumentsCheck = { ok: true, arguments: {} };
const INVALID: ArgumentsCheck = { ok: false, code: 'arguments_misfit', problem: 'the arguments are invalid' };

/** The arguments are all valid or all invalid, or only the first ones are valid. */
function checksOf(input: unknown): readonly Outcome[] {
  const { calls } = input as ValidateArgumentsInput;
  const some = calls.map((_, at) => (at === 0 ? VALID : INVALID));
  return [
    done(
      calls.map(() => VALID),
      'valid',
    ),
    ...(calls.length === 1 ? [] : [done(some, 'only the first valid')]),
    done(
      calls.map(() => INVALID),
      'invalid',
    ),
    fails(),
  ];
}

const SUCCEEDED: CapabilityResult = {
  id: 'lookup.1',
  capability: LOOKUP.name,
  arguments: {},
  success: true,
  output: 'found',
  code: null,
  error: null,
  sessionId: null,
  synthesized: false,
  startedAtMs: 0,
  durationMs: 0,
};
const FAILED: CapabilityResult = { ...SUCCEEDED, success: false, output: '', code: 'threw', error: 'out of order' };

const CONTINUATIONS = {
  'stop there': { done: true, finalOutput: null, next: [] },
  'stop with an output': { done: true, finalOutput: 'It is so.', next: [] },
  'another call': { done: false, finalOutput: null, next: [CALL] },
  'a call of an unknown capability': { done: false, finalOutput: null, next: [UNKNOWN] },
  'no next call': { done: false, finalOutput: null, next: [] },
};

const REPLIES = {
  'an answer': { response: 'It is so.', confidence: 0.5, calls: [] },
  'a capability': { response: '', confidence: 0.5, calls: [CALL] },
  'an unknown capability': { response: '', confidence: 0.5, calls: [UNKNOWN] },
  'three capabilities': { response: '', confidence: 0.5, calls: [CALL, UNKNOWN, CALL] },
};

/** What an earlier Action left: an answer, a capability run, and as many as there may be. */
const ANSWERED = { reply: REPLIES['an answer'], prose: false, runs: 0, results: [], memory: [] };
const EARLIER = { ...ANSWERED, reply: REPLIES['a capability'], runs: 1, results: [SUCCEEDED] };
const AT_LIMIT = { ...EARLIER, runs: 2, results: [SUCCEEDED, SUCCEEDED] };

function inputOf(decider: DeciderKind, changes: Partial<ActionInput> = {}): ActionInput {
  const options = { clock: CLOCK, capabilities: [LOOKUP], newId: () => 'explored', limits: { maxContinuations: 2 } };
  const state = initialState(createBareChain(options).createInput({ request: 'Is it so?' }));
  return { ...actionInput(state), decider, hasParent: false, ...changes };
}

/** The capability loop with every outcome of its model, capability and decider. */
export const actionChart = {
  machine: actionMachine,
  inputs: {
    'a function decides': inputOf('function'),
    'the model decides': inputOf('model'),
    'the model decides, without a budget': inputOf('model', { maxTokens: 1 }),
    'no decider': inputOf('none'),
    'the first call is given': inputOf('function', { calls: [CALL] }),
    'calls for all slots are given': inputOf('none', { calls: Array(5).fill(CALL), maxContinuations: 5 }),
    'two calls are given, one at a time': inputOf('none', { calls: [CALL, CALL], maxParallelCalls: 1 }),
    'the model may not repeat a call': inputOf('model', { maxSameCalls: 1 }),
    'the model may neither repeat a call nor make another': inputOf('model', { maxSameCalls: 1, maxContinuations: 1 }),
    'a later Action, a function decides': inputOf('function', { earlier: EARLIER }),
    'a later Action, the model decides': inputOf('model', { earlier: EARLIER }),
    'a later Action without a run, a function decides': inputOf('function', { earlier: ANSWERED }),
    'a later Action without a run, the model decides': inputOf('model', { earlier: ANSWERED }),
    'a later Action at the limit': inputOf('model', { earlier: AT_LIMIT }),
    'a later Action with a new prompt, at the limit': inputOf('function', { earlier: { ...AT_LIMIT, reply: null } }),
  },
  outcomes: {
    classification: (input) => [...attemptOutcomes(input as AttemptInput, REPLIES), reportsUsage, reportsModels],
    continuation: (input) => [...attemptOutcomes(input as AttemptInput, CONTINUATIONS), reportsUsage, reportsModels],
    validateArguments: checksOf,
    executeCapability: [done(SUCCEEDED, 'succeeds'), done(FAILED, 'throws'), fails()],
    decideContinuation: [
      ...Object.entries(CONTINUATIONS).map(([name, decision]) => done(decision, name)),
      done('nonsense', 'nonsense'),
      fails(),
    ],
  },
  events: [],
  /** The next calls and the decision about them, the calls of the step, the number of runs, and their results. */
  abstraction: ({
    context: {
      calls,
      step,
      runs,
      begun,
      continuation,
      problem,
      failure,
      stopReason,
      results,
      execution,
      usageInFlight,
    },
  }) => ({
    calls: calls.map(({ capability }) => capability),
    waiting: step.filter(({ slot, result }) => slot === null && result === null).length,
    ended: step.filter(({ result }) => result !== null).length,
    last: step.at(-1)?.result?.code ?? results.at(-1)?.code,
    lastSlot: step.at(-1)?.slot,
    runs,
    begun,
    continuation,
    problem: problem?.code,
    failure: failure?.code,
    stopReason,
    results: results.length,
    hasCalledModel: execution.usage.modelCalls + usageInFlight.finished.modelCalls > 0,
  }),
} satisfies ExploredChart<typeof actionMachine>;
