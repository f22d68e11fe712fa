import { assign, fromPromise, setup } from 'xstate';
import { both } from './both.mjs';

/** Fault: small refunds skip the approval. */
export const [refund, refundFaulty] = both((isFaulty) =>
  setup({ actors: { pay: fromPromise(async () => {}) } }).createMachine({
    id: 'refund',
    initial: 'drafting',
    states: {
      drafting: { on: { 'small.requested': isFaulty ? 'paying' : 'asking', 'large.requested': 'asking' } },
      asking: { on: { approved: 'paying', denied: 'refused' } },
      paying: { invoke: { src: 'pay', onDone: 'paid', onError: 'asking' } },
      paid: { type: 'final' },
      refused: { type: 'final' },
    },
  }),
);

/** Fault: an edited message is sent without being approved again. */
export const [newsletter, newsletterFaulty] = both((isFaulty) =>
  setup({ actors: { send: fromPromise(async () => {}) } }).createMachine({
    id: 'newsletter',
    initial: 'writing',
    states: {
      writing: { on: { submit: 'reviewing' } },
      reviewing: { on: { approve: 'ready', reject: 'writing' } },
      ready: { on: { edit: isFaulty ? 'editing' : 'writing', send: 'sending' } },
      ...(isFaulty ? { editing: { on: { submit: 'ready' } } } : {}),
      sending: { invoke: { src: 'send', onDone: 'sent', onError: 'ready' } },
      sent: { on: { next: 'writing' } },
    },
  }),
);

/** Fault: the deployment starts while the approval is still being waited for. */
export const [deployment, deploymentFaulty] = both((isFaulty) =>
  setup({
    types: { context: /** @type {{ isApproved: boolean }} */ ({}) },
    actors: { build: fromPromise(async () => {}), deploy: fromPromise(async () => {}) },
    guards: { isApproved: ({ context }) => context.isApproved },
  }).createMachine({
    id: 'deployment',
    initial: 'building',
    context: { isApproved: false },
    states: {
      building: {
        on: { approve: { actions: assign({ isApproved: true }) } },
        invoke: {
          src: 'build',
          onDone: isFaulty ? 'deploying' : [{ guard: 'isApproved', target: 'deploying' }, { target: 'waiting' }],
          onError: 'failed',
        },
      },
      waiting: { on: { approve: 'deploying', abort: 'failed' } },
      deploying: { invoke: { src: 'deploy', onDone: 'live', onError: isFaulty ? 'waiting' : 'failed' } },
      live: { type: 'final' },
      failed: { type: 'final' },
    },
  }),
);
