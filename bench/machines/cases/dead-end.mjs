import { assign, fromPromise, setup } from 'xstate';
import { both } from './both.mjs';

/** Fault: after a refused card, nothing leads on. */
export const [checkout, checkoutFaulty] = both((isFaulty) =>
  setup({ actors: { charge: fromPromise(async () => {}) } }).createMachine({
    id: 'checkout',
    initial: 'cart',
    states: {
      cart: { on: { checkout: 'address' } },
      address: { on: { next: 'paying', back: 'cart' } },
      paying: { invoke: { src: 'charge', onDone: 'paid', onError: 'refused' } },
      refused: isFaulty ? {} : { on: { retry: 'paying', back: 'cart' } },
      paid: { type: 'final' },
    },
  }),
);

/** Fault: a locked account can neither be unlocked nor left. */
export const [login, loginFaulty] = both((isFaulty) =>
  setup({
    types: { context: /** @type {{ attempts: number }} */ ({}) },
    actors: { verify: fromPromise(async () => {}) },
    guards: { hasTriedTooOften: ({ context }) => context.attempts >= 2 },
  }).createMachine({
    id: 'login',
    initial: 'signedOut',
    context: { attempts: 0 },
    states: {
      signedOut: { on: { submit: 'verifying' } },
      verifying: {
        invoke: {
          src: 'verify',
          onDone: { target: 'signedIn', actions: assign({ attempts: 0 }) },
          onError: [
            { guard: 'hasTriedTooOften', target: 'locked' },
            { target: 'signedOut', actions: assign({ attempts: ({ context }) => context.attempts + 1 }) },
          ],
        },
      },
      locked: isFaulty
        ? { on: { submit: undefined } }
        : { on: { 'code.entered': { target: 'signedOut', actions: assign({ attempts: 0 }) } } },
      signedIn: { on: { signOut: 'signedOut' } },
    },
  }),
);

/** Fault: when the last file of a batch was rejected, the review waits for an event that only its sibling handles. */
export const [review, reviewFaulty] = both((isFaulty) =>
  setup({}).createMachine({
    id: 'review',
    initial: 'open',
    states: {
      open: {
        initial: 'reading',
        states: {
          reading: { on: { accept: 'accepted', reject: 'rejected' } },
          accepted: { on: { publish: '#review.published', reopen: 'reading' } },
          rejected: isFaulty ? {} : { on: { reopen: 'reading', archive: '#review.archived' } },
        },
      },
      published: { on: { withdraw: 'open' } },
      archived: { on: { restore: 'open' } },
    },
  }),
);
