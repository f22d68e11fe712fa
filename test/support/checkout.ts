import { assign, fromPromise, setup } from 'xstate';
import { type ActorOutcome, done, fails } from '../../src/testing/exploration/occurrences.ts';
import type { TestedSystem } from '../../src/testing/exploration/tested-system.ts';
import { eagerClock } from './eager-clock.ts';

type CheckoutEvent = { type: 'ADD'; count: number } | { type: 'EMPTY' } | { type: 'PAY' } | { type: 'CANCEL' };

/** The model of a checkout that counts items up to nine. */
export const checkout = setup({
  types: { context: {} as { items: number }, events: {} as CheckoutEvent },
  actors: { charge: fromPromise(async () => 'receipt') },
}).createMachine({
  id: 'checkout',
  context: { items: 0 },
  initial: 'cart',
  states: {
    cart: {
      on: {
        ADD: { actions: assign({ items: ({ context, event }) => Math.min(9, context.items + event.count) }) },
        EMPTY: { actions: assign({ items: 0 }) },
        PAY: { guard: ({ context }) => context.items > 0, target: 'paying' },
      },
    },
    paying: {
      invoke: { src: 'charge', onDone: 'paid', onError: 'cart' },
      on: { CANCEL: 'cart' },
      after: { 5000: 'cart' },
    },
    paid: { type: 'final' },
  },
});

export const checkoutOptions = {
  outcomes: { charge: [done('receipt'), fails(new Error('declined'), 'declined')] },
  events: [{ type: 'ADD', count: 1 }, { type: 'EMPTY' }, { type: 'PAY' }, { type: 'CANCEL' }],
} as const;

export type Fault =
  | 'keeps the items'
  | 'pays for nothing'
  | 'charges twice'
  | 'forgets large counts'
  | 'hangs'
  | 'throws';

/** What the shop shows. */
export interface Shown {
  readonly at: string;
  readonly items: number;
}

/** A shop written without the model, with at most one fault. `log` has the calls that it received. */
export function createShop(fault: Fault | null = null) {
  let shown: Shown = { at: 'cart', items: 0 };
  let declined = 0;
  const log: string[] = [];
  const show = (change: Partial<Shown>): void => {
    shown = { ...shown, ...change };
  };
  const inPayment = (at: string) => (): void => {
    if (shown.at === 'paying') show({ at });
  };
  const system: TestedSystem<typeof checkout, Shown> = {
    reset() {
      log.push('reset');
      declined = 0;
      shown = { at: 'cart', items: 0 };
    },
    send(event) {
      log.push(event.type);
      if (event.type === 'CANCEL') return inPayment('cart')();
      if (shown.at !== 'cart') return;
      if (event.type === 'ADD') {
        const isForgotten = fault === 'forgets large counts' && event.count > 3;
        show({ items: isForgotten ? shown.items : Math.min(9, shown.items + event.count) });
      }
      if (event.type === 'EMPTY' && fault !== 'keeps the items') show({ items: 0 });
      if (event.type !== 'PAY' || (shown.items === 0 && fault !== 'pays for nothing')) return;
      if (fault === 'hangs') return new Promise(() => {});
      if (fault === 'throws') throw new TypeError('The button is not there');
      show({ at: 'paying' });
    },
    outcomes: {
      charge(outcome: ActorOutcome) {
        log.push(`charge: ${outcome.name}`);
        if (outcome.kind === 'done') return show({ at: 'paid' });
        declined += 1;
        show({ at: fault === 'charges twice' && declined === 2 ? 'paid' : 'cart' });
      },
    },
    elapse(delay) {
      log.push(`elapse ${delay.name} ${delay.ms}`);
      show({ at: 'cart' });
    },
    read: () => shown,
    expected: ({ value, context }) => ({ at: value as string, items: context.items }),
  };
  return { system, log, clock: eagerClock() };
}
