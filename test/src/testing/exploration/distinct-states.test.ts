import { describe, expect, it } from 'vitest';
import { assign, createMachine } from 'xstate';
import { type ExploreOptions, explore } from '../../../../src/testing/exploration/explore.ts';
import { done } from '../../../../src/testing/exploration/occurrences.ts';
import { caughtError } from '../../../support/errors.ts';

class Cart {
  readonly #items: number;
  constructor(items: number) {
    this.#items = items;
  }
  get items(): number {
    return this.#items;
  }
}

const hidden = (value: number): object => Object.defineProperty({}, 'value', { value, enumerable: false });
const accessor = (value: number): object => Object.defineProperty({}, 'value', { get: () => value, enumerable: true });
const cycle = (value: number): object => {
  const knot: { self?: unknown; value: number } = { value };
  knot.self = knot;
  return knot;
};

/** A machine in which one event changes one value of the context. Only with the second value does another event lead to `b`. */
const switching = (first: unknown, second: unknown, isSecond: (value: unknown) => boolean) =>
  createMachine({
    id: 'm',
    context: { cart: { items: [{ seen: first }] } },
    initial: 'a',
    states: {
      a: {
        on: {
          TAKE: { actions: assign({ cart: { items: [{ seen: second }] } }) },
          OPEN: { guard: ({ context }) => isSecond(context.cart.items[0]?.seen), target: 'b' },
        },
      },
      b: {},
    },
  });

const valuesIn = (options: ExploreOptions<ReturnType<typeof switching>>, ...given: Parameters<typeof switching>) =>
  new Set(explore(switching(...given), options).states.map(({ value }) => value));

describe('explore distinguishes all contexts that a machine can distinguish:', () => {
  it.each<[string, unknown, unknown]>([
    ['NaN and null', null, Number.NaN],
    ['Infinity and null', null, Number.POSITIVE_INFINITY],
    ['Infinity and -Infinity', Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
    ['0 and -0', 0, -0],
    ['undefined and null', null, undefined],
    ['a missing member and undefined', {}, { member: undefined }],
    ['a missing item and undefined', Array(1), [undefined]],
    ['a BigInt and a text', '1', 1n],
    ['two dates', new Date(0), new Date(1)],
    ['an invalid date and null', null, new Date(Number.NaN)],
    ['the messages of errors', new Error('soft'), new Error('fatal')],
    ['the classes of errors', new Error('it'), new TypeError('it')],
    ['the causes of errors', new Error('it', { cause: 1 }), new Error('it', { cause: 2 })],
    ['the codes of errors', Object.assign(new Error('it'), { code: 1 }), Object.assign(new Error('it'), { code: 2 })],
    ['bytes', new Uint8Array([1]), new Uint8Array([2])],
    ['bytes and a list', [1], new Uint8Array([1])],
    ['a member named __proto__', JSON.parse('{"__proto__":1}'), JSON.parse('{"__proto__":2}')],
    ['a prototype', {}, Object.create(null)],
    ['a text that reads like a value', 'undefined', undefined],
  ])('%s', (_, first, second) => {
    expect(valuesIn({}, first, second, (value) => Object.is(value, second))).toEqual(new Set(['a', 'b']));
  });

  it('an object that occurs twice from an equal one', () => {
    const machine = createMachine({
      context: { items: [{ n: 1 }], selected: null as { n: number } | null },
      initial: 'a',
      states: {
        a: {
          on: {
            COPY: { actions: assign({ selected: { n: 1 } }) },
            SELECT: { actions: assign({ selected: ({ context }) => context.items[0] ?? null }) },
            OPEN: { guard: ({ context }) => context.items.some((item) => item === context.selected), target: 'b' },
          },
        },
        b: {},
      },
    });
    expect(explore(machine).states.map(({ value }) => value)).toContain('b');
  });
});

describe('explore rejects a value that it cannot distinguish, with its path:', () => {
  it.each<[unknown, unknown, string]>([
    [new Set(), new Set([1]), 'a Set'],
    [new Map(), new Map([[1, 1]]), 'a Map'],
    [new WeakSet(), new WeakSet(), 'a WeakSet'],
    [/a/u, /b/u, 'a RegExp'],
    [new Cart(1), new Cart(2), 'an instance of Cart'],
    [new (class extends Error {})('a'), null, 'an instance of an unnamed class'],
    [Promise.resolve(1), Promise.resolve(2), 'a Promise'],
    [new ArrayBuffer(1), new ArrayBuffer(2), 'an ArrayBuffer'],
    [() => 1, () => 2, 'a function'],
    [Symbol('a'), Symbol('b'), 'a symbol'],
    [cycle(1), cycle(2), 'a circular reference'],
    [Object.assign([1], { more: 1 }), [1], 'an array with other members'],
    [Object(1), Object(2), 'a Number'],
  ])('%o', (first, second, what) => {
    const inner = what === 'a circular reference' ? '.self' : '';
    expect(caughtError(() => valuesIn({}, first, second, (value) => value === second))).toEqual({
      code: 'exploration_failed',
      message: `The abstraction of "a" is not JSON (context.cart.items[0].seen${inner} is ${what}); pass an "abstraction" that returns JSON`,
    });
  });

  it.each([
    [hidden(1), 'seen.value is a hidden member'],
    [accessor(1), 'seen.value is an accessor'],
    [{ [Symbol('key')]: 1 }, 'seen.Symbol(key) is a hidden member'],
    [{ outer: [{ inner: new Set() }] }, 'seen.outer[0].inner is a Set'],
    [Object.assign(new Error('it'), { seen: new Map() }), 'seen.seen is a Map'],
  ])('%o', (value, what) => {
    expect(() => valuesIn({}, value, null, () => true)).toThrow(`(context.cart.items[0].${what})`);
  });

  it('also in an abstraction, an output, and an input that outcomes depend on', () => {
    const abstraction = () => ({ cart: { seen: new Set() } });
    expect(() => valuesIn({ abstraction }, 1, 2, () => true)).toThrow('(abstraction.cart.seen is a Set)');
    const ending = createMachine({ initial: 'a', states: { a: { type: 'final' } }, output: { seen: new Set() } });
    expect(() => explore(ending)).toThrow('(output.seen is a Set)');
    const calling = createMachine({ invoke: { src: 'call', input: { notify: () => {} } } });
    expect(() => explore(calling, { outcomes: { call: () => [done()] } })).toThrow('notify is a function)');
    expect(explore(calling, { outcomes: { call: [] } }).states).toHaveLength(1);
  });

  it('unless an abstraction makes it comparable', () => {
    const machine = createMachine({
      context: { seen: new Set<number>() },
      initial: 'a',
      states: {
        a: {
          on: {
            ADD: { actions: assign({ seen: ({ context: { seen } }) => new Set([...seen, Math.min(1, seen.size)]) }) },
            PAY: { guard: ({ context }) => context.seen.size >= 2, target: 'paid' },
          },
        },
        paid: {},
      },
    });
    const { states } = explore(machine, { abstraction: ({ context }) => [...context.seen] });
    expect(states.map(({ value }) => value)).toContain('paid');
  });
});

it('distinguishes children by their inputs if their outcomes do', () => {
  const machine = createMachine({
    initial: 'a',
    states: {
      a: { on: { ONE: { target: 'b' }, TWO: { target: 'b', actions: assign({ n: 2 }) } } },
      b: {
        entry: assign({ n: 0, left: ({ context }) => context.n }),
        invoke: { src: 'call', input: ({ context }) => context.left, onDone: 'c' },
      },
      c: {},
    },
    context: { n: 1, left: 0 },
  });
  const abstracted = explore(machine, {
    outcomes: { call: (input) => (input === 2 ? [done()] : []) },
  });
  expect(abstracted.states.map(({ value }) => value)).toContain('c');
});
