import { expect, it } from 'vitest';
import {
  and,
  assign,
  createMachine,
  enqueueActions,
  fromPromise,
  not,
  raise,
  sendTo,
  setup,
  spawnChild,
  stateIn,
} from 'xstate';
import { explore } from '../../../../src/testing/exploration/explore.ts';
import { noMissingImplementation } from '../../../../src/testing/properties/properties.ts';

const missing = (machine: Parameters<typeof explore>[0], except: readonly string[] = []) =>
  noMissingImplementation({ except }).check(
    explore(machine, { outcomes: machine.id === 'm' ? { load: [] } : {}, depth: 2 }),
  )?.what;

it('finds each actor, action, guard and delay that is named and not provided', () => {
  const machine = createMachine({
    id: 'm',
    initial: 'a',
    entry: ['greet', { type: 'log' }, enqueueActions(({ enqueue }) => enqueue('queued'))],
    exit: 'leave',
    states: {
      a: {
        invoke: { src: 'load', onDone: { target: 'b', actions: 'store' } },
        after: { patience: 'b', 10: 'b' },
        on: {
          GO: [
            { guard: 'isReady', target: 'b' },
            { guard: { type: 'isOpen' }, target: 'b' },
          ],
          TRY: {
            guard: and(['isNew', not('isOld'), stateIn('a')]),
            actions: ['greet', raise({ type: 'GO' }, { delay: 'soon' as never })],
          },
        },
      },
      b: {
        always: { guard: 'isOver', target: 'c' },
        initial: 'x',
        entry: [spawnChild('work'), sendTo(({ self }) => self, { type: 'GO' }, { delay: 'later' as never })],
        states: { x: {} },
      },
      c: {},
    },
  } as never);
  expect(missing(machine)?.split('; ').sort()).toEqual([
    'action "greet" of m',
    'action "leave" of m',
    'action "log" of m',
    'action "queued" of m are not provided',
    'action "store" of m.a',
    'actor "load" of m.a',
    'actor "work" of m.b',
    'delay "later" of m.b',
    'delay "patience" of m.a',
    'delay "soon" of m.a',
    'guard "isNew" of m.a',
    'guard "isOld" of m.a',
    'guard "isOpen" of m.a',
    'guard "isOver" of m.b',
    'guard "isReady" of m.a',
  ]);
});

it('holds for what setup or provide has, and for exceptions', () => {
  const provided = setup({
    actors: { load: fromPromise(async () => {}) },
    actions: { greet: assign({}) },
    guards: { isReady: () => true },
    delays: { patience: 10 },
  }).createMachine({
    id: 'm',
    initial: 'a',
    entry: 'greet',
    states: {
      a: { invoke: { src: 'load' }, after: { patience: 'b' }, on: { GO: { guard: 'isReady', target: 'b' } } },
      b: {},
    },
  });
  expect(missing(provided)).toBeUndefined();
  const bare = createMachine({ id: 'bare', entry: 'greet' });
  expect(missing(bare)).toBe('action "greet" of bare is not provided');
  expect(missing(bare.provide({ actions: { greet: () => {} } }))).toBeUndefined();
  expect(missing(bare, ['action "greet" of bare'])).toBeUndefined();
  expect(() => missing(bare, ['greet'])).toThrow(
    '"except" must use names as findings print them, for example "action \\"greet\\" of bare"; received "greet"',
  );
});
