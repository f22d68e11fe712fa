import { assign, fromPromise, setup } from 'xstate';
import { both } from './both.mjs';

/** Fault: nothing leads to the state in which the shipment is returned. */
export const [shipment, shipmentFaulty] = both((isFaulty) =>
  setup({}).createMachine({
    id: 'shipment',
    initial: 'packed',
    states: {
      packed: { on: { 'picked.up': 'inTransit' } },
      inTransit: {
        on: { delivered: 'delivered', refused: isFaulty ? 'lost' : 'returning' },
        after: { 864000000: 'lost' },
      },
      returning: { on: { received: 'returned' } },
      returned: { type: 'final' },
      delivered: { type: 'final' },
      lost: { type: 'final' },
    },
  }),
);

/** Fault: the editor never shows a conflict, because the error of saving leads elsewhere. */
export const [editor, editorFaulty] = both((isFaulty) =>
  setup({ actors: { save: fromPromise(async () => {}) } }).createMachine({
    id: 'editor',
    initial: 'clean',
    states: {
      clean: { on: { type: 'dirty' } },
      dirty: { on: { save: 'saving', discard: 'clean' }, after: { 30000: 'saving' } },
      saving: { invoke: { src: 'save', onDone: 'clean', onError: isFaulty ? 'dirty' : 'conflict' } },
      conflict: {
        initial: 'comparing',
        states: { comparing: { on: { merge: 'merging' } }, merging: { on: { done: '#editor.dirty' } } },
        on: { discard: 'clean' },
      },
    },
  }),
);

/** Fault: members are asked for a plan only if the context says so, and nothing sets it. */
export const [signup, signupFaulty] = both((isFaulty) =>
  setup({ types: { context: /** @type {{ isTeam: boolean }} */ ({}) } }).createMachine({
    id: 'signup',
    initial: 'kind',
    context: { isTeam: false },
    states: {
      kind: {
        on: {
          personal: 'profile',
          team: { target: 'profile', ...(isFaulty ? {} : { actions: assign({ isTeam: true }) }) },
        },
      },
      profile: {
        on: { next: [{ guard: ({ context }) => context.isTeam, target: 'plan' }, { target: 'ready' }] },
      },
      plan: { on: { chosen: 'ready' } },
      ready: { type: 'final' },
    },
  }),
);
