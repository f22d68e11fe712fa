import { actionInput } from '../policies/phase-input.ts';
import { initialState } from '../policies/progress.ts';
import { answerOf } from '../policies/synthesis/state.ts';
import { requirePorts } from '../ports.ts';
import { experience } from './experience.ts';
import { recalling, remembering } from './session.ts';
import { chainSetup } from './setup.ts';
import { synthesizing } from './synthesizing.ts';
import {
  begin,
  brokenOff,
  completeBy,
  goOnWith,
  leaveUncompared,
  onBroken,
  onDeadline,
  onStopped,
  routeTo,
  settle,
  think,
} from './transitions.ts';
import { understanding } from './understanding.ts';

/**
 * PostChain: a request goes through six phases, again and again while it pays, and always comes back as an answer.
 *
 * `routing` leads into a cycle, `deciding` out of it; `recovering` takes every failed phase; `synthesizing` is where all ways
 * end, and it cannot fail. The names are in setup.ts, the edges that come once a phase in edges.ts, the phases of several
 * steps in files of their own.
 */
export const chainMachine = chainSetup.createMachine({
  id: 'postChain',
  description: 'A reasoning chain of six phases that always ends in an answer.',
  context: ({ input, self }) => {
    requirePorts(self);
    return initialState(input);
  },
  output: ({ context }) => context.answer ?? answerOf(context),
  initial: 'cycling',
  states: {
    cycling: {
      description: 'The phases, in order within a cycle; from anywhere in here the user can cancel, finish or direct.',
      initial: 'beginning',
      always: {
        guard: 'budgetExhausted',
        target: 'synthesizing',
        actions: { type: 'interrupt', params: { kind: 'budget' } },
      },
      after: {
        runDeadline: {
          target: 'synthesizing',
          actions: [brokenOff('the time for the run was over'), { type: 'interrupt', params: { kind: 'deadline' } }],
        },
      },
      on: {
        'run.cancelled': onStopped('cancelled', 'synthesizing'),
        'run.interrupted': onStopped('interrupted', 'synthesizing'),
        'run.finished': {
          target: 'synthesizing',
          actions: [brokenOff('the run was finished'), { type: 'interrupt', params: { kind: 'finished_by_user' } }],
        },
        'run.adjusted': { actions: { type: 'adjust', params: ({ event }) => event } },
        'run.directed': [
          {
            guard: { type: 'directionIsPhase', params: ({ event }) => event },
            target: '.routing',
            actions: [
              brokenOff('the run was directed elsewhere'),
              { type: 'takeDirection', params: ({ event }) => ({ phase: event.phase, prompt: event.prompt }) },
            ],
          },
          { actions: { type: 'refuseDirection', params: ({ event }) => event } },
        ],
      },
      states: {
        beginning: {
          description: 'Does the request belong to a session that is to be recalled?',
          always: [{ guard: 'recallWanted', target: 'recalling' }, { target: 'routing' }],
        },
        recalling,
        routing: {
          id: 'routing',
          description:
            'Goes to the phase that the origin, the user or a recovery points to; first to Understanding where nothing fits.',
          always: [
            { guard: 'contextMustShrink', target: '#understanding', actions: 'takeDetour' },
            routeTo('experience'),
            routeTo('intention'),
            routeTo('observation'),
            routeTo('understanding'),
            routeTo('yield'),
            { target: 'action' },
          ],
        },
        action: {
          id: 'action',
          description: 'The immediate present: an answer from what is there, and the capabilities it takes.',
          entry: begin('action'),
          invoke: {
            src: 'action',
            input: ({ context }) => actionInput(context),
            onDone: settle('action', 'experience'),
            onError: onBroken('action'),
          },
          after: onDeadline('action'),
        },
        experience,
        intention: {
          id: 'intention',
          description: 'The desired future: the goal behind the request.',
          entry: begin('intention'),
          invoke: { ...think('intention'), onDone: settle('intention', 'observation'), onError: onBroken('intention') },
          after: onDeadline('intention'),
        },
        observation: {
          id: 'observation',
          description: 'Keeping for later: what is worth remembering, and what belongs together.',
          entry: begin('observation'),
          invoke: {
            ...think('observation'),
            onDone: settle('observation', 'understanding'),
            onError: onBroken('observation'),
          },
          after: onDeadline('observation'),
        },
        understanding,
        yield: {
          id: 'yield',
          description: 'Answer now, or go on, and where?',
          entry: begin('yield'),
          initial: 'assessing',
          states: {
            assessing: {
              description: 'The answer as it stands, and how good it is.',
              invoke: {
                ...think('yield'),
                onDone: settle('yield', 'deciding', 'takeAssessment'),
                onError: onBroken('yield'),
              },
              after: onDeadline('yield'),
            },
            comparing: {
              description: 'How much the answer changed, by embeddings; where that cannot be told, by words.',
              invoke: {
                src: 'compareAnswers',
                input: ({ context: { assessment } }) => ({
                  previous: assessment?.toCompare ?? '',
                  current: assessment?.answer ?? '',
                }),
                onDone: {
                  target: 'deciding',
                  actions: { type: 'takeChange', params: ({ event }) => ({ change: event.output }) },
                },
                onError: { target: 'deciding', actions: leaveUncompared },
              },
              after: { phaseDeadline: { target: 'deciding', actions: leaveUncompared } },
            },
            deciding: {
              description: 'The rules, in their order: the first that holds decides.',
              always: [
                completeBy('cycleLimitReached'),
                completeBy('budgetExhausted'),
                completeBy('confidenceReached'),
                { guard: 'comparisonWanted', target: 'comparing' },
                completeBy('answerConverged'),
                completeBy('taskComplete'),
                completeBy('loopDetected'),
                { guard: 'directionWanted', target: 'awaitingDirection' },
                goOnWith('action'),
                goOnWith('experience'),
                goOnWith('intention'),
                goOnWith('observation'),
                goOnWith('understanding'),
                goOnWith('yield'),
                {
                  guard: 'nextPhaseInvalid',
                  target: '#action',
                  actions: [
                    { type: 'goOn', params: { rule: 'nextPhaseInvalid', phase: 'action' } },
                    'announceDecision',
                  ],
                },
              ],
            },
            awaitingDirection: {
              description: 'Manual mode: the user says where to go, or to finish.',
              entry: 'askDirection',
              on: {
                'run.directed': {
                  guard: { type: 'directionIsPhase', params: ({ event }) => event },
                  target: '#routing',
                  actions: [
                    { type: 'goOnAsDirected', params: ({ event }) => ({ phase: event.phase, prompt: event.prompt }) },
                    'announceDecision',
                  ],
                },
              },
            },
          },
        },
        recovering: {
          id: 'recovering',
          description: 'A phase failed: again, without it, or straight to the answer.',
          always: [
            { guard: 'phaseSaved', target: 'routing' },
            {
              guard: 'modelUnavailable',
              target: '#synthesizing',
              actions: [
                { type: 'announceRecovery', params: { how: 'finish' } },
                { type: 'interrupt', params: { kind: 'model_unavailable' } },
              ],
            },
            {
              guard: 'phaseMayRepeat',
              target: 'routing',
              actions: [{ type: 'announceRecovery', params: { how: 'again' } }, 'repeatPhase'],
            },
            {
              guard: 'phaseMayBeSkipped',
              target: 'routing',
              actions: [{ type: 'announceRecovery', params: { how: 'skip' } }, 'skipPhase'],
            },
            {
              target: '#synthesizing',
              actions: [
                { type: 'announceRecovery', params: { how: 'finish' } },
                { type: 'interrupt', params: { kind: 'phase_failed' } },
              ],
            },
          ],
        },
      },
    },
    synthesizing,
    remembering,
    answered: {
      id: 'answered',
      description: 'completed, degraded or cancelled: always with an answer.',
      type: 'final',
      entry: 'announceAnswer',
    },
  },
});
