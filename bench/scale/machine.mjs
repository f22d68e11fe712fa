import { assign, emit, fromPromise, setup } from 'xstate';

/**
 * @typedef {object} OrderInput
 * @property {'steps' | 'open' | 'due'} kind `steps`: makes three calls and ends. `open`: waits for lines. `due`: waits for a delay, makes a call
 *   and ends.
 * @property {string} customer
 * @property {number} delayMs
 */

/** An order with three calls, events and a delay. */
export const order = setup({
  types: {
    input: /** @type {OrderInput} */ ({}),
    context: /** @type {OrderInput & { total: number }} */ ({}),
    events: /** @type {{ type: 'line.added', price: number }} */ ({}),
    emitted: /** @type {{ type: 'total', total: number }} */ ({}),
  },
  actors: { call: fromPromise(async (/** @type {{ input: string }} */ { input }) => `${input}-done`) },
  guards: { makesSteps: ({ context }) => context.kind === 'steps', isDue: ({ context }) => context.kind === 'due' },
  actions: {
    addLine: assign({ total: ({ context, event }) => context.total + event.price }),
    tellTotal: emit(({ context }) => ({ type: /** @type {const} */ ('total'), total: context.total })),
  },
  delays: { patience: ({ context }) => context.delayMs },
}).createMachine({
  id: 'order',
  version: '1',
  context: ({ input }) => ({ ...input, total: 0 }),
  initial: 'new',
  states: {
    new: {
      always: [{ guard: 'makesSteps', target: 'reserving' }, { guard: 'isDue', target: 'waiting' }, { target: 'open' }],
    },
    reserving: { invoke: { src: 'call', input: 'reserve', onDone: 'charging' } },
    charging: { invoke: { src: 'call', input: 'charge', onDone: 'packing' } },
    packing: { invoke: { src: 'call', input: 'pack', onDone: 'ended' } },
    open: { on: { 'line.added': { actions: ['addLine', 'tellTotal'] } }, after: { patience: 'ended' } },
    waiting: { after: { patience: 'reminding' } },
    reminding: { invoke: { src: 'call', input: 'remind', onDone: 'ended' } },
    ended: { type: 'final' },
  },
});

/** @param {{ context: { customer: string } }} snapshot */
export const describeAttributes = ({ context }) => ({ customer: context.customer });

export const CUSTOMERS = 10_000;

/** @param {number} number */
export const customerAt = (number) => `c-${number % CUSTOMERS}`;

export const WEEK_MS = 7 * 24 * 3_600_000;
