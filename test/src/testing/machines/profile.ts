import { assign, fromCallback, fromPromise, setup, stopChild } from 'xstate';

/** The pattern of a state that goes on when its actors end: what one found is shown, and it is begun anew only with its state. */
export const profile = setup({
  types: {
    context: {} as { name: string | null; isStale: boolean },
    events: {} as { type: 'reload' } | { type: 'mute' } | { type: 'changed' } | { type: 'leave' },
  },
  actors: { load: fromPromise<string>(() => Promise.reject(new Error('never asked'))), hear: fromCallback(() => {}) },
}).createMachine({
  id: 'profile',
  context: { name: null, isStale: false },
  initial: 'shown',
  states: {
    shown: {
      invoke: [
        {
          src: 'load',
          id: 'load',
          onDone: { actions: assign({ name: ({ event }) => event.output }) },
          onError: { actions: assign({ isStale: true }) },
        },
        { src: 'hear', id: 'ear', onError: 'left' },
      ],
      on: {
        reload: { target: 'shown', reenter: true },
        mute: { actions: stopChild('ear') },
        changed: { actions: assign({ isStale: true }) },
        leave: 'left',
      },
    },
    left: { type: 'final' },
  },
});
