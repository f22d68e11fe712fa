import { requirePorts } from '../ports.ts';
import { actionOutcome, actionSetup, startAction } from './setup.ts';

/**
 * The bounded capability loop of the Action phase. The model is asked once what it can say and what it would run; after that
 * the continuation decider drives, for at most `maxContinuations` runs.
 */
export const actionMachine = actionSetup.createMachine({
  id: 'actionLoop',
  description: 'Answers from what is there now, and runs capabilities while the decider wants more.',
  context: ({ input, self }) => {
    requirePorts(self);
    return startAction(input);
  },
  output: ({ context }) => actionOutcome(context),
  initial: 'responding',
  states: {
    responding: {
      description: 'The model answers and says which capability it would run: asked once a request.',
      invoke: {
        src: 'attempt',
        id: 'attempt',
        input: ({ context }) => ({ id: context.id, task: 'action', input: context.input, policy: context.policy }),
        onDone: [
          {
            guard: { type: 'attemptSucceeded', params: ({ event }) => event.output },
            target: 'resolving',
            actions: { type: 'takeOutcome', params: ({ event }) => event.output },
          },
          { target: 'failed', actions: { type: 'takeOutcome', params: ({ event }) => event.output } },
        ],
        onError: { target: 'failed', actions: { type: 'takeError', params: ({ event }) => ({ error: event.error }) } },
      },
    },
    resolving: {
      description: 'Is there a capability to run, and is it known?',
      always: [
        { guard: 'nothingToRun', target: 'concluded' },
        { guard: 'capabilityKnown', target: 'validatingArguments' },
        {
          target: 'concluded',
          actions: ['noteUnknown', { type: 'noteStop', params: { reason: 'invalid_next_step' } }],
        },
      ],
    },
    validatingArguments: {
      description: 'The arguments are held against the schema of the capability.',
      invoke: {
        src: 'validateArguments',
        input: ({ context }) => context.call ?? { capability: '', arguments: '' },
        onDone: [
          {
            guard: { type: 'argumentsFit', params: ({ event }) => event.output },
            target: 'executing',
            actions: { type: 'takeArguments', params: ({ event }) => event.output },
          },
          {
            target: 'concluded',
            actions: [
              { type: 'takeArguments', params: ({ event }) => event.output },
              { type: 'noteStop', params: { reason: 'invalid_next_step' } },
            ],
          },
        ],
        onError: {
          target: 'concluded',
          actions: [
            { type: 'noteProblem', params: ({ event }) => ({ error: event.error }) },
            { type: 'noteStop', params: { reason: 'invalid_next_step' } },
          ],
        },
      },
    },
    executing: {
      description: 'The capability runs; throwing or running late is a result too.',
      entry: 'announceRun',
      invoke: {
        src: 'executeCapability',
        input: ({ context }) => ({ capability: context.call?.capability ?? '', arguments: context.checked }),
        onDone: {
          target: 'continuing',
          actions: { type: 'takeResult', params: ({ event }) => ({ result: event.output }) },
        },
        onError: {
          target: 'continuing',
          actions: { type: 'noteThrown', params: ({ event }) => ({ error: event.error }) },
        },
      },
      after: { capabilityDeadline: { target: 'continuing', actions: 'noteTimeout' } },
    },
    continuing: {
      description: 'Is somebody there to say what comes next?',
      entry: 'announceResult',
      always: [
        { guard: 'hasDecider', target: 'deciding' },
        { target: 'concluded', actions: { type: 'noteStop', params: { reason: 'no_decider' } } },
      ],
    },
    deciding: {
      description: 'The continuation decider looks at all results so far.',
      invoke: {
        src: 'decideContinuation',
        input: ({ context }) => ({
          request: context.input.request,
          reply: context.reply ?? { response: '', confidence: 0, call: null },
          results: context.results,
        }),
        onDone: {
          target: 'branching',
          actions: { type: 'takeContinuation', params: ({ event }) => ({ said: event.output }) },
        },
        onError: {
          target: 'concluded',
          actions: [
            { type: 'noteProblem', params: ({ event }) => ({ error: event.error }) },
            { type: 'noteStop', params: { reason: 'decider_failed' } },
          ],
        },
      },
      after: {
        capabilityDeadline: {
          target: 'concluded',
          actions: ['noteLateDecider', { type: 'noteStop', params: { reason: 'decider_failed' } }],
        },
      },
    },
    branching: {
      description: 'Done, at the limit, or on to the next step.',
      always: [
        { guard: 'continuationUnreadable', target: 'concluded' },
        {
          guard: 'isDone',
          target: 'concluded',
          actions: ['takeFinalOutput', { type: 'noteStop', params: { reason: 'done' } }],
        },
        {
          guard: 'continuationLimitReached',
          target: 'concluded',
          actions: { type: 'noteStop', params: { reason: 'limit_reached' } },
        },
        { target: 'resolving' },
      ],
    },
    concluded: { description: 'A response, and the results of what ran.', type: 'final', entry: 'announceStop' },
    failed: { description: 'The model gave no usable response.', type: 'final' },
  },
});
