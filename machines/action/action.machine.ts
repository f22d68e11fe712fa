import { actionAttempt, continuationAttempt } from '../policies/continuation.ts';
import type { ActionActors } from './actors.ts';
import { actionOutcome, actionSetup, initialActionState } from './setup.ts';

/**
 * The bounded capability loop of a request. It runs in the chain or on its own: classify once → resolve → validate the
 * arguments → execute → continue? The model is asked once for an answer and a capability to run. After that, the continuation
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
  },
  states: {
    beginning: {
      description:
        'Was the first step given as input? Was the request classified before? If neither, the model classifies it.',
      always: [
        { guard: 'stepGiven', target: 'resolving' },
        { guard: 'notClassified', target: 'classifying' },
        { guard: 'nothingToContinue', target: 'concluded' },
        {
          guard: 'continuationLimitReached',
          target: 'concluded',
          actions: { type: 'recordStop', params: { reason: 'limit_reached' } },
        },
        { target: 'continuing' },
      ],
    },
    classifying: {
      description: 'The model, asked once per request, answers and names the capability to run.',
      invoke: {
        src: 'attempt',
        id: 'classification',
        input: ({ context }) => actionAttempt(context),
        onDone: [
          {
            guard: { type: 'attemptSucceeded', params: ({ event }) => event.output },
            target: 'resolving',
            actions: { type: 'assignReply', params: ({ event }) => event.output },
          },
          {
            target: 'failed',
            actions: [
              { type: 'assignReply', params: ({ event }) => event.output },
              { type: 'recordStop', params: { reason: 'no_reply' } },
            ],
          },
        ],
        onError: {
          target: 'failed',
          actions: [
            { type: 'recordError', params: ({ event }) => event },
            { type: 'recordStop', params: { reason: 'no_reply' } },
          ],
        },
      },
    },
    resolving: {
      description:
        'Is there a step to take, and a run left for it, with a known capability and arguments that are an object?',
      always: [
        { guard: 'nothingToRun', target: 'concluded' },
        {
          guard: 'continuationLimitReached',
          target: 'concluded',
          actions: ['clearStep', { type: 'recordStop', params: { reason: 'limit_reached' } }],
        },
        { guard: 'nextStepInvalid', target: 'refusing', actions: 'recordInvalidStep' },
        { target: 'validatingArguments' },
      ],
    },
    validatingArguments: {
      description: 'The arguments are validated against the schema of the capability.',
      invoke: {
        src: 'validateArguments',
        input: ({ context }) => context.call ?? { capability: '', arguments: '' },
        onDone: [
          {
            guard: { type: 'argumentsFit', params: ({ event }) => event.output },
            target: 'executing',
            actions: { type: 'assignArguments', params: ({ event }) => event.output },
          },
          { target: 'refusing', actions: { type: 'recordMismatch', params: ({ event }) => event.output } },
        ],
        onError: { target: 'refusing', actions: { type: 'recordSchemaError', params: ({ event }) => event } },
      },
      after: { answerDeadline: { target: 'refusing', actions: 'recordSchemaTimeout' } },
    },
    refusing: {
      description:
        'The step is invalid. A first step becomes a failed result; a later one leaves the last result unchanged.',
      always: [
        {
          guard: 'isFirstStep',
          target: 'concluded',
          actions: [
            'recordInvalidCall',
            'appendMemory',
            'emitRunEnd',
            { type: 'recordStop', params: { reason: 'invalid_next_step' } },
          ],
        },
        { target: 'concluded', actions: { type: 'recordStop', params: { reason: 'invalid_next_step' } } },
      ],
    },
    executing: {
      description: 'The capability runs. An error or a timeout also counts as a result.',
      entry: ['startRun', 'emitRunStart', 'reportProgress'],
      invoke: {
        src: 'executeCapability',
        input: ({ context }) => ({
          runId: context.input.runId,
          step: `${context.id}.${context.begun}`,
          capability: context.call?.capability ?? '',
          arguments: context.checked,
          sessionId: context.sessionId,
          maxResultChars: context.maxResultChars,
        }),
        onDone: {
          target: 'recording',
          actions: { type: 'assignResult', params: ({ event }) => ({ result: event.output }) },
        },
        onError: { target: 'recording', actions: { type: 'recordRunError', params: ({ event }) => event } },
      },
      after: { capabilityDeadline: { target: 'recording', actions: 'recordRunTimeout' } },
    },
    recording: {
      description: 'The run is remembered before anyone decides what follows it.',
      entry: ['appendMemory', 'emitRunEnd', 'reportProgress'],
      always: 'continuing',
    },
    continuing: {
      description: 'Who decides what comes next?',
      always: [
        { guard: 'functionDecides', target: 'asking' },
        { guard: 'modelMayDecide', target: 'thinking' },
        {
          guard: 'hasDecider',
          target: 'concluded',
          actions: { type: 'recordStop', params: { reason: 'budget_exhausted' } },
        },
        { target: 'concluded', actions: { type: 'recordStop', params: { reason: 'no_decider' } } },
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
          actions: [
            { type: 'recordDeciderError', params: ({ event }) => event },
            { type: 'recordStop', params: { reason: 'decider_failed' } },
          ],
        },
      },
      after: {
        answerDeadline: {
          target: 'concluded',
          actions: ['recordDeciderTimeout', { type: 'recordStop', params: { reason: 'decider_failed' } }],
        },
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
            actions: { type: 'assignContinuationOutcome', params: ({ event }) => event.output },
          },
          {
            target: 'concluded',
            actions: [
              { type: 'assignContinuationOutcome', params: ({ event }) => event.output },
              { type: 'recordStop', params: { reason: 'decider_failed' } },
            ],
          },
        ],
        onError: {
          target: 'concluded',
          actions: [
            { type: 'recordDeciderError', params: ({ event }) => event },
            { type: 'recordStop', params: { reason: 'decider_failed' } },
          ],
        },
      },
    },
    branching: {
      description: 'Is the loop done? If not, it takes the next step.',
      entry: 'emitContinuation',
      always: [
        {
          guard: 'continuationUnreadable',
          target: 'concluded',
          actions: { type: 'recordStop', params: { reason: 'decider_failed' } },
        },
        {
          guard: 'isDone',
          target: 'concluded',
          actions: ['assignFinalOutput', { type: 'recordStop', params: { reason: 'done' } }],
        },
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
