import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareRuns } from '../../../../inspector/fold/compare/comparison.ts';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import { memoryJournals } from '../../../../src/journal/memory-journals.ts';
import { aRandomRun, playRandomRun } from '../../../support/random-runs.ts';
import { repliesWith, unsureAnswer } from '../../../support/replies.ts';
import { scriptedChain, startScripted } from '../../../support/run-chain.ts';
import { comparedRun } from '../../rig/folded.ts';

async function runWith(confidence: number, limits = {}): Promise<readonly JournalEntry[]> {
  const answer = unsureAnswer(1, { confidence });
  const { run } = startScripted({ yield: answer }, { limits: { maxCycles: 2, ...limits } });
  await run.answer;
  return run.journal;
}

describe('comparing runs', () => {
  it('finds no difference between a run and itself, however it was cut into pieces', async () => {
    await fc.assert(
      fc.asyncProperty(aRandomRun, async (random) => {
        const { run } = await playRandomRun(random);
        const whole = comparedRun(run.journal);
        const { first, facts, starts, cutOff, rows } = compareRuns([whole, comparedRun(run.journal), whole]);
        expect({ first, starts, cutOff }).toEqual({ first: null, starts: [], cutOff: false });
        expect(facts.map(({ fact }) => fact)).toEqual([null, null]);
        expect(rows.every(({ equal }) => equal)).toBe(true);
      }),
      { numRuns: 20 },
    );
  });

  it('names the guard that parted them, and the number that it saw', async () => {
    const [unsure, sure] = [await runWith(0.6), await runWith(0.95, { maxModelCalls: 50 })];
    const { firstStep, facts, starts, first, rows, paths } = compareRuns([comparedRun(unsure), comparedRun(sure)]);
    const parting = firstStep?.candidates.find(({ parts }) => parts);
    expect(parting?.guard).toBe('confidenceReached');
    expect(parting?.verdicts).toEqual(['false', 'taken']);
    const confidence = parting?.inputs.find(({ name }) => name === 'confidence');
    expect(confidence?.differs).toBe(true);
    expect(new Set(confidence?.values).size).toBe(2);
    expect(parting?.inputs.find(({ name }) => name === 'threshold')?.differs ?? false).toBe(false);
    // The reply of the model came before, and is what made it.
    const fact = facts[0]?.fact;
    expect([fact?.kind, fact?.nth]).toEqual(['reply to yield', 1]);
    expect(fact?.fields).toEqual([{ path: 'confidence', values: [0.6, 0.95] }]);
    expect(starts).toEqual([{ path: 'limits.maxModelCalls', values: [100, 50] }]);
    const [left, right] = rows[first ?? -1]?.steps ?? [];
    expect(paths[0]?.[left ?? -1]?.way.source).toBe('postChain.cycling.yield.deciding');
    expect(paths[1]?.[right ?? -1]?.way.target).toEqual(['synthesizing']);
  });

  it('names the first field where the paths are the same', async () => {
    const notes = (text: string) => ({ ...repliesWith({}).synthesis, notes: text });
    const runs = await Promise.all(
      ['so', 'otherwise'].map(async (text) => {
        const { run } = startScripted({ synthesis: notes(text) });
        await run.answer;
        return comparedRun(run.journal);
      }),
    );
    const { first, firstStep, facts } = compareRuns(runs);
    expect([first, firstStep]).toEqual([null, null]);
    expect(facts[0]?.fact?.kind).toBe('reply to synthesis');
    expect(facts[0]?.fact?.fields).toEqual([{ path: 'notes', values: ['so', 'otherwise'] }]);
  });

  it('tells a fork from what it was made of, and where it went its own way', async () => {
    const journals = memoryJournals();
    let made = 0;
    const newId = () => `run-${made++}`;
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
    expect(firstStep?.candidates.find(({ parts }) => parts)?.guard).toBe('confidenceReached');
  });

  it('gives the totals that the journal tells of', async () => {
    const journal = await runWith(0.6);
    const end = journal.at(-1);
    if (end?.type !== 'run-end') throw new Error('it has not ended');
    const [totals] = compareRuns([comparedRun(journal)]).totals;
    const { modelCalls, inputTokens, outputTokens } = end.usage;
    expect(totals).toMatchObject({ calls: modelCalls, tokens: inputTokens + outputTokens, cycles: 2 });
    expect(totals?.ms).toBe(end.atMs);
  });
});
