import { writingInput } from '../policies/synthesis/state.ts';
import { chainSetup } from './setup.ts';
import { onStopped } from './transitions.ts';

/** Where every run ends [E7]: a model writes if it may, the engine composes if not. */
export const synthesizing = chainSetup.createStateConfig({
  id: 'synthesizing',
  description: 'Builds the final answer: with a model where that is possible, without one otherwise. It cannot fail.',
  initial: 'preparing',
  on: {
    'run.cancelled': onStopped('cancelled', '.composing', 'breakOffSynthesis'),
    'run.interrupted': onStopped('interrupted', '.composing', 'breakOffSynthesis'),
  },
  states: {
    preparing: {
      description: 'Is there a model to write with, and a reserve that its prompt fits in?',
      always: [{ guard: 'modelMayWrite', target: 'writing' }, { target: 'composing' }],
    },
    writing: {
      description: 'The model writes the final answer from what the phases came to.',
      invoke: {
        src: 'attempt',
        input: ({ context }) => writingInput(context),
        onDone: { target: 'composing', actions: { type: 'takeSynthesis', params: ({ event }) => event.output } },
        onError: {
          target: 'composing',
          actions: { type: 'breakSynthesis', params: ({ event }) => ({ error: event.error }) },
        },
      },
      after: { synthesisDeadline: { target: 'composing', actions: 'timeOutSynthesis' } },
    },
    composing: {
      description: 'The answer with its flags, as the engine computed them.',
      entry: 'composeAnswer',
      always: [{ guard: 'hasSession', target: '#remembering' }, { target: '#answered' }],
    },
  },
});
