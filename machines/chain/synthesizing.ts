import { executionId, synthesisPolicy } from '../policies/phase-input.ts';
import { synthesisInput } from '../policies/synthesis.ts';
import { onStopped } from './edges.ts';
import { chainSetup } from './setup.ts';

/** Where every run ends [E7]: a model writes if it may, the engine composes if not. */
export const synthesizing = chainSetup.createStateConfig({
  id: 'synthesizing',
  description: 'Builds the final answer: with a model where that is possible, without one otherwise. It cannot fail.',
  initial: 'preparing',
  on: {
    'run.cancelled': onStopped('cancelled', '.composing'),
    'run.interrupted': onStopped('interrupted', '.composing'),
  },
  states: {
    preparing: {
      description: 'Is there a model, time and budget to write with?',
      always: [{ guard: 'modelMayWrite', target: 'writing' }, { target: 'composing' }],
    },
    writing: {
      description: 'The model writes the final answer from what the phases came to.',
      invoke: {
        src: 'attempt',
        input: ({ context }) => ({
          id: executionId(context, 'synthesis'),
          task: 'synthesis',
          input: synthesisInput(context),
          policy: synthesisPolicy(context),
        }),
        onDone: { target: 'composing', actions: { type: 'takeSynthesis', params: ({ event }) => event.output } },
        onError: {
          target: 'composing',
          actions: { type: 'breakSynthesis', params: ({ event }) => ({ error: event.error }) },
        },
      },
      after: { synthesisDeadline: { target: 'composing', actions: ['chargeBrokenOff', 'timeOutSynthesis'] } },
    },
    composing: {
      description: 'The answer with its flags, as the engine computed them.',
      entry: 'composeAnswer',
      always: '#answered',
    },
  },
});
