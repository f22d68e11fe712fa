import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { align, rowsOf } from '../../../../inspector/fold/compare/align.ts';

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

describe('aligning two paths', () => {
  it('covers both lists, and finds a longest common subsequence', () => {
    fc.assert(
      fc.property(path, path, (left, right) => {
        const { stretches, cutOff } = align(left, right);
        expect(cutOff).toBe(false);
        let [l, r, common] = [0, 0, 0];
        for (const [at, stretch] of stretches.entries()) {
          expect([stretch.left[0], stretch.right[0]]).toEqual([l, r]);
          if (at > 0) expect(stretch.equal).not.toBe(stretches[at - 1]?.equal);
          if (stretch.equal) {
            expect(left.slice(...stretch.left)).toEqual(right.slice(...stretch.right));
            common += stretch.left[1] - stretch.left[0];
          }
          [l, r] = [stretch.left[1], stretch.right[1]];
        }
        expect([l, r]).toEqual([left.length, right.length]);
        expect(common).toBe(longestCommon(left, right));
      }),
    );
  });

  it('aligns only the common start and end if the rest is too large', () => {
    const long = (name: string) => Array.from({ length: 20_000 }, (_, at) => `${name}${at}`);
    const [left, right] = [
      ['same', ...long('a'), 'end'],
      ['same', ...long('b'), 'end'],
    ];
    const { stretches, cutOff } = align(left, right);
    expect(cutOff).toBe(true);
    expect(stretches.map(({ equal, left: [from, to] }) => [equal, from, to])).toEqual([
      [true, 0, 1],
      [false, 1, 20_001],
      [true, 20_001, 20_002],
    ]);
  });
});

describe('paths side by side', () => {
  it('contain every step of both once, in order, and mark as equal exactly the shared ones', () => {
    fc.assert(
      fc.property(fc.tuple(path, path), (paths) => {
        const { rows, first } = rowsOf(...paths);
        for (const [run, steps] of paths.entries())
          expect(rows.flatMap((row) => row.steps[run] ?? [])).toEqual(steps.map((_, at) => at));
        for (const { steps, equal } of rows) {
          const names = steps.map((step, run) => (step === null ? null : (paths[run]?.[step] ?? null)));
          if (equal) expect(new Set(names).size).toBe(1);
          if (equal) expect(names).not.toContain(null);
        }
        const common = rows.findIndex(({ equal }) => !equal);
        expect(first).toBe(common < 0 ? null : common);
        expect(first === null).toBe(new Set(paths.map((steps) => steps.join())).size === 1);
      }),
    );
  });

  it('mark the first step that differs', () => {
    const { rows, first } = rowsOf(['a', 'b', 'c', 'e'], ['a', 'b', 'd', 'e']);
    expect(first).toBe(2);
    expect(rows[2]).toEqual({ steps: [2, 2], equal: false });
    expect(rows[3]).toEqual({ steps: [3, 3], equal: true });
  });
});
