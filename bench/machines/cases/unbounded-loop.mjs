import { assign, fromPromise, setup } from 'xstate';
import { both } from './both.mjs';

/** Fault: the request is repeated without a limit and without a pause. */
export const [fetcher, fetcherFaulty] = both((isFaulty) =>
  setup({
    types: { context: /** @type {{ attempts: number }} */ ({}) },
    actors: { load: fromPromise(async () => {}) },
  }).createMachine({
    id: 'fetcher',
    initial: 'loading',
    context: { attempts: 0 },
    states: {
      loading: {
        invoke: {
          src: 'load',
          onDone: 'loaded',
          onError: isFaulty
            ? { target: 'loading', reenter: true }
            : [
                {
                  guard: ({ context }) => context.attempts < 3,
                  target: 'loading',
                  reenter: true,
                  actions: assign({ attempts: ({ context }) => context.attempts + 1 }),
                },
                { target: 'failed' },
              ],
        },
      },
      loaded: { type: 'final' },
      failed: { type: 'final' },
    },
  }),
);

/** Fault: the counter of revisions is never compared with its limit. */
export const [writer, writerFaulty] = both((isFaulty) =>
  setup({
    types: { context: /** @type {{ revisions: number }} */ ({}) },
    actors: { write: fromPromise(async () => {}), judge: fromPromise(async () => {}) },
    guards: { mayRevise: ({ context }) => isFaulty || context.revisions < 3 },
  }).createMachine({
    id: 'writer',
    initial: 'writing',
    context: { revisions: 0 },
    states: {
      writing: { invoke: { src: 'write', onDone: 'judging', onError: 'failed' } },
      judging: {
        invoke: {
          src: 'judge',
          onDone: 'accepted',
          onError: [
            {
              guard: 'mayRevise',
              target: 'writing',
              actions: assign({ revisions: ({ context }) => context.revisions + 1 }),
            },
            { target: 'failed' },
          ],
        },
      },
      accepted: { type: 'final' },
      failed: { type: 'final' },
    },
  }),
);

/** Fault: a poll that never gives up. */
export const [poll, pollFaulty] = both((isFaulty) =>
  setup({
    types: { context: /** @type {{ polls: number }} */ ({}) },
    actors: { ask: fromPromise(async () => {}) },
    guards: { mayPoll: ({ context }) => context.polls < 5 },
  }).createMachine({
    id: 'poll',
    initial: 'asking',
    context: { polls: 0 },
    states: {
      asking: { invoke: { src: 'ask', onDone: 'answered', onError: 'pausing' } },
      pausing: {
        after: {
          1000: isFaulty
            ? 'asking'
            : [
                {
                  guard: 'mayPoll',
                  target: 'asking',
                  actions: assign({ polls: ({ context }) => context.polls + 1 }),
                },
                { target: 'abandoned' },
              ],
        },
      },
      answered: { type: 'final' },
      ...(isFaulty ? {} : { abandoned: { type: 'final' } }),
    },
  }),
);
