import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rowsOf } from '../../../../inspector/fold/compare/align.ts';

const path = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 30 });

/** The length of the longest common subsequence, by dynamic programming. */
function longestCommon(left: readonly string[], right: readonly string[]): number {
  let before: number[] = new Array(right.length + 1).fill(0);
  for (const item of left) {
    const row = [0];
    for (const [at, other] of right.entries())
      row.push(item === other ? (before[at] ?? 0) + 1 : Math.max(before[at + 1] ?? 0, row[at] ?? 0));
    before = row;
  }
  return before.at(-1) ?? 0;
}

describe('two paths side by side', () => {
  it('contain every step of both once, in order, with the steps at the parting together and as many equal ones as possible', () => {
    fc.assert(
      fc.property(path, path, (...paths) => {
        const { rows, first, cutOff } = rowsOf(...paths);
        expect(cutOff).toBe(false);
        for (const [run, steps] of paths.entries())
          expect(rows.flatMap((row) => row.steps[run] ?? [])).toEqual(steps.map((_, at) => at));
        for (const { steps, equal } of rows)
          if (equal) expect(paths[0][steps[0] ?? -1] ?? null).toBe(paths[1][steps[1] ?? -1]);
        expect(first === null).toBe(paths[0].join() === paths[1].join());
        if (first === null) return;
        expect(rows.slice(0, first).every(({ equal }) => equal)).toBe(true);
        expect(rows[first]?.steps).toEqual(paths.map(({ length }) => (first < length ? first : null)));
        const [left, right] = paths.map((steps) => steps.slice(first + 1));
        expect(rows.filter(({ equal }) => equal)).toHaveLength(first + longestCommon(left ?? [], right ?? []));
      }),
    );
  });

  it('keeps the step with which one of them ends beside the other, although that one ends with it, too', () => {
    const { rows, first } = rowsOf(['a', 'end', 'z'], ['a', 'more', 'b', 'end', 'z']);
    expect(first).toBe(1);
    expect(rows.map(({ steps }) => steps)).toEqual([
      [0, 0],
      [1, 1],
      [null, 2],
      [null, 3],
      [2, 4],
    ]);
  });

  it('are aligned up to the first difference only if the rest is too large', () => {
    const long = (name: string) => Array.from({ length: 20_000 }, (_, at) => `${name}${at}`);
    const { rows, first, cutOff } = rowsOf(['same', ...long('a')], ['same', ...long('b')]);
    expect([first, cutOff, rows.length]).toEqual([1, true, 20_001]);
  });
});
