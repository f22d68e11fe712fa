import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../../machines/contracts/journal-entry.ts';
import { replay } from '../../../../src/journal/replay/replay.ts';
import { rerecord } from '../../../../src/journal/replay/rerecord.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { aRandomRun, playRandomRun } from '../../../support/random-runs.ts';
import { entriesOf, rulesOf, startScripted } from '../../../support/run-chain.ts';

const written = (journal: readonly JournalEntry[]): JournalEntry[] => JSON.parse(JSON.stringify(journal));

const rulesIn = (journal: readonly JournalEntry[]): readonly string[] =>
  journal.flatMap((entry) => (entry.type === 'decision' ? [entry.decision.rule] : []));

describe('a recording that is made anew', () => {
  it('is what it was where the charts are what they were', async () => {
    await fc.assert(
      fc.asyncProperty(aRandomRun, async (random) => {
        const { run } = await playRandomRun({ ...random, words: [], mode: 'automatic' });
        const { answerText, status } = await run.answer;
        const again = await rerecord(written(run.journal));
        expect(rulesIn(again)).toEqual(rulesOf(run));
        expect(again.findLast((entry) => entry.type === 'answer')?.answer).toMatchObject({ answerText, status });
        expect(replay(written(again)).divergence).toBeNull();
      }),
      { numRuns: 150 },
    );
  });

  it('takes the way that the charts take now, on the answers that were recorded', async () => {
    const unsure = { ...replies.yield, confidence: 0.8 };
    const { run } = startScripted({ yield: unsure }, { limits: { maxCycles: 3 } });
    await run.answer;
    expect(rulesOf(run).length).toBeGreaterThan(1);
    const [start, ...others] = written(run.journal);
    // As if the threshold had been lowered since.
    const thresholds = { ...entriesOf(run, 'run-start')[0]?.thresholds, confidence: 0.7 };
    const recorded = [{ ...start, thresholds }, ...others] as JournalEntry[];
    expect(replay(recorded).divergence).toMatchObject({
      recorded: { type: 'transition' },
      replayed: { type: 'transition', target: ['synthesizing'] },
    });
    const now = await rerecord(recorded);
    expect(rulesIn(now)).toEqual(['confidenceReached']);
    expect(replay(written(now)).divergence).toBeNull();
  });

  it('says again what the user said, when it is asked for', async () => {
    const { run } = startScripted({}, { thresholds: { confidence: 1 } }, { mode: 'manual' });
    for await (const event of run.events) {
      if (event.type !== 'direction-asked') continue;
      run.send(event.cycle === 1 ? { type: 'run.directed', phase: 'intention' } : { type: 'run.finished' });
    }
    const again = await rerecord(written(run.journal));
    expect(again.flatMap((entry) => (entry.type === 'delivery' ? [entry.event] : []))).toEqual(
      entriesOf(run, 'delivery').map(({ event }) => event),
    );
    expect(rulesIn(again)).toEqual(rulesOf(run));
  });

  it('is refused where the charts now ask what nobody answered then', async () => {
    const { run } = startScripted({}, { thresholds: { confidence: 1 } }, { mode: 'manual' });
    for await (const event of run.events) if (event.type === 'direction-asked') run.send({ type: 'run.finished' });
    const silent = written(run.journal).filter(({ type }) => type !== 'delivery');
    await expect(rerecord(silent)).rejects.toMatchObject({
      code: 'invalid_journal',
      message:
        'run-1: the charts now ask the user for what the recording has no answer to; fork it, or record it anew.',
    });
  });
});
