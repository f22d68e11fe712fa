import { describe, expect, it } from 'vitest';
import { assign, createMachine, fromPromise, setup, spawnChild, stopChild } from 'xstate';
import { explore } from '../../../../src/testing/exploration/explore.ts';
import { done } from '../../../../src/testing/exploration/occurrences.ts';
import { caughtError } from '../../../support/errors.ts';
import { xstatePatterns } from '../../../support/example-machines.ts';

const fetching = xstatePatterns.fetching.machine;

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

describe('explore throws an error', () => {
  it('for too many states, naming where they are and which context fields differ', () => {
    expect(caughtError(() => explore(counting, { outcomes: {}, events, limit: 100 }))).toEqual({
      code: 'exploration_failed',
      message:
        'counting has more than 100 states; 51 of them are "open", in which context.count has 51 values. Pass an "abstraction" that leaves out what decides nothing, or raise "limit"',
    });
    const { states } = explore(counting, { outcomes: {}, events, abstraction: () => null });
    expect(states.map(({ value }) => value)).toEqual(['open', 'over']);
  });

  it('for outcomes of an unknown actor, naming the known ones', () => {
    const outcomes = { load: [done('it')], store: [] };
    expect(caughtError(() => explore(fetching, { outcomes, inputs: { once: { maxRetries: 1 } } }))).toEqual({
      code: 'invalid_option',
      message: '"outcomes.store" does not match an actor of fetching, which starts load',
    });
    expect(caughtError(() => explore(counting, { outcomes, events: [] }))?.message).toMatch(/which starts no actors$/u);
  });

  it.each([
    ['at once', [spawnChild('work', { id: 'a' }), spawnChild('work', { id: 'a' })], {}, 'at the start'],
    ['later', spawnChild('work', { id: 'a' }), { actions: spawnChild('work', { id: 'a' }) }, 'in {} on "more"'],
    [
      'by an assignment',
      [],
      { actions: assign(({ spawn }) => ({ all: [spawn('work', { id: 'a' }), spawn('work', { id: 'a' })] })) },
      'in {} on "more"',
    ],
  ])('for two running actors with one id, started %s', (_, entry, more, where) => {
    const machine = setup({ actors: { work: fromPromise(async () => {}) } }).createMachine({
      id: 'm',
      entry: entry as never,
      on: { more: more as never },
    });
    expect(caughtError(() => explore(machine, { outcomes: { work: [done()] } }))).toEqual({
      code: 'exploration_failed',
      message: `m runs two actors with the id "a" ${where}, and an exploration follows one actor per id; give each its own id, or stop the first one`,
    });
  });

  it('for two actors with one id, but not if the first one has ended or was stopped', () => {
    const spawnWork = spawnChild('work' as never, { id: 'a' }) as never;
    const machine = setup({ actors: { work: fromPromise(async () => {}) } }).createMachine({
      id: 'm',
      entry: spawnWork,
      on: { more: { actions: [stopChild('a'), spawnWork] }, 'xstate.done.actor.a': { actions: spawnWork } },
    });
    expect(explore(machine, { outcomes: { work: [done()] }, events: [{ type: 'more' }] }).states).toHaveLength(1);
  });

  it('for events that are not objects with a type', () => {
    for (const given of [['more'], () => ['more']])
      expect(caughtError(() => explore(counting, { events: given as never }))).toEqual({
        code: 'invalid_option',
        message: '"events" must be objects with a "type"; received "more"',
      });
  });

  it('for events that no state handles', () => {
    for (const given of [[{ type: 'mroe' }], () => [{ type: 'mroe' }]])
      expect(caughtError(() => explore(counting, { events: given as never }))).toEqual({
        code: 'invalid_option',
        message: '"events" contains "mroe", which no state of counting handles; expected one of more, stop',
      });
  });

  it('for an actor without outcomes, with an example and a stray name', () => {
    expect(caughtError(() => explore(fetching, { outcomes: { laod: [] } }))).toEqual({
      code: 'invalid_option',
      message:
        '"outcomes.load" is missing (fetching.loading invokes this actor; the chart names no actor "laod"); pass for example { \'load\': [done(output), fails(error)] }, or [] if the actor never ends',
    });
  });

  it('for a nondeterministic guard', () => {
    let result = false;
    const byChance = (): boolean => {
      result = !result;
      return result;
    };
    const nondeterministic = setup({ guards: { byChance } }).createMachine({
      id: 'nondeterministic',
      initial: 'here',
      states: { here: { on: { go: { guard: 'byChance', target: 'there' } } }, there: {} },
    });
    expect(caughtError(() => explore(nondeterministic, { outcomes: {}, events: [{ type: 'go' }] }))).toEqual({
      code: 'exploration_failed',
      message:
        'The guard of "here, go, [byChance] → there" returned two different results in "here" on "go"; a guard may depend only on its context, event and params',
    });
  });

  it('for a context that is changed in place', () => {
    const machine = createMachine({
      id: 'list',
      context: { items: [] as number[] },
      on: { add: { actions: assign(({ context }) => ({ items: context.items, last: context.items.push(1) })) } },
    });
    expect(caughtError(() => explore(machine))).toEqual({
      code: 'exploration_failed',
      message:
        'list changes its context in place in {} (expected context.items.0 to be nothing, received 1); an assignment must return new values',
    });
  });

  it('if its context cannot be created', () => {
    expect(caughtError(() => explore(fetching, { outcomes: { load: [] } }))?.message).toBe(
      'fetching threw at the start, without an input: Cannot read properties of undefined (reading \'maxRetries\'); pass "inputs"',
    );
  });

  it('but not for an actor with an empty list of outcomes', () => {
    const waiting = setup({ actors: { wait: fromPromise(async () => {}) } }).createMachine({
      initial: 'here',
      states: { here: { invoke: { src: 'wait', onDone: 'there' } }, there: {} },
    });
    expect(explore(waiting, { outcomes: { wait: [] } }).states.length).toBe(1);
  });
});
