import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { journalEntrySchema } from '../../../../machines/contracts/journal.ts';
import { finalAnswerSchema } from '../../../../machines/contracts/synthesis.ts';
import { contextOf } from '../../../../machines/policies/context.ts';
import { contextHistory } from '../../../../src/chain/journal/context-history.ts';
import { replay } from '../../../../src/chain/journal/replay.ts';
import { randomRunArbitrary, startRandomRun } from '../../../support/random-runs.ts';
import { sampleSize } from '../../../support/soak.ts';

describe('any run with any model and user', () => {
  it('[E3] [E7] [promise 6] ends with a valid answer within its limits, counts every call, leaves no timer, and replays identically', async () => {
    await fc.assert(
      fc.asyncProperty(randomRunArbitrary, async (random) => {
        const { run, model, clock } = await startRandomRun(random);
        const answer = finalAnswerSchema.parse(await run.answer);
        expect(answer.answerText.trim()).not.toBe('');
        expect(answer.metadata.cycles).toBeLessThanOrEqual(random.maxCycles);
        expect(model.calls.length).toBeLessThanOrEqual(random.maxModelCalls + 3);
        expect(answer.metadata.usage.modelCalls).toBe(model.calls.length);
        expect(answer.metadata.degraded).toBe(answer.status !== 'completed');
        const stored = JSON.parse(JSON.stringify(run.entries)) as typeof run.entries;
        expect(stored.map((entry) => journalEntrySchema.parse(entry))).toEqual(run.entries);
        const replayed = replay(stored);
        expect(replayed.divergence).toBeNull();
        expect(replayed.answer).toEqual(answer);
        expect(contextOf(contextHistory(run.entries))).toEqual(run.ref.getSnapshot().context.messages);
        expect(clock.openTimers).toBe(0);
      }),
      { numRuns: sampleSize('runs with any model and user', 150, 5000) },
    );
  });
});
