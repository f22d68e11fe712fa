import { assign, setup } from 'xstate';

/** An order whose lines are counted: each event passes a guard and changes the context. */
export const machine = setup({
  types: {
    context: /** @type {{ lines: number, total: number, last: string }} */ ({}),
    events: /** @type {{ type: 'line.added', price: number, article: string }} */ ({}),
  },
  guards: { isPriced: ({ event }) => event.price > 0 },
  actions: {
    addLine: assign(({ context, event }) => ({
      lines: context.lines + 1,
      total: context.total + event.price,
      last: event.article,
    })),
  },
}).createMachine({
  id: 'order',
  version: '1',
  initial: 'even',
  context: { lines: 0, total: 0, last: '' },
  states: {
    even: { on: { 'line.added': [{ guard: 'isPriced', target: 'odd', actions: 'addLine' }] } },
    odd: { on: { 'line.added': [{ guard: 'isPriced', target: 'even', actions: 'addLine' }] } },
  },
});

/** @param {number} at */
export const eventAt = (at) => ({
  type: /** @type {const} */ ('line.added'),
  price: (at % 90) + 1,
  article: `article-${at % 1_000}`,
});
