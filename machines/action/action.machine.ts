import type { ActionState } from '../contracts/action-state.ts';
import type { CapabilityCall, StopReason } from '../contracts/capability.ts';
import { approvalRequests, editsToValidate } from '../policies/approvals.ts';
import { callsOfStep, capabilityInput } from '../policies/capability-loop.ts';
import { actionAttempt, continuationAttempt } from '../policies/continuation.ts';
import { unexpectedFailure } from '../policies/failures.ts';
import type { ActionActors } from './actors.ts';
import { actionOutcome, actionSetup, initialActionState } from './setup.ts';

const problemOf = ({ error }: { readonly error: unknown }): string => unexpectedFailure(error).message;

function validationInput({ capabilityMs, sessionId, input }: ActionState, calls: readonly CapabilityCall[]) {
  const clientTools = input.capabilities.filter(({ client }) => client);
  return { calls, sessionId, timeoutMs: capabilityMs, ...(clientTools.length > 0 && { clientTools }) };
}

/** Records why no more calls run. */
const stop = <Reason extends StopReason>(reason: Reason) => ({ type: 'recordStop', params: { reason } }) as const;

/** A slot runs one call of a step after another, until no call waits. */
const slot = (number: 1 | 2 | 3 | 4) =>
  actionSetup.createStateConfig({
    description: 'Runs one call of the step after another.',
    initial: 'choosing',
    states: {
      choosing: {
        description: 'Does a call wait for this slot?',
        always: [
          { guard: { type: 'callWaits', params: { slot: number } }, target: 'executing' },
          { target: 'finished' },
        ],
      },
      executing: {
        description: 'The capability runs. An error or a timeout also counts as a result.',
        entry: [
          { type: 'startCall', params: { slot: number } },
          { type: 'emitCallStart', params: { slot: number } },
          'reportProgress',
        ],
        invoke: {
          src: 'executeCapability',
          id: `call${number}`,
          input: ({ context }) => capabilityInput(context, number),
          onDone: {
            target: 'choosing',
            actions: [
              { type: 'endCall', params: ({ event }) => ({ slot: number, result: event.output }) },
              { type: 'emitCallEnd', params: { slot: number } },
              'reportProgress',
            ],
          },
          onError: {
            target: 'choosing',
            actions: [
              { type: 'failCall', params: ({ event }) => ({ slot: number, error: event.error }) },
              { type: 'emitCallEnd', params: { slot: number } },
              'reportProgress',
            ],
          },
        },
        after: {
          capabilityDeadline: {
            target: 'choosing',
            actions: [
              { type: 'endCallAtTimeout', params: { slot: number } },
              { type: 'emitCallEnd', params: { slot: number } },
              'reportProgress',
            ],
          },
        },
      },
      finished: { description: 'No call waits for this slot.', type: 'final' },
    },
  });

/**
 * The bounded capability loop of a request. It runs in the chain or on its own: classify once → resolve → validate the
 * arguments → approve → execute → continue? The model is asked once for an answer and the capabilities to run. After that, the continuation
 * decider chooses each step, for at most `maxContinuations` runs. In a chain, a later Action of the same run continues the
 * loop of the earlier one: it reuses the classification, and its runs count toward the same limit.
 */
export const actionMachine = actionSetup.createMachine({
  id: 'actionLoop',
  description: 'Answers with what is known, and runs capabilities while the decider asks for more.',
  context: ({ input }) => initialActionState(input),
  output: ({ context }) => actionOutcome(context),
  initial: 'beginning',
  on: {
    'usage.reported': { actions: [{ type: 'assignUsageInFlight', params: ({ event }) => event }, 'reportUsage'] },
    'models.learned': { actions: [{ type: 'assignModels', params: ({ event }) => event }, 'reportModels'] },
    'approval.given': { actions: { type: 'emitApprovalRefused', params: ({ event }) => event } },
  },
  states: {
    beginning: {
      description:
        'Was the first step given as input? Was the request classified before? If neither, the model classifies it.',
      always: [
        { guard: 'stepGiven', target: 'resolving' },
        { guard: 'notClassified', target: 'classifying' },
        { guard: 'nothingToContinue', target: 'concluded' },
        { guard: 'continuationLimitReached', target: 'concluded', actions: stop('limit_reached') },
        { target: 'continuing' },
      ],
    },
    classifying: {
      description: 'The model is asked once per request. It answers, and may call capabilities.',
      invoke: {
        src: 'attempt',
        id: 'classification',
        input: ({ context }) => actionAttempt(context),
        onDone: [
          {
            guard: { type: 'attemptSucceeded', params: ({ event }) => event.output },
            target: 'resolving',
            actions: [{ type: 'assignReply', params: ({ event }) => event.output }, 'reportUsage'],
          },
          {
            target: 'failed',
            actions: [{ type: 'assignReply', params: ({ event }) => event.output }, stop('no_reply')],
          },
        ],
        onError: {
          target: 'failed',
          actions: [{ type: 'recordError', params: ({ event }) => event }, stop('no_reply')],
        },
      },
    },
    resolving: {
      description: 'Are there calls to make, and runs left for them, of known capabilities?',
      always: [
        { guard: 'nothingToRun', target: 'concluded' },
        { guard: 'continuationLimitReached', target: 'concluded', actions: ['clearStep', stop('limit_reached')] },
        { guard: 'nextStepInvalid', target: 'rejecting', actions: 'recordInvalidStep' },
        {
          guard: 'sameCallRepeated',
          target: 'concluded',
          actions: ['recordRepeat', 'dropStep', stop('same_call_repeated')],
        },
        { target: 'validatingArguments' },
      ],
    },
    validatingArguments: {
      description: 'The arguments of each call are validated against the schema of its capability.',
      invoke: {
        src: 'validateArguments',
        input: ({ context }) => validationInput(context, callsOfStep(context)),
        onDone: [
          {
            guard: { type: 'argumentsFit', params: ({ event }) => ({ checks: event.output }) },
            target: 'approving',
            actions: { type: 'beginStep', params: ({ event }) => ({ checks: event.output }) },
          },
          {
            target: 'rejecting',
            actions: [
              { type: 'beginStep', params: ({ event }) => ({ checks: event.output }) },
              { type: 'recordMismatch', params: ({ event }) => ({ checks: event.output }) },
            ],
          },
        ],
        onError: { target: 'rejecting', actions: { type: 'recordSchemaError', params: ({ event }) => event } },
      },
      after: { schemaDeadline: { target: 'rejecting', actions: 'recordSchemaTimeout' } },
    },
    approving: {
      description: 'Does a call need approval? Who decides? Are edited arguments still to be validated?',
      always: [
        { guard: 'programApproves', target: 'askingProgram' },
        { guard: 'approvalPending', target: 'awaitingApproval' },
        { guard: 'editsPending', target: 'validatingEdits' },
        { target: 'calling' },
      ],
    },
    awaitingApproval: {
      description: 'Asks the user to approve each call that needs it, and waits for all answers.',
      entry: ['askForApproval', 'startApprovalDeadline', 'reportProgress'],
      exit: 'stopApprovalDeadline',
      always: { guard: 'allAnswered', target: 'approving' },
      on: {
        'approval.given': [
          {
            guard: { type: 'approvalFits', params: ({ event }) => event },
            actions: [{ type: 'answerApproval', params: ({ event }) => event }, 'reportProgress'],
          },
          { actions: { type: 'emitApprovalRefused', params: ({ event }) => event } },
        ],
        'approval.expired': { actions: ['timeOutApprovals', 'reportProgress'] },
      },
    },
    askingProgram: {
      description:
        'The program’s function decides about the calls that need its approval. Without a decision, they are denied.',
      invoke: {
        src: 'approveCalls',
        input: ({ context }) => approvalRequests(context),
        onDone: {
          target: 'approving',
          actions: {
            type: 'answerByProgram',
            params: ({ event }) => ({ answers: event.output, problem: 'approve() gave no decision' }),
          },
        },
        onError: {
          target: 'approving',
          actions: { type: 'answerByProgram', params: ({ event }) => ({ answers: [], problem: problemOf(event) }) },
        },
      },
      after: {
        schemaDeadline: {
          target: 'approving',
          actions: { type: 'answerByProgram', params: { answers: [], problem: 'approve() did not decide in time' } },
        },
      },
    },
    validatingEdits: {
      description:
        'Edited arguments are validated like those of the model. If they are invalid, the user is asked again.',
      invoke: {
        src: 'validateArguments',
        input: ({ context }) => validationInput(context, editsToValidate(context)),
        onDone: {
          target: 'approving',
          actions: { type: 'applyEdits', params: ({ event }) => ({ checks: event.output, problem: 'not validated' }) },
        },
        onError: {
          target: 'approving',
          actions: { type: 'applyEdits', params: ({ event }) => ({ checks: [], problem: problemOf(event) }) },
        },
      },
      after: {
        schemaDeadline: {
          target: 'approving',
          actions: { type: 'applyEdits', params: { checks: [], problem: 'the schema did not finish in time' } },
        },
      },
    },
    rejecting: {
      description:
        'No call of the step is valid. In a first step, each becomes a failed result; a later step changes no result.',
      always: [
        {
          guard: 'isFirstStep',
          target: 'concluded',
          actions: ['endInvalidCalls', 'emitInvalidCalls', 'recordStep', stop('invalid_next_step')],
        },
        { target: 'concluded', actions: ['dropStep', stop('invalid_next_step')] },
      ],
    },
    calling: {
      description: 'The calls of the step run, up to four at a time: one in each slot.',
      type: 'parallel',
      entry: 'emitInvalidCalls',
      states: { slot1: slot(1), slot2: slot(2), slot3: slot(3), slot4: slot(4) },
      onDone: 'recording',
    },
    recording: {
      description: 'The results of the step are recorded in the order of its calls, before a decider is asked.',
      entry: ['recordStep', 'reportProgress'],
      always: [
        { guard: 'callsLeftOver', target: 'concluded', actions: ['dropStep', stop('limit_reached')] },
        { target: 'continuing' },
      ],
    },
    continuing: {
      description: 'Who decides what comes next?',
      always: [
        { guard: 'functionDecides', target: 'asking' },
        { guard: 'modelMayDecide', target: 'thinking' },
        { guard: 'hasDecider', target: 'concluded', actions: stop('budget_exhausted') },
        { target: 'concluded', actions: stop('one_round') },
      ],
    },
    asking: {
      description: 'The user’s function decides what comes next.',
      invoke: {
        src: 'decideContinuation',
        input: ({ context }) => ({
          request: context.input.request,
          reply: context.reply,
          results: context.results,
          runsLeft: context.maxContinuations - context.runs,
        }),
        onDone: {
          target: 'branching',
          actions: { type: 'assignContinuation', params: ({ event }) => ({ reply: event.output }) },
        },
        onError: {
          target: 'concluded',
          actions: [{ type: 'recordDeciderError', params: ({ event }) => event }, stop('decider_failed')],
        },
      },
      after: {
        answerDeadline: { target: 'concluded', actions: ['recordDeciderTimeout', stop('decider_failed')] },
      },
    },
    thinking: {
      description: 'The model decides what comes next, based on the history of all steps.',
      invoke: {
        src: 'attempt',
        id: 'continuation',
        input: ({ context }) => continuationAttempt(context),
        onDone: [
          {
            guard: { type: 'attemptSucceeded', params: ({ event }) => event.output },
            target: 'branching',
            actions: [{ type: 'assignContinuationOutcome', params: ({ event }) => event.output }, 'reportUsage'],
          },
          {
            target: 'concluded',
            actions: [
              { type: 'assignContinuationOutcome', params: ({ event }) => event.output },
              stop('decider_failed'),
            ],
          },
        ],
        onError: {
          target: 'concluded',
          actions: [{ type: 'recordDeciderError', params: ({ event }) => event }, stop('decider_failed')],
        },
      },
    },
    branching: {
      description: 'Is the loop done? If not, it takes the next step.',
      entry: 'emitContinuation',
      always: [
        { guard: 'continuationUnreadable', target: 'concluded', actions: stop('decider_failed') },
        { guard: 'isDone', target: 'concluded', actions: ['assignFinalOutput', stop('done')] },
        { target: 'resolving' },
      ],
    },
    concluded: {
      description: 'A response, and the results of all runs.',
      type: 'final',
      entry: 'emitStop',
    },
    failed: { description: 'The model gave no usable response.', type: 'final' },
  },
});

/** Returns the machine with its actors. */
export function createActionMachine(actors: ActionActors): typeof actionMachine {
  return actionMachine.provide({ actors });
}
