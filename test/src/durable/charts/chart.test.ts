import { describe, expect, it } from 'vitest';
import { assign, fromPromise, setup } from 'xstate';
import { chartOf } from '../../../../src/durable/charts/chart.ts';

const machine = setup({
  actors: { charge: fromPromise(async () => 1) },
  actions: { notify: () => {} },
  delays: { hold: 5_000, backoff: () => 10 },
}).createMachine({
  id: 'shop',
  initial: 'idle',
  states: {
    idle: {
      entry: ['notify', assign({})],
      exit: 'notify',
      tags: ['quiet'],
      after: { hold: 'paying', backoff: 'paying' },
    },
    paying: { invoke: [{ id: 'first', src: 'charge' }, { src: 'charge' }] },
  },
});

describe('a machine as data', () => {
  const { states, transitions } = chartOf(machine);
  const stateOf = (name: string) => states.find((state) => state.name === name);

  it('has the actions and tags of a state, without the actions that XState adds for its timers', () => {
    expect(stateOf('idle')).toMatchObject({ entry: ['notify', 'xstate.assign'], exit: ['notify'], tags: ['quiet'] });
  });

  it('has the ids of invoked actors that the machine names, and no empty lists', () => {
    expect(stateOf('paying')).toMatchObject({ invokes: ['charge', 'charge'], invokeIds: ['first', ''] });
    expect(Object.keys(stateOf('paying') ?? {})).not.toContain('entry');
  });

  it('has the duration of a delay that is a constant', () => {
    expect(transitions.map(({ event, delayMs }) => [event, delayMs])).toEqual([
      ['after hold', 5_000],
      ['after backoff', undefined],
    ]);
  });
});
