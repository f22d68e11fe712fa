import { fromPromise, setup } from 'xstate';
import { both } from './both.mjs';

/** Fault: one check has no final state, so the checks as a whole are never done. */
export const [onboarding, onboardingFaulty] = both((isFaulty) =>
  setup({}).createMachine({
    id: 'onboarding',
    initial: 'checks',
    states: {
      checks: {
        type: 'parallel',
        states: {
          email: { initial: 'open', states: { open: { on: { 'email.confirmed': 'done' } }, done: { type: 'final' } } },
          phone: {
            initial: 'open',
            states: {
              open: { on: { 'phone.confirmed': 'done' } },
              done: isFaulty ? { on: { 'phone.changed': 'open' } } : { type: 'final' },
            },
          },
        },
        onDone: 'welcome',
      },
      welcome: { type: 'final' },
    },
  }),
);

/** Fault: after an error, a region stays where it is while the other one finishes. */
export const [report, reportFaulty] = both((isFaulty) =>
  setup({ actors: { loadSales: fromPromise(async () => {}), loadCosts: fromPromise(async () => {}) } }).createMachine({
    id: 'report',
    initial: 'loading',
    states: {
      loading: {
        type: 'parallel',
        states: {
          sales: {
            initial: 'loading',
            states: {
              loading: { invoke: { src: 'loadSales', onDone: 'loaded', onError: 'failed' } },
              failed: isFaulty ? {} : { on: { retry: 'loading' }, after: { 60000: 'loaded' } },
              loaded: { type: 'final' },
            },
          },
          costs: {
            initial: 'loading',
            states: {
              loading: { invoke: { src: 'loadCosts', onDone: 'loaded', onError: 'loaded' } },
              loaded: { type: 'final' },
            },
          },
        },
        onDone: 'shown',
      },
      shown: { type: 'final' },
    },
  }),
);

/** Fault: the two regions wait for each other. */
export const [handshake, handshakeFaulty] = both((isFaulty) =>
  setup({}).createMachine({
    id: 'handshake',
    initial: 'signing',
    states: {
      signing: {
        type: 'parallel',
        states: {
          buyer: {
            initial: 'reading',
            states: {
              reading: {
                on: isFaulty
                  ? { sign: { guard: ({ context: _ }) => false, target: 'signed' }, 'seller.signed': 'signed' }
                  : { sign: 'signed' },
              },
              signed: { type: 'final' },
            },
          },
          seller: {
            initial: 'waiting',
            states: { waiting: { on: { sign: 'signed' } }, signed: { type: 'final' } },
          },
        },
        on: { withdraw: 'withdrawn' },
        onDone: 'sold',
      },
      withdrawn: { type: 'final' },
      sold: { type: 'final' },
    },
  }),
);
