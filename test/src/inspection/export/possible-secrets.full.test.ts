import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import { suspectsIn } from '../../../../src/inspection/redaction.ts';

const withText = (text: unknown) =>
  [
    { seq: 1, atMs: 0, type: 'activity-event', call: 0, actor: 'x', event: { type: 'done', output: text } },
  ] as unknown as readonly JournalEntry[];

const found = (text: unknown) => suspectsIn(withText(text)).map(({ text: suspect }) => suspect);

describe('detecting possible secrets', () => {
  it('reports all of them, however many are in one text', () => {
    const keys = [1, 2, 3].map((number) => `sk-${`${number}`.repeat(20)}`);
    expect(found(`${keys.join(' ')} ann@example.org bob@example.org`)).toEqual([
      ...keys,
      'ann@example.org',
      'bob@example.org',
    ]);
  });

  it('includes member names', () => {
    expect(found({ 'ann@example.org': true })).toEqual(['ann@example.org']);
  });

  it('does not backtrack without bound in 200 kB of near matches', () => {
    expect(found('eyJ-'.repeat(50_000))).toEqual([]);
  });

  it('reports a whole long key if that is what redaction removes', () => {
    const [suspect] = suspectsIn(withText(`sk-${'x'.repeat(200)}`));
    expect(suspect?.text).toBe(`sk-${'x'.repeat(57)}`);
  });
});
