import { done, fails, sends } from '../../../../src/testing/exploration/outcome.ts';
import { checkout } from './checkout.ts';
import { fetching } from './fetching.ts';
import { player } from './player.ts';
import { profile } from './profile.ts';

/** Machines of the patterns that XState's own documentation shows, written anew, each with all that can happen to it. */
export const foreign = {
  fetching: {
    machine: fetching,
    inputs: { never: { most: 0 }, twice: { most: 2 } },
    outcomes: { load: [done('data'), fails()] },
    events: [{ type: 'fetch' }, { type: 'cancel' }],
  },
  player: {
    machine: player,
    outcomes: { tick: [sends({ type: 'ended' }), fails()] },
    events: ['play', 'pause', 'louder', 'softer', 'mute'].map((type) => ({ type })),
  },
  profile: {
    machine: profile,
    outcomes: { load: [done('Ada'), fails()], hear: [sends({ type: 'changed' }), fails()] },
    events: [{ type: 'reload' }, { type: 'mute' }, { type: 'leave' }],
  },
  checkout: {
    machine: checkout,
    outcomes: {
      payment: [done({ paid: true }, 'paid'), done({ paid: false }, 'not paid'), fails()],
      ship: [done('it'), fails()],
    },
    events: [{ type: 'item.added', price: 10 }, { type: 'checkout.started' }, { type: 'checkout.left' }],
  },
} as const;
