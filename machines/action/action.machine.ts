import { actionAttempt, continuationAttempt } from '../policies/continuation.ts';
import { requirePorts } from '../ports.ts';
import { actionOutcome, actionSetup, startAction } from './setup.ts';
import { broken, stop } from './transitions.ts';

/**
 * The bounded capability loop of the Action phase, nested in the chain and usable alone: classify once → resolve → validate the
 * arguments → execute → go on? The model is asked once what it can say and what it would run [R1]; after that the continuation
 * decider drives, for at most `maxContinuations` runs [R3].
 */
export const actionMachine = actionSetup.createMachine({
  id: 'actionLoop',
  description: 'Answers from what is there now, and runs capabilities while the decider wants more.',
  context: ({ input, self }) => {
    requirePorts(self);
    return startAction(input);
  },
  output: ({ context }) => actionOutcome(context),
  initial: 'beginning',
  states: {
    beginning: {
      description: 'Is it known already what to run? Else the request is classified.',
      always: [{ guard: 'stepGiven', target: 'resolving' }, { target: 'classifying' }],
    },
    classifying: {
      description: 'The model answers and says which capability it would run: asked once a request.',
      invoke: {
        src: 'attempt',
        id: 'classification',
        input: ({ context }) => actionAttempt(context),
        onDone: [
          {
            guard: { type: 'attemptSucceeded', params: ({ event }) => event.output },
            target: 'resolving',
            actions: { type: 'takeReply', params: ({ event }) => event.output },
          },
          {
            target: 'failed',
            actions: [{ type: 'takeReply', params: ({ event }) => event.output }, stop('no_reply')],
          },
        ],
        onError: { target: 'failed', actions: [broken('takeError'), stop('no_reply')] },
      },
    },
    resolving: {
      description: 'Is there a step to take: a known capability, and an object of arguments for it?',
      always: [
        { guard: 'nothingToRun', target: 'concluded' },
        { guard: 'nextStepInvalid', target: 'refusing', actions: 'noteInvalidStep' },
        { target: 'validatingArguments' },
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
          { target: 'refusing', actions: { type: 'takeMisfit', params: ({ event }) => event.output } },
        ],
        onError: { target: 'refusing', actions: broken('noteBrokenSchema') },
      },
      after: { answerDeadline: { target: 'refusing', actions: 'noteLateSchema' } },
    },
    refusing: {
      description:
        'A step that cannot be taken: the first is a failed result; a later one leaves the last result as it is.',
      always: [
        {
          guard: 'isFirstStep',
          target: 'concluded',
          actions: ['takeRefusal', 'appendMemory', 'announceResult', stop('invalid_next_step')],
        },
        { target: 'concluded', actions: stop('invalid_next_step') },
      ],
    },
    executing: {
      description: 'The capability runs; throwing or running late is a result too.',
      entry: ['beginRun', 'announceRun'],
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
          target: 'continuing',
          actions: { type: 'takeResult', params: ({ event }) => ({ result: event.output }) },
        },
        onError: { target: 'continuing', actions: broken('noteThrown') },
      },
      after: { capabilityDeadline: { target: 'continuing', actions: 'noteTimeout' } },
    },
    continuing: {
      description: 'The run is remembered, before anybody decides; is there somebody to say what comes next?',
      entry: ['appendMemory', 'announceResult'],
      always: [
        { guard: 'functionDecides', target: 'asking' },
        { guard: 'modelMayDecide', target: 'thinking' },
        { guard: 'hasDecider', target: 'concluded', actions: stop('budget_exhausted') },
        { target: 'concluded', actions: stop('no_decider') },
      ],
    },
    asking: {
      description: 'The function is asked.',
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
          actions: { type: 'takeContinuation', params: ({ event }) => ({ said: event.output }) },
        },
        onError: { target: 'concluded', actions: [broken('noteProblem'), stop('decider_failed')] },
      },
      after: {
        answerDeadline: { target: 'concluded', actions: ['noteLateDecider', stop('decider_failed')] },
      },
    },
    thinking: {
      description: 'The model is asked, with the history of all steps.',
      invoke: {
        src: 'attempt',
        id: 'continuation',
        input: ({ context }) => continuationAttempt(context),
        onDone: [
          {
            guard: { type: 'attemptSucceeded', params: ({ event }) => event.output },
            target: 'branching',
            actions: { type: 'takeThought', params: ({ event }) => event.output },
          },
          {
            target: 'concluded',
            actions: [{ type: 'takeThought', params: ({ event }) => event.output }, stop('decider_failed')],
          },
        ],
        onError: { target: 'concluded', actions: [broken('noteProblem'), stop('decider_failed')] },
      },
    },
    branching: {
      description: 'Done, at the limit, or on to the next step.',
      entry: 'announceContinuation',
      always: [
        { guard: 'continuationUnreadable', target: 'concluded', actions: stop('decider_failed') },
        { guard: 'isDone', target: 'concluded', actions: ['takeFinalOutput', stop('done')] },
        { guard: 'continuationLimitReached', target: 'concluded', actions: ['forgetStep', stop('limit_reached')] },
        { target: 'resolving' },
      ],
    },
    concluded: {
      description: 'A response, and the results of what ran.',
      type: 'final',
      entry: 'announceStop',
    },
    failed: { description: 'The model gave no usable response.', type: 'final' },
  },
});
