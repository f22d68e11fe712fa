import { describe, expect, it } from 'vitest';
import { assign, createMachine, fromPromise, setup } from 'xstate';
import { explore } from '../../../../src/testing/exploration/explore.ts';
import { done } from '../../../../src/testing/exploration/outcome.ts';
import { refusalOf } from '../../../support/refusal-of.ts';
import { fetching } from '../machines/fetching.ts';

const counting = createMachine({
  id: 'counting',
  context: { count: 0, label: 'it' },
  initial: 'open',
  states: {
    open: { on: { more: { actions: assign({ count: ({ context }) => context.count + 1 }) }, stop: 'over' } },
    over: {},
  },
});
const events = [{ type: 'more' }, { type: 'stop' }];

describe('an exploration that cannot be', () => {
  it('says where there are too many states, and what of the context makes them differ', () => {
    expect(refusalOf(() => explore(counting, { outcomes: {}, events, limit: 100 }))).toEqual({
      code: 'exploration_failed',
      message:
        'counting has more than 100 states: 51 of them are "open", where context.count has 51 values; give an abstraction that leaves out what decides nothing, or raise the limit.',
    });
    const { states } = explore(counting, { outcomes: {}, events, abstraction: () => null });
    expect(states.map(({ value }) => value)).toEqual(['open', 'over']);
  });

  it('names an actor that there is not, and those that there are', () => {
    const outcomes = { load: [done('it')], store: [] };
    expect(refusalOf(() => explore(fetching, { outcomes, inputs: { once: { most: 1 } } }))).toEqual({
      code: 'invalid_option',
      message: 'outcomes: got some for "store", which fetching does not invoke; wanted its actors: load.',
    });
    expect(refusalOf(() => explore(counting, { outcomes }))?.message).toMatch(/wanted none: it invokes nothing\.$/u);
  });

  it('names an actor of which nothing is said, and what to say', () => {
    expect(refusalOf(() => explore(fetching, { outcomes: {}, inputs: { once: { most: 1 } } }))).toEqual({
      code: 'invalid_option',
      message:
        'outcomes: got none for the actor "load", which fetching.loading invokes; wanted what may come of it: outcomes: { \'load\': [done(output), fails(error)] }, or [] for one that never ends.',
    });
  });

  it('finds a guard out that gives two answers to one question', () => {
    let says = false;
    const byChance = (): boolean => {
      says = !says;
      return says;
    };
    const fickle = setup({ guards: { byChance } }).createMachine({
      id: 'fickle',
      initial: 'here',
      states: { here: { on: { go: { guard: 'byChance', target: 'there' } } }, there: {} },
    });
    expect(refusalOf(() => explore(fickle, { outcomes: {}, events: [{ type: 'go' }] }))).toEqual({
      code: 'exploration_failed',
      message:
        'The guard of here, go, [byChance] → there gave two answers to one question, in "here", at "go": a guard must go by its context, its event and its parameters alone.',
    });
  });

  it('says what a machine threw, and where: as it starts, in a guard, in an action', () => {
    expect(refusalOf(() => explore(fetching, { outcomes: { load: [] } }))?.message).toBe(
      "fetching threw as it started, with no input of inputs: Cannot read properties of undefined (reading 'most')",
    );
    const throwing = createMachine({
      id: 'throwing',
      initial: 'here',
      states: {
        here: {
          on: {
            ask: {
              guard: () => {
                throw new Error('no idea');
              },
            },
            act: {
              actions: assign(() => {
                throw new Error('no hands');
              }),
            },
          },
        },
      },
    });
    const thrown = (type: string) => refusalOf(() => explore(throwing, { outcomes: {}, events: [{ type }] }))?.message;
    expect(thrown('ask')).toMatch(/^throwing threw in "here", at "ask": .*no idea$/u);
    expect(thrown('act')).toBe('throwing threw in "here", at "act": no hands');
  });

  it('finds states that lead into each other at once, without end', () => {
    const dizzy = createMachine({
      id: 'dizzy',
      initial: 'still',
      states: { still: { on: { push: 'left' } }, left: { always: 'right' }, right: { always: 'left' } },
    });
    expect(refusalOf(() => explore(dizzy, { outcomes: {}, events: [{ type: 'push' }] }))).toEqual({
      code: 'exploration_failed',
      message: 'dizzy threw in "still", at "push": it goes in a circle at once, by right, at once → left',
    });
    const born = createMachine({
      id: 'born',
      initial: 'left',
      states: { left: { always: 'right' }, right: { always: 'left' } },
    });
    expect(refusalOf(() => explore(born, { outcomes: {} }))?.message).toBe(
      'born threw as it started, with no input of inputs: it goes in a circle at once, by left, at once → right',
    );
  });

  it('wants an abstraction that is JSON', () => {
    const knot: { self?: unknown } = {};
    knot.self = knot;
    expect(refusalOf(() => explore(counting, { outcomes: {}, abstraction: () => knot }))?.message).toMatch(
      /^What makes a difference in "open" is no JSON \(.*\): give an abstraction that is\.$/u,
    );
  });

  it.each([new Map(), new Set()])('wants one where the context has a %o, of which JSON tells nothing', (seen) => {
    const machine = createMachine({ id: 'seeing', context: { seen } });
    expect(() => explore(machine, { outcomes: {} })).toThrow(
      /\(seen is a (Map|Set)\): give an abstraction that is\.$/u,
    );
    expect(explore(machine, { outcomes: {}, abstraction: () => [...seen] }).states).toHaveLength(1);
  });

  it('needs no outcome of an actor that is said to never end', () => {
    const waiting = setup({ actors: { wait: fromPromise(async () => {}) } }).createMachine({
      initial: 'here',
      states: { here: { invoke: { src: 'wait', onDone: 'there' } }, there: {} },
    });
    expect(explore(waiting, { outcomes: { wait: [] } }).states.length).toBe(1);
  });
});
