import type { SnapshotFrom } from 'xstate';
import { actionMachine } from '../../../machines/action/action.machine.ts';
import type { ApproveCallsInput, ValidateArgumentsInput } from '../../../machines/action/actors.ts';
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
import { type ActorOutcome, done, fails } from '../exploration/occurrences.ts';
import { attemptOutcomes, CLOCK, LOOKUP, reportsModels, reportsUsage } from './stand-ins.ts';

const CALL: CapabilityCall = { capability: LOOKUP.name, arguments: '{}' };
/** A call that needs approval: the second one has another digest. */
const ASKED: CapabilityCall = { capability: LOOKUP.name, arguments: '{"ask":1}' };
const ASKED_TOO: CapabilityCall = { capability: LOOKUP.name, arguments: '{"ask":2}' };
/** A tool that only the client can run, and a call of it. */
const CLIENT_TOOL = { name: 'ask_client', description: 'Asks the client.', arguments: { type: 'object' } };
const CLIENT_CALL: CapabilityCall = { capability: CLIENT_TOOL.name, arguments: '{"ask":1}' };
const UNKNOWN: CapabilityCall = { capability: 'unknown', arguments: '{}' };

const INVALID: ArgumentsCheck = { ok: false, code: 'arguments_misfit', problem: 'the arguments are invalid' };

function validCheck({ arguments: text }: CapabilityCall): ArgumentsCheck {
  const given = JSON.parse(text);
  return { ok: true, arguments: given, needsApproval: 'ask' in given };
}

/** Every combination of the program's decisions, for the first two calls. */
function programDecisions(input: unknown): readonly ActorOutcome[] {
  const { calls } = input as ApproveCallsInput;
  const answers = calls.map(({ questionId, digest }) => [
    { questionId, digest, decision: 'approve' as const },
    { questionId, digest, decision: 'approve' as const, arguments: EDITED },
    { questionId, digest, decision: 'deny' as const },
  ]);
  const all = answers.reduce<readonly (readonly unknown[])[]>(
    (before, own) => before.flatMap((decided) => own.map((answer) => [...decided, answer])),
    [[]],
  );
  const responses = calls.map(({ questionId, digest }) => ({ questionId, digest, ...RESPONSE }));
  return [
    ...all.map((decided, at) => done(decided, `decides ${at + 1}`)),
    done(responses, 'responds'),
    done([], 'no decision'),
    fails(),
  ];
}

const EDITED = { edited: true };
const RESPONSE = { decision: 'respond', output: 'found' } as const;

/** The answers to each question of the step, whatever its state, and answers that fit none. */
function answersIn({ context: { step } }: SnapshotFrom<typeof actionMachine>) {
  const questions = step.flatMap(({ approval }) => approval ?? []);
  const answer = { type: 'approval.given', questionId: 'other', digest: 'other', decision: 'approve' } as const;
  return [
    answer,
    ...questions.flatMap(({ questionId, digest }) => [
      { ...answer, questionId },
      { ...answer, questionId, digest },
      // A call that is asked about again is not edited again: its questions would never end.
      ...(numberOf(questionId) > step.length ? [] : [{ ...answer, questionId, digest, arguments: EDITED }]),
      { ...answer, questionId, digest, decision: 'deny' as const },
      // One responded call is enough for all interleavings of a response.
      ...(numberOf(questionId) === 1 ? [{ ...answer, questionId, digest, ...RESPONSE }] : []),
    ]),
  ];
}

const numberOf = (questionId: string): number => Number(/\d+$/u.exec(questionId)?.[0]);

/** The arguments are all valid or all invalid, or only the first ones are valid. */
function checksOf(input: unknown): readonly ActorOutcome[] {
  const { calls } = input as ValidateArgumentsInput;
  const valid = calls.map(validCheck);
  const some = valid.map((check, at) => (at === 0 ? check : INVALID));
  return [
    done(valid, 'valid'),
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
  const { calls = [] } = changes;
  const clientTools = calls.includes(CLIENT_CALL) ? [CLIENT_TOOL] : [];
  const state = initialState(createBareChain(options).createInput({ request: 'Is it so?', clientTools }));
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
    'two calls need approval, in time': inputOf('none', { calls: [ASKED, ASKED_TOO], approvalMs: 1_000 }),
    'one of three calls needs approval': inputOf('none', { calls: [CALL, ASKED, CALL], maxContinuations: 3 }),
    'three calls need approval, one at a time': inputOf('none', {
      calls: [ASKED, ASKED_TOO, ASKED],
      maxContinuations: 3,
      maxParallelCalls: 1,
    }),
    'the program approves': inputOf('function', { calls: [ASKED, ASKED_TOO], approver: 'program' }),
    'the program approves one call, and only the client can run the other': inputOf('none', {
      calls: [CLIENT_CALL, ASKED],
      approver: 'program',
    }),
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
    approveCalls: programDecisions,
    executeCapability: [done(SUCCEEDED, 'succeeds'), done(FAILED, 'throws'), fails()],
    decideContinuation: [
      ...Object.entries(CONTINUATIONS).map(([name, decision]) => done(decision, name)),
      done('nonsense', 'nonsense'),
      fails(),
    ],
  },
  events: answersIn,
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
    approvals: step.map(
      ({ approval, slot, result }) =>
        approval && [approval.questionId, approval.digest, approval.state, slot, result?.code],
    ),
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
