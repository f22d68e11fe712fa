// A shop with an error that nobody handles.
import { done, fails } from 'postchain/testing';
import { fromPromise, setup } from 'xstate';

export const machine = setup({ actors: { reserve: fromPromise(async () => 'A7') } }).createMachine({
  id: 'shop',
  initial: 'cart',
  states: {
    cart: { on: { BUY: 'reserving' } },
    reserving: { invoke: { src: 'reserve', onDone: 'reserved' } },
    reserved: { type: 'final' },
  },
});

export const outcomes = { reserve: [done('A7'), fails()] };
