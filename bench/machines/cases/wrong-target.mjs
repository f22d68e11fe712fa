import { assign, fromPromise, setup } from 'xstate';
import { both } from './both.mjs';

/** Fault: "back" in the third step leads to the first one. */
export const [wizard, wizardFaulty] = both((isFaulty) =>
  setup({}).createMachine({
    id: 'wizard',
    initial: 'name',
    states: {
      name: { on: { next: 'address' } },
      address: { on: { next: 'payment', back: 'name' } },
      payment: { on: { next: 'summary', back: isFaulty ? 'name' : 'address' } },
      summary: { on: { submit: 'submitted', back: 'payment' } },
      submitted: { type: 'final' },
    },
  }),
);

/** Fault: a payment that failed leads to the state of a paid invoice. */
export const [invoice, invoiceFaulty] = both((isFaulty) =>
  setup({ actors: { collect: fromPromise(async () => {}) } }).createMachine({
    id: 'invoice',
    initial: 'draft',
    states: {
      draft: { on: { send: 'sent', discard: 'discarded' } },
      sent: { on: { collect: 'collecting', writeOff: 'discarded' } },
      collecting: { invoke: { src: 'collect', onDone: 'paid', onError: isFaulty ? 'paid' : 'overdue' } },
      overdue: { on: { collect: 'collecting', writeOff: 'discarded' } },
      paid: { type: 'final' },
      discarded: { type: 'final' },
    },
  }),
);

/** Fault: after the yellow light comes green again. */
export const [trafficLight, trafficLightFaulty] = both((isFaulty) =>
  setup({ types: { context: /** @type {{ isNight: boolean }} */ ({}) } }).createMachine({
    id: 'trafficLight',
    initial: 'red',
    context: { isNight: false },
    states: {
      red: { after: { 30000: 'green' } },
      green: { after: { 20000: 'yellow' } },
      yellow: { after: { 3000: isFaulty ? 'green' : 'red' } },
      blinking: { on: { morning: { target: 'red', actions: assign({ isNight: false }) } } },
    },
    on: { night: { target: '.blinking', actions: assign({ isNight: true }) } },
  }),
);
