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
    ['an object that reads like a value', { $type: 'undefined', value: null }, undefined],
    ['sets', new Set(), new Set([1])],
    ['maps', new Map(), new Map([[1, 1]])],
    ['regular expressions', /a/u, /b/u],
    ['the maps of errors', Object.assign(new Error('it'), { seen: new Map() }), new Error('it')],
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
    [new Cart(1), new Cart(2), 'an instance of Cart'],
    [new (class extends Error {})('a'), null, 'an instance of '],
    [new WeakSet(), new WeakSet(), 'an instance of WeakSet'],
    [Promise.resolve(1), Promise.resolve(2), 'an instance of Promise'],
    [() => 1, () => 2, 'a function'],
    [Symbol('a'), Symbol('b'), 'Symbol(a)'],
    [Object(1), Object(2), 'an instance of Number'],
  ])('%o', (first, second, what) => {
    expect(caughtError(() => valuesIn({}, first, second, (value) => value === second))).toEqual({
      code: 'exploration_failed',
      message: `The abstraction of "a" cannot be compared (context.cart.items[0].seen: expected JSON, or a value of a codec; received ${what}); pass an "abstraction" that returns JSON`,
    });
  });

  it.each([
    [hidden(1), 'seen.value', 'a member that is not enumerable'],
    [accessor(1), 'seen.value', 'an accessor'],
    [{ [Symbol('key')]: 1 }, 'seen.Symbol(key)', 'a member whose key is a symbol'],
    [cycle(1), 'seen.self', 'a circular reference'],
    [Array(1), 'seen[0]', 'an empty slot'],
    [Object.assign([1], { more: 1 }), 'seen.more', 'a member of an instance of Array'],
    [{ outer: [{ inner: new WeakSet() }] }, 'seen.outer[0].inner', 'an instance of WeakSet'],
    [Object.assign(new Error('it'), { seen: new WeakSet() }), 'seen.seen', 'an instance of WeakSet'],
  ])('%o', (value, place, what) => {
    const refusal = caughtError(() => valuesIn({}, value, null, () => true));
    expect(refusal?.message).toContain(
      `context.cart.items[0].${place}: expected JSON, or a value of a codec; received ${what})`,
    );
  });

  it('also in an abstraction, an output, and an input that outcomes depend on', () => {
    const abstraction = () => ({ cart: { seen: new WeakSet() } });
    expect(() => valuesIn({ abstraction }, 1, 2, () => true)).toThrow('(abstraction.cart.seen: expected');
    const ending = createMachine({ initial: 'a', states: { a: { type: 'final' } }, output: { seen: new WeakSet() } });
    expect(() => explore(ending)).toThrow('(output.seen: expected');
    const calling = createMachine({ invoke: { src: 'call', input: { notify: () => {} } } });
    expect(() => explore(calling, { outcomes: { call: () => [done()] } })).toThrow(
      'notify: expected JSON, or a value of a codec; received a function (notify))',
    );
    expect(explore(calling, { outcomes: { call: [] } }).states).toHaveLength(1);
  });

  it('unless an abstraction makes it comparable', () => {
    const machine = createMachine({
      context: { cart: new Cart(0) },
      initial: 'a',
      states: {
        a: {
          on: {
            ADD: { actions: assign({ cart: ({ context: { cart } }) => new Cart(Math.min(2, cart.items + 1)) }) },
            PAY: { guard: ({ context }) => context.cart.items >= 2, target: 'paid' },
          },
        },
        paid: {},
      },
    });
    const { states } = explore(machine, { abstraction: ({ context }) => context.cart.items });
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
