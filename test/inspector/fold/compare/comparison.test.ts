import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareRuns } from '../../../../inspector/fold/compare/comparison.ts';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import { memoryJournals } from '../../../../src/chain/journal/stores.ts';
import { comparedRun } from '../../../support/inspector/inspected-runs.ts';
import { randomRunArbitrary, startRandomRun } from '../../../support/random-runs.ts';
import { repliesWith, scriptedChain, startScripted, unsureAnswer } from '../../../support/run-chain.ts';

async function runWith(confidence: number, limits = {}): Promise<readonly JournalEntry[]> {
  const answer = unsureAnswer(1, { confidence });
  const { run } = startScripted({ yield: answer }, { limits: { maxCycles: 2, ...limits } });
  await run.answer;
  return run.journal;
}

describe('comparing runs', () => {
  it('finds no difference between a run and itself', async () => {
    await fc.assert(
      fc.asyncProperty(randomRunArbitrary, async (random) => {
        const { run } = await startRandomRun(random);
        const whole = comparedRun(run.journal);
        const { first, firstContent, starts, cutOff, rows } = compareRuns([whole, comparedRun(run.journal)]);
        expect({ first, starts, cutOff }).toEqual({ first: null, starts: [], cutOff: false });
        expect(firstContent.difference).toBeNull();
        expect(rows.every(({ equal }) => equal)).toBe(true);
      }),
      { numRuns: 20 },
    );
  });

  it('names the guard at which the runs diverge, and its inputs', async () => {
    const [unsure, sure] = [await runWith(0.6), await runWith(0.95, { maxModelCalls: 50 })];
    const { firstStep, firstContent, starts, first, rows, paths } = compareRuns([
      comparedRun(unsure),
      comparedRun(sure),
    ]);
    const parting = firstStep?.candidates.find(({ isFirstDifference }) => isFirstDifference);
    expect(parting?.guard).toBe('confidenceReached');
    expect(parting?.results).toEqual(['false', 'taken']);
    const confidence = parting?.inputs.find(({ name }) => name === 'confidence');
    expect(confidence?.differs).toBe(true);
    expect(new Set(confidence?.values).size).toBe(2);
    expect(parting?.inputs.find(({ name }) => name === 'threshold')?.differs ?? false).toBe(false);
    // The model's reply came first and caused it.
    const { difference } = firstContent;
    expect([difference?.kind, difference?.nth]).toEqual(['reply to yield', 1]);
    expect(difference?.fields).toEqual([{ path: 'confidence', values: [0.6, 0.95] }]);
    expect(starts).toEqual([{ path: 'limits.maxModelCalls', values: [100, 50] }]);
    const [left, right] = rows[first ?? -1]?.steps ?? [];
    expect(paths[0]?.[left ?? -1]?.transition.source).toBe('postChain.cycling.yield.deciding');
    expect(paths[1]?.[right ?? -1]?.transition.target).toEqual(['synthesizing']);
  });

  it('shows what the program stored with the runs', async () => {
    const entries = await runWith(0.6);
    const storedAs = (host: Record<string, string>) =>
      comparedRun(entries.map((entry) => (entry.type === 'run-start' ? { ...entry, host } : entry)));
    const { starts } = compareRuns([storedAs({ model: 'a' }), storedAs({ model: 'b' })]);
    expect(starts).toEqual([{ path: 'host.model', values: ['a', 'b'] }]);
  });

  it('names the first field that differs if the paths are the same', async () => {
    const notes = (text: string) => ({ ...repliesWith({}).synthesis, notes: text });
    const runWithNotes = async (text: string) => {
      const { run } = startScripted({ synthesis: notes(text) });
      await run.answer;
      return comparedRun(run.journal);
    };
    const { first, firstStep, firstContent } = compareRuns([await runWithNotes('first'), await runWithNotes('second')]);
    expect([first, firstStep]).toEqual([null, null]);
    expect(firstContent.difference?.kind).toBe('reply to synthesis');
    expect(firstContent.difference?.fields).toEqual([{ path: 'notes', values: ['first', 'second'] }]);
  });

  it('recognizes a fork and where it diverges', async () => {
    const journals = memoryJournals();
    let created = 0;
    const newId = () => `run-${created++}`;
    const { chain } = scriptedChain({ yield: unsureAnswer(1, {}) }, { journals, newId, limits: { maxCycles: 2 } });
    const run = chain.run({ request: 'Is it so?' });
    await run.answer;
    const at = run.journal.find(({ type }) => type === 'decision')?.seq ?? 0;
    const fork = await chain.fork(run.runId, { at, set: { 'thresholds.confidence': 0.1 } });
    await fork.answer;
    const { forkedFrom, firstStep } = compareRuns([comparedRun(run.journal), comparedRun(fork.journal)]);
    expect(forkedFrom[0]).toBeNull();
    expect(forkedFrom[1]).toMatchObject({
      runId: run.runId,
      changes: [expect.stringContaining('thresholds.confidence')],
    });
    expect(firstStep?.candidates.find(({ isFirstDifference }) => isFirstDifference)?.guard).toBe('confidenceReached');
  });

  it('gives the totals of the journal', async () => {
    const journal = await runWith(0.6);
    const end = journal.at(-1);
    if (end?.type !== 'run-end') throw new Error('the run has not ended');
    const [totals] = compareRuns([comparedRun(journal), comparedRun(journal)]).totals;
    const { modelCalls, inputTokens, outputTokens } = end.usage;
    expect(totals).toMatchObject({ modelCalls, inputTokens, outputTokens, cycles: 2 });
    expect(totals?.ms).toBe(end.atMs);
  });
});
