import { expect, it } from 'vitest';
import { createActor, createMachine } from 'xstate';
import { plainJson } from '../../../src/internal/plain-json.ts';

it('describes everything that is not JSON', () => {
  const actor = createActor(createMachine({}), { id: 'kid' });
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  const value = {
    map: new Map([['a', new Set([1])]]),
    at: new Date(0),
    error: Object.assign(new TypeError('no'), { code: 7 }),
    numbers: [Number.NaN, Number.POSITIVE_INFINITY, -0, 10n, undefined],
    none: undefined,
    actor,
    circular,
    run() {},
    bytes: new Uint8Array(3),
    broken: {
      get it() {
        throw new Error('no');
      },
    },
    pattern: /a/u,
    twice: [circular, circular].map(() => 1),
  };
  expect(plainJson(value)).toEqual({
    map: [['a', [1]]],
    at: '1970-01-01T00:00:00.000Z',
    error: { name: 'TypeError', message: 'no', code: 7 },
    numbers: ['NaN', 'Infinity', -0, '10n', null],
    actor: { xstate$$type: 1, id: 'kid' },
    circular: { self: '[circular]' },
    run: '[function run]',
    bytes: '[Uint8Array of 3 bytes]',
    broken: '[unreadable]',
    pattern: '/a/u',
    twice: [1, 1],
  });
});

it('is limited in depth, number of values, and characters', () => {
  let deep: unknown = 'end';
  for (let level = 0; level < 1_000; level += 1) deep = [deep];
  expect(JSON.stringify(plainJson(deep))).toBe(`${'['.repeat(50)}"[…]"${']'.repeat(50)}`);
  const many = plainJson(Array.from({ length: 200_000 }, () => 1)) as unknown[];
  expect(many.filter((one) => one === 1).length).toBeLessThanOrEqual(100_000);
  expect(JSON.stringify(plainJson(Array.from({ length: 9 }, () => 'x'.repeat(500_000)))).length).toBeLessThan(
    2_000_000,
  );
});
