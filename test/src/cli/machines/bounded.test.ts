import { describe, expect, it } from 'vitest';
import { bounded } from '../../../../src/cli/machines/bounded.ts';

describe('a bounded result', () => {
  it('is unchanged if it is small, apart from values that are not JSON', () => {
    expect(bounded({ states: [{ state: 'a', seen: new Set([1]) }] })).toEqual({ states: [{ state: 'a', seen: [1] }] });
  });

  it('is at most as long as allowed, and says what was left out and where', () => {
    const result = bounded(
      { count: 500, states: Array.from({ length: 500 }, (_, at) => ({ name: `state ${at}` })) },
      2_000,
    );
    expect(JSON.stringify(result).length).toBeLessThanOrEqual(2_000);
    expect(result['count']).toBe(500);
    const { length } = result['states'] as readonly unknown[];
    expect(length).toBeGreaterThan(10);
    expect(result['leftOut']).toEqual([`states: ${500 - length} of 500`]);
  });

  it('cuts long texts and large objects', () => {
    const context = Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`field${at}`, 'x'.repeat(900)]));
    const result = bounded({ nested: [{ context }], text: 'y'.repeat(100_000) }, 5_000);
    expect(JSON.stringify(result).length).toBeLessThanOrEqual(5_000);
    expect(String(result['leftOut'])).toMatch(/nested\[0\]\.context: \d+ of 900/u);
    expect(String(result['leftOut'])).toMatch(/text: \d+ of 100000 characters/u);
  });
});
