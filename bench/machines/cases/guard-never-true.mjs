import { assign, fromPromise, setup } from 'xstate';
import { both } from './both.mjs';

/** Fault: the guard compares with a number that the counter never reaches. */
export const [quiz, quizFaulty] = both((isFaulty) =>
  setup({
    types: { context: /** @type {{ answered: number }} */ ({}) },
    guards: { isComplete: ({ context }) => context.answered >= (isFaulty ? 4 : 3) },
  }).createMachine({
    id: 'quiz',
    initial: 'asking',
    context: { answered: 0 },
    states: {
      asking: {
        on: {
          answer: {
            guard: ({ context }) => context.answered < 3,
            actions: assign({ answered: ({ context }) => context.answered + 1 }),
          },
          reset: { actions: assign({ answered: 0 }) },
        },
        always: { guard: 'isComplete', target: 'scored' },
      },
      scored: { on: { again: { target: 'asking', actions: assign({ answered: 0 }) } } },
    },
  }),
);

/** Fault: the guard compares with a word in other letters. */
export const [subscription, subscriptionFaulty] = both((isFaulty) =>
  setup({ types: { context: /** @type {{ plan: string }} */ ({}) } }).createMachine({
    id: 'subscription',
    initial: 'free',
    context: { plan: 'free' },
    states: {
      free: { on: { upgrade: { target: 'paying', actions: assign({ plan: 'premium' }) } } },
      paying: {
        on: {
          paid: [
            { guard: ({ context }) => context.plan === (isFaulty ? 'Premium' : 'premium'), target: 'premium' },
            { target: 'free' },
          ],
          abort: { target: 'free', actions: assign({ plan: 'free' }) },
        },
      },
      premium: { on: { cancel: { target: 'free', actions: assign({ plan: 'free' }) } } },
    },
  }),
);

/** Fault: the guard expects a failure that was cleared just before. */
export const [backup, backupFaulty] = both((isFaulty) =>
  setup({
    types: { context: /** @type {{ failures: number }} */ ({}) },
    actors: { copy: fromPromise(async () => {}) },
    guards: { hasFailed: ({ context }) => context.failures > 0 },
  }).createMachine({
    id: 'backup',
    initial: 'waiting',
    context: { failures: 0 },
    states: {
      waiting: {
        ...(isFaulty ? { entry: assign({ failures: 0 }) } : {}),
        after: { 3600000: 'copying' },
        on: { report: { guard: 'hasFailed', target: 'reporting' } },
      },
      copying: {
        invoke: {
          src: 'copy',
          onDone: { target: 'waiting', actions: assign({ failures: 0 }) },
          onError: {
            target: 'waiting',
            actions: assign({ failures: ({ context }) => Math.min(context.failures + 1, 5) }),
          },
        },
      },
      reporting: { on: { seen: { target: 'waiting', actions: assign({ failures: 0 }) } } },
    },
  }),
);
