import { assign, fromPromise, setup } from 'xstate';
import { both } from './both.mjs';

/** Fault: a failed search is not handled. */
export const [search, searchFaulty] = both((isFaulty) =>
  setup({
    types: { context: /** @type {{ results: unknown }} */ ({}) },
    actors: { find: fromPromise(async () => []) },
  }).createMachine({
    id: 'search',
    initial: 'idle',
    context: { results: null },
    states: {
      idle: { on: { query: 'searching' } },
      searching: {
        on: { clear: 'idle' },
        invoke: {
          src: 'find',
          onDone: { target: 'showing', actions: assign({ results: ({ event }) => event.output }) },
          ...(isFaulty ? {} : { onError: 'failed' }),
        },
      },
      showing: { on: { query: 'searching', clear: 'idle' } },
      ...(isFaulty ? {} : { failed: { on: { query: 'searching' } } }),
    },
  }),
);

/** Fault: of two actors, one has no onError. */
export const [profilePage, profilePageFaulty] = both((isFaulty) =>
  setup({ actors: { loadUser: fromPromise(async () => {}), loadPosts: fromPromise(async () => {}) } }).createMachine({
    id: 'profilePage',
    initial: 'loading',
    states: {
      loading: {
        type: 'parallel',
        states: {
          user: {
            initial: 'loading',
            states: {
              loading: { invoke: { src: 'loadUser', onDone: 'loaded', onError: '#profilePage.failed' } },
              loaded: { type: 'final' },
            },
          },
          posts: {
            initial: 'loading',
            states: {
              loading: {
                invoke: { src: 'loadPosts', onDone: 'loaded', ...(isFaulty ? {} : { onError: 'missing' }) },
              },
              missing: { type: 'final' },
              loaded: { type: 'final' },
            },
          },
        },
        onDone: 'shown',
      },
      shown: { on: { refresh: 'loading' } },
      failed: { on: { refresh: 'loading' } },
    },
  }),
);

/** Fault: the error of the clean-up after a cancellation is not handled. */
export const [upload, uploadFaulty] = both((isFaulty) =>
  setup({ actors: { send: fromPromise(async () => {}), remove: fromPromise(async () => {}) } }).createMachine({
    id: 'upload',
    initial: 'idle',
    states: {
      idle: { on: { start: 'sending' } },
      sending: { on: { cancel: 'removing' }, invoke: { src: 'send', onDone: 'done', onError: 'idle' } },
      removing: { invoke: { src: 'remove', onDone: 'idle', ...(isFaulty ? {} : { onError: 'idle' }) } },
      done: { type: 'final' },
    },
  }),
);
