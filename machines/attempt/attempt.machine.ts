import type { AttemptActors } from './actors.ts';
import { attemptSetup } from './setup.ts';
import { attemptOutcome, callInput, initialAttemptState, validationInput } from './state.ts';

/**
 * Gets one typed value from a language model: it streams a reply, validates it, and retries while that can help. Corrections and
 * transport retries have separate limits. The machine always ends in `succeeded` or `failed`.
 */
export const attemptMachine = attemptSetup.createMachine({
  id: 'attempt',
  description: 'Gets one validated value from a model.',
  context: ({ input }) => initialAttemptState(input),
  output: ({ context }) => attemptOutcome(context),
  initial: 'calling',
  after: {
    totalDeadline: [
      { guard: 'callIsUnderWay', target: '.recordingFailure', actions: 'recordTotalDeadline' },
      { target: '.exhausted', actions: 'recordTotalDeadline' },
    ],
  },
  states: {
    calling: {
      description: 'One call of the model, unless it could exceed the cost limit.',
      entry: ['emitStart', 'reportUsage', 'reportModels'],
      always: { guard: 'costLimitReached', target: 'recordingFailure', actions: 'recordNotMade' },
      invoke: {
        src: 'readReply',
        input: ({ context }) => callInput(context),
        onError: { target: 'recordingFailure', actions: { type: 'recordError', params: ({ event }) => event } },
      },
      initial: 'opening',
      states: {
        opening: {
          description: 'The model is called; nothing has arrived yet.',
          on: {
            'reply.started': {
              target: 'streaming',
              actions: [{ type: 'assignProgress', params: ({ event }) => event }, 'reportUsage'],
            },
          },
          after: { firstChunkDeadline: { target: '#attempt.recordingFailure', actions: 'recordNoFirstChunk' } },
        },
        streaming: {
          description: 'Text arrives, and partial values are shown.',
          on: {
            'reply.progressed': {
              target: 'streaming',
              reenter: true,
              actions: [{ type: 'assignProgress', params: ({ event }) => event }, 'reportUsage'],
            },
          },
          after: { stallDeadline: { target: '#attempt.recordingFailure', actions: 'recordStall' } },
        },
      },
      on: {
        'reply.lost': { target: 'calling', reenter: true, actions: ['recordLoss', 'emitEnd', 'clearAttempt'] },
        'reply.ended': [
          {
            guard: 'replyIsBroken',
            target: 'recordingFailure',
            actions: { type: 'assignReply', params: ({ event }) => event },
          },
          {
            guard: { type: 'replyIsUnvalidated', params: ({ event }) => event },
            target: 'validating',
            actions: [{ type: 'assignReply', params: ({ event }) => event }, 'reportUsage'],
          },
          {
            guard: { type: 'replyIsValid', params: ({ event }) => event.validation },
            target: 'succeeded',
            actions: [
              { type: 'assignReply', params: ({ event }) => event },
              'emitEnd',
              'emitModelStatus',
              'reportModels',
            ],
          },
          { target: 'recordingFailure', actions: { type: 'assignReply', params: ({ event }) => event } },
        ],
      },
    },
    validating: {
      description: 'A schema that is asynchronous validates the complete value.',
      invoke: {
        src: 'validateReply',
        input: ({ context }) => validationInput(context, context.reply?.value),
        onDone: [
          {
            guard: { type: 'replyIsValid', params: ({ event }) => event.output },
            target: 'succeeded',
            actions: [
              { type: 'assignValue', params: ({ event }) => event.output },
              'emitEnd',
              'emitModelStatus',
              'reportModels',
            ],
          },
          { target: 'recordingFailure', actions: { type: 'recordMismatch', params: ({ event }) => event.output } },
        ],
        onError: { target: 'recordingFailure', actions: { type: 'recordError', params: ({ event }) => event } },
      },
    },
    recordingFailure: {
      description: 'The failure is recorded, partial values are discarded, and the policy decides what happens next.',
      entry: ['recordFailure', 'emitEnd', 'emitModelStatus', 'reportUsage', 'reportModels'],
      always: [
        { guard: 'fallbackIsDue', target: 'backingOff', actions: ['prepareFallback', 'emitRetry'] },
        { guard: 'failureIsHopeless', target: 'exhausted' },
        { guard: 'retryIsAllowed', target: 'backingOff', actions: ['prepareRetry', 'emitRetry'] },
        { target: 'exhausted' },
      ],
    },
    backingOff: {
      description: 'Waits before the next call. A fallback model starts at once, and by default a correction.',
      always: { guard: 'waitIsOver', target: 'calling' },
      after: { backoff: 'calling' },
      exit: 'clearAttempt',
    },
    exhausted: {
      description: 'No call is left. The policy may give a value in place of a reply.',
      entry: 'finalize',
      always: [{ guard: 'policyGivesValue', target: 'finalizing' }, { target: 'failed' }],
    },
    finalizing: {
      description: 'The value that the policy gave is validated against the schema.',
      invoke: {
        src: 'validateReply',
        input: ({ context }) => validationInput(context, context.final?.value),
        onDone: [
          {
            guard: { type: 'replyIsValid', params: ({ event }) => event.output },
            target: 'succeeded',
            actions: { type: 'assignFinalValue', params: ({ event }) => event.output },
          },
          { target: 'failed', actions: { type: 'recordInvalidFinal', params: ({ event }) => event.output } },
        ],
        onError: { target: 'failed', actions: { type: 'recordError', params: ({ event }) => event } },
      },
    },
    succeeded: { description: 'A validated value.', type: 'final' },
    failed: { description: 'No value; the last failure is the reason.', type: 'final' },
  },
});

/** Returns the machine with its actors. */
export function createAttemptMachine(actors: AttemptActors): typeof attemptMachine {
  return attemptMachine.provide({ actors });
}
