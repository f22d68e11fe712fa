import { expect, it } from 'vitest';
import { reusedKeys } from '../../../inspector/panels/trace/use-window.ts';

const rows = (from: number, count: number) => Array.from({ length: count }, (_, index) => `row${from + index}`);

it('scrolling to other rows reuses all elements in order', () => {
  const before = reusedKeys(new Map(), rows(0, 30));
  const after = reusedKeys(before, rows(500, 30));
  expect([...after.values()]).toEqual([...before.values()]);
});

it('rows that stay in view keep their elements', () => {
  const before = reusedKeys(new Map(), rows(0, 30));
  const after = reusedKeys(before, rows(3, 30));
  for (const id of rows(3, 27)) expect(after.get(id)).toBe(before.get(id));
  expect(new Set(after.values())).toEqual(new Set(before.values()));
});

it('no two rows share an element when their number grows and shrinks', () => {
  let keys = reusedKeys(new Map(), rows(0, 30));
  for (const [from, count] of [
    [10, 5],
    [7, 40],
    [200, 33],
    [190, 60],
  ] as const) {
    keys = reusedKeys(keys, rows(from, count));
    expect(new Set(keys.values()).size).toBe(count);
  }
});
