import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import { replay } from '../../../../src/chain/journal/replay.ts';
import { rerecord } from '../../../../src/chain/journal/rerecord.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { randomRunArbitrary, startRandomRun } from '../../../support/random-runs.ts';
import { entriesOf, rulesOf, startScripted } from '../../../support/run-chain.ts';
import { sampleSize } from '../../../support/soak.ts';

const readBack = (journal: readonly JournalEntry[]): JournalEntry[] => JSON.parse(JSON.stringify(journal));

const rulesIn = (journal: readonly JournalEntry[]): readonly string[] =>
  journal.flatMap((entry) => (entry.type === 'decision' ? [entry.decision.rule] : []));

describe('rerecord', () => {
  it('reproduces the run if the charts are unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(randomRunArbitrary, async (random) => {
        const { run } = await startRandomRun({ ...random, words: [], mode: 'automatic' });
        const { answerText, status } = await run.answer;
        const again = await rerecord(readBack(run.entries));
        expect(rulesIn(again)).toEqual(rulesOf(run));
        expect(again.findLast((entry) => entry.type === 'answer')?.answer).toMatchObject({ answerText, status });
        expect(replay(readBack(again)).divergence).toBeNull();
      }),
      { numRuns: sampleSize('recorded runs', 25, 500) },
    );
  });

  it('follows the changed charts with the recorded replies', async () => {
    const unsure = { ...replies.yield, confidence: 0.8 };
    const { run } = startScripted({ yield: unsure }, { limits: { maxCycles: 3 } });
    await run.answer;
    expect(rulesOf(run).length).toBeGreaterThan(1);
    const [start, ...others] = readBack(run.entries);
    // As if the threshold had been lowered after the recording.
    const thresholds = { ...entriesOf(run, 'start')[0]?.input.thresholds, confidence: 0.7 };
    const recorded = [{ ...start, input: { ...Object(start).input, thresholds } }, ...others] as JournalEntry[];
    expect(replay(recorded).divergence).toMatchObject({
      recorded: { type: 'transition' },
      replayed: { type: 'transition', target: ['synthesizing'] },
    });
    const now = await rerecord(recorded);
    expect(rulesIn(now)).toEqual(['confidenceReached']);
    expect(replay(readBack(now)).divergence).toBeNull();
  });

  it('sends the recorded user events when the run asks for them', async () => {
    const { run } = startScripted({}, { thresholds: { confidence: 1 } }, { mode: 'manual' });
    for await (const event of run.events) {
      if (event.type !== 'direction-asked') continue;
      const { cycle, questionId } = event;
      run.send(cycle === 1 ? { type: 'run.directed', phase: 'intention', questionId } : { type: 'run.finished' });
    }
    const again = await rerecord(readBack(run.entries));
    expect(again.flatMap((entry) => (entry.type === 'delivery' ? [entry.event] : []))).toEqual(
      entriesOf(run, 'delivery').map(({ event }) => event),
    );
    expect(rulesIn(again)).toEqual(rulesOf(run));
  });

  it('rejects if the charts now ask for something that was not recorded', async () => {
    const { run } = startScripted({}, { thresholds: { confidence: 1 } }, { mode: 'manual' });
    for await (const event of run.events) if (event.type === 'direction-asked') run.send({ type: 'run.finished' });
    const silent = readBack(run.entries).filter(({ type }) => type !== 'delivery');
    await expect(rerecord(silent)).rejects.toMatchObject({
      code: 'invalid_journal',
      message:
        'run-1: the recording has no answer of the user, which the charts now ask for; fork the run or record it again',
    });
  });
});
