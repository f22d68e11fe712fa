import { requirePorts } from '../ports.ts';
import { attemptOutcome, progressOf, startAttempts } from './context.ts';
import { attemptSetup } from './setup.ts';

/**
 * One typed value out of a language model: stream it, validate it, and try again while that can help [A1].
 * Corrections and transport retries are bounded each on its own; the machine always ends in `succeeded` or `failed`.
 */
export const attemptMachine = attemptSetup.createMachine({
  id: 'attempt',
  description: 'Gets one validated value from a model.',
  context: ({ input, self }) => {
    requirePorts(self);
    return startAttempts(input);
  },
  output: ({ context }) => attemptOutcome(context),
  initial: 'calling',
  after: {
    totalDeadline: [
      { guard: 'callIsUnderWay', target: '.recordingFailure', actions: 'noteTotalDeadline' },
      { target: '.failed', actions: 'noteTotalDeadline' },
    ],
  },
  states: {
    calling: {
      description: 'One call of the model, from opening it to the end of its stream.',
      entry: 'announceStart',
      invoke: {
        src: 'readReply',
        input: ({ context }) => ({
          attemptId: context.id,
          task: context.task,
          attempt: context.execution.attempts.length + 1,
          model: context.execution.fallbacks,
          input: context.input,
          feedback: context.feedback,
          policy: context.policy,
        }),
        onError: {
          target: 'recordingFailure',
          actions: { type: 'takeError', params: ({ event }) => ({ error: event.error }) },
        },
      },
      initial: 'opening',
      states: {
        opening: {
          description: 'Called, and nothing has come yet.',
          on: {
            'reply.started': {
              target: 'streaming',
              actions: { type: 'noteProgress', params: ({ event }) => progressOf(event) },
            },
          },
          after: { firstChunkDeadline: { target: '#attempt.recordingFailure', actions: 'noteNoFirstChunk' } },
        },
        streaming: {
          description: 'Text arrives; partial values are shown while it does.',
          on: {
            'reply.progressed': {
              target: 'streaming',
              reenter: true,
              actions: { type: 'noteProgress', params: ({ event }) => progressOf(event) },
            },
          },
          after: { stallDeadline: { target: '#attempt.recordingFailure', actions: 'noteStall' } },
        },
      },
      on: {
        'reply.lost': { target: 'calling', reenter: true, actions: ['recordLoss', 'announceEnd', 'clearAttempt'] },
        'reply.ended': [
          {
            guard: 'replyIsBroken',
            target: 'recordingFailure',
            actions: {
              type: 'takeReply',
              params: ({ event }) => ({ reply: event.reply, progress: progressOf(event) }),
            },
          },
          {
            target: 'validating',
            actions: {
              type: 'takeReply',
              params: ({ event }) => ({ reply: event.reply, progress: progressOf(event) }),
            },
          },
        ],
      },
    },
    validating: {
      description: 'The whole value is held against its schema.',
      invoke: {
        src: 'validateReply',
        input: ({ context }) => ({ task: context.task, value: context.reply?.value }),
        onDone: [
          {
            guard: { type: 'replyIsValid', params: ({ event }) => event.output },
            target: 'succeeded',
            actions: { type: 'takeValue', params: ({ event }) => event.output },
          },
          { target: 'recordingFailure', actions: { type: 'takeMisfit', params: ({ event }) => event.output } },
        ],
        onError: {
          target: 'recordingFailure',
          actions: { type: 'takeError', params: ({ event }) => ({ error: event.error }) },
        },
      },
    },
    recordingFailure: {
      description: 'The attempt failed: it is recorded, its partial values are void, and the policy decides.',
      entry: ['recordFailure', 'announceEnd'],
      always: [
        { guard: 'fallbackIsDue', target: 'backingOff', actions: ['prepareFallback', 'announceRetry'] },
        { guard: 'failureIsHopeless', target: 'failed' },
        { guard: 'retryIsAllowed', target: 'backingOff', actions: ['prepareRetry', 'announceRetry'] },
        { target: 'failed' },
      ],
    },
    backingOff: {
      description: 'Waits before the next call; a correction and another model are not waited for.',
      always: { guard: 'waitIsOver', target: 'calling' },
      after: { backoff: 'calling' },
      exit: 'clearAttempt',
    },
    succeeded: { description: 'A validated value.', type: 'final', entry: 'announceEnd' },
    failed: { description: 'No value: the last failure says why.', type: 'final' },
  },
});
