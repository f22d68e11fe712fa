import { describe, expect, it } from 'vitest';
import { emittedEventSchema } from '../../../machines/contracts/events.ts';
import { journalEntrySchema } from '../../../machines/contracts/journal.ts';
import { aDecision } from '../../support/contract-samples.ts';
import { startScripted } from '../../support/run-chain.ts';

describe('a journal entry', () => {
  it('is rejected with a negative position, or an unknown type', () => {
    const [start] = startScripted().run.entries;
    expect(journalEntrySchema.parse(start)).toEqual(start);
    expect(journalEntrySchema.safeParse({ ...start, seq: -1 }).error?.issues[0]?.path).toEqual(['seq']);
    expect(journalEntrySchema.safeParse({ ...start, type: 'gossip' }).success).toBe(false);
  });

  it('reports the invalid field in a chart entry', () => {
    const bad = { type: 'decision', decision: aDecision({ cycle: 0 }), continuationPrompt: null };
    expect(emittedEventSchema.safeParse(bad).error?.issues.map(({ path }) => path.join('.'))).toEqual([
      'decision.cycle',
    ]);
  });
});
