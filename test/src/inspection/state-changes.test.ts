import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changesBetween, withChanges } from '../../../src/inspection/state-changes.ts';
import { sampleSize } from '../../support/soak.ts';

const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('changesBetween and withChanges', () => {
  it('transform any JSON value into any other', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (before, after) => {
        const changes = json(changesBetween(before, after)) as ReturnType<typeof changesBetween>;
        expect(json(withChanges(before, changes))).toEqual(json(after));
      }),
      { numRuns: sampleSize('changes of JSON', 1_000, 50_000) },
    );
  });

  it('produce no more changes than there are differences', () => {
    const list = Array.from({ length: 1_000 }, (_, id) => ({ id }));
    const [first, second] = [
      { list, other: { a: 1, b: [1] } },
      { list: [...list, { id: 1_000 }], other: { a: 2, b: [1] } },
    ];
    expect(changesBetween(first, { ...first })).toEqual([]);
    expect(changesBetween(first, { ...second, other: { ...first.other, a: 2 } })).toEqual([
      { path: ['list'], at: 1_000, removed: 0, added: [{ id: 1_000 }] },
      { path: ['other', 'a'], value: 2 },
    ]);
    const one = list.with(500, { id: -1 });
    expect(changesBetween(list, one)).toEqual([{ path: [500, 'id'], value: -1 }]);
    expect(changesBetween(list, list.toSpliced(500, 1))).toEqual([{ path: [], at: 500, removed: 1, added: [] }]);
  });
});
