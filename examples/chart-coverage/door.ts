import { fromPromise, setup } from 'xstate';

export const door = setup({ actors: { turnKey: fromPromise(async () => true) } }).createMachine({
  id: 'door',
  initial: 'open',
  states: {
    open: { on: { close: 'closed' } },
    closed: {
      invoke: { src: 'turnKey', onDone: 'locked', onError: 'open' },
      after: { 5000: 'open' },
    },
    locked: { on: { unlock: 'open' } },
  },
});
