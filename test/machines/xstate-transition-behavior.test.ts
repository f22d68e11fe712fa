import { describe, expect, test } from 'vitest';
import { assign, createActor, createMachine, emit, SimulatedClock, setup } from 'xstate';

/** How XState 5.33 takes transitions and runs timers, as far as the charts rely on it. */

describe('transitions in XState', () => {
  test('take the always transition of a child before that of its parent', () => {
    const machine = createMachine({
      initial: 'outer',
      states: {
        outer: { initial: 'inner', always: 'byParent', states: { inner: { always: '#byChild' } } },
        byParent: {},
        byChild: { id: 'byChild' },
      },
    });
    expect(createActor(machine).start().getSnapshot().value).toBe('byChild');
  });

  test('evaluate the always transitions of a parent after every transition of its children', () => {
    const machine = setup({
      types: { context: {} as { n: number } },
      guards: { enough: ({ context }) => context.n >= 2 },
    }).createMachine({
      context: { n: 0 },
      initial: 'outer',
      states: {
        outer: {
          always: { guard: 'enough', target: 'left' },
          initial: 'a',
          states: { a: { on: { go: { actions: assign({ n: ({ context }) => context.n + 1 }) } } } },
        },
        left: {},
      },
    });
    const actor = createActor(machine).start();
    actor.send({ type: 'go' });
    expect(actor.getSnapshot().value).toEqual({ outer: 'a' });
    actor.send({ type: 'go' });
    expect(actor.getSnapshot().value).toBe('left');
  });

  test('keep the timeout of a parent running while its children change, and restart that of a re-entered child', () => {
    const clock = new SimulatedClock();
    const machine = createMachine({
      initial: 'outer',
      states: {
        outer: {
          after: { 100: 'late' },
          initial: 'a',
          states: { a: { on: { beat: { target: 'a', reenter: true } }, after: { 40: '#stalled' } } },
        },
        late: {},
        stalled: { id: 'stalled' },
      },
    });
    const actor = createActor(machine, { clock }).start();
    for (const _ of [1, 2, 3]) {
      clock.increment(30);
      actor.send({ type: 'beat' });
    }
    expect(actor.getSnapshot().value).toEqual({ outer: 'a' });
    clock.increment(10);
    expect(actor.getSnapshot().value).toBe('late');
  });

  test('do not restart the timeout of a child for an event that the parent handles without a target', () => {
    const clock = new SimulatedClock();
    const machine = createMachine({
      initial: 'outer',
      states: {
        outer: { on: { note: { actions: () => {} } }, initial: 'a', states: { a: { after: { 40: '#stalled' } } } },
        stalled: { id: 'stalled' },
      },
    });
    const actor = createActor(machine, { clock }).start();
    clock.increment(30);
    actor.send({ type: 'note' });
    clock.increment(10);
    expect(actor.getSnapshot().value).toBe('stalled');
  });

  test('lose timers on restore', () => {
    const machine = createMachine({ initial: 'a', states: { a: { after: { 10: 'b' } }, b: {} } });
    const snapshot = createActor(machine, { clock: new SimulatedClock() }).start().getPersistedSnapshot();
    const clock = new SimulatedClock();
    const restored = createActor(machine, { clock, snapshot }).start();
    clock.increment(1_000);
    expect(restored.getSnapshot().value).toBe('a');
  });
});

test('a final state emits on entry before the machine is done', () => {
  const order: string[] = [];
  const machine = setup({ types: { emitted: {} as { type: 'last' } } }).createMachine({
    initial: 'a',
    states: { a: { on: { go: 'b' } }, b: { type: 'final', entry: emit({ type: 'last' }) } },
  });
  const actor = createActor(machine);
  actor.on('last', () => order.push('emitted'));
  actor.subscribe({ complete: () => order.push('complete') });
  actor.start();
  actor.send({ type: 'go' });
  expect(order).toEqual(['emitted', 'complete']);
});
