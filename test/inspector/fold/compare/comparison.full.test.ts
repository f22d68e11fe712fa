import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { causeWords } from '../../../../inspector/fold/compare/cause.ts';
import { type ComparedRun, compareRuns } from '../../../../inspector/fold/compare/comparison.ts';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import { memoryJournals } from '../../../../src/durable/journals/memory-journals.ts';
import { folded, ownCharts } from '../../../support/inspector/inspected-runs.ts';
import { randomRunArbitrary, startRandomRun } from '../../../support/random-runs.ts';
import { repliesWith, scriptedChain, startScripted, unsureAnswer } from '../../../support/run-chain.ts';

/** A run as the inspector's page compares it. */
const comparedRun = (entries: readonly JournalEntry[]): ComparedRun => ({
  runId: 'run',
  charts: ownCharts,
  ...folded(entries),
});

async function runWith(confidence: number, limits = {}): Promise<readonly JournalEntry[]> {
  const answer = unsureAnswer(1, { confidence });
  const { run } = startScripted({ yield: answer }, { limits: { maxCycles: 2, ...limits } });
  await run.answer;
  return run.entries;
}

describe('comparing runs', () => {
  it('finds no difference between a run and itself', async () => {
    await fc.assert(
      fc.asyncProperty(randomRunArbitrary, async (random) => {
        const { run } = await startRandomRun(random);
        const whole = comparedRun(run.entries);
        const { first, firstContent, settings, cutOff, rows } = compareRuns([whole, comparedRun(run.entries)]);
        expect({ first, settings, cutOff }).toEqual({ first: null, settings: [], cutOff: false });
        expect(firstContent).toBeNull();
        expect(rows.every(({ equal }) => equal)).toBe(true);
      }),
      { numRuns: 20 },
    );
  });

  it('names the guard at which the runs diverge, and its inputs', async () => {
    const [unsure, sure] = [await runWith(0.6), await runWith(0.95, { maxModelCalls: 50 })];
    const { parting, firstContent, settings } = compareRuns([comparedRun(unsure), comparedRun(sure)]);
    expect(parting?.guard).toMatchObject({ name: 'confidenceReached', holds: [false, true] });
    expect(parting?.guard?.inputs.map(({ confidence, above }) => [confidence, above])).toEqual([
      [0.6, 0.9],
      [0.95, 0.9],
    ]);
    // The model's reply came first and caused it.
    expect([firstContent?.kind, firstContent?.nth]).toEqual(['reply to yield', 1]);
    expect(firstContent?.fields).toEqual([{ path: 'confidence', values: [0.6, 0.95] }]);
    expect(settings).toEqual([{ path: 'limits.maxModelCalls', values: [100, 50] }]);
    expect(parting?.entries.map((entry) => entry?.target)).toEqual([['action'], ['synthesizing']]);
  });

  it('names the cause of two runs that differ by one threshold: what each decided at the end of the common path', async () => {
    const withThreshold = async (confidence: number) => {
      const plan = { yield: (call: number) => unsureAnswer(call, { confidence: call === 1 ? 0.84 : 0.95 }) };
      const { run } = startScripted(plan, { limits: { maxCycles: 4 }, thresholds: { confidence, change: 0 } });
      await run.answer;
      return comparedRun(run.entries);
    };
    const [low, high] = [await withThreshold(0.8), await withThreshold(0.9)];
    const { first, rows, parting, settings } = compareRuns([low, high]);
    expect(settings).toEqual([{ path: 'thresholds.confidence', values: [0.8, 0.9] }]);
    // Both paths are read at the same place, although the first also ends like the second.
    expect(rows[first ?? -1]).toEqual({ steps: [first, first], equal: false });
    expect(parting?.guard).toMatchObject({ name: 'confidenceReached', holds: [true, false] });
    expect(parting && causeWords(parting)).toEqual([
      'stopped because confidence 0.84 was above 0.80',
      'continued with Action because confidence 0.84 was not above 0.90',
    ]);
  });

  it('shows what the program stored with the runs', async () => {
    const entries = await runWith(0.6);
    const storedAs = (host: Record<string, string>) =>
      comparedRun(
        entries.map((entry) => (entry.type === 'start' ? { ...entry, product: { ...entry.product, host } } : entry)),
      );
    const { settings } = compareRuns([storedAs({ model: 'a' }), storedAs({ model: 'b' })]);
    expect(settings).toEqual([{ path: 'host.model', values: ['a', 'b'] }]);
  });

  it('names the first field that differs if the paths are the same', async () => {
    const notes = (text: string) => ({ ...repliesWith({}).synthesis, notes: text });
    const runWithNotes = async (text: string) => {
      const { run } = startScripted({ synthesis: notes(text) });
      await run.answer;
      return comparedRun(run.entries);
    };
    const { first, parting, firstContent } = compareRuns([await runWithNotes('first'), await runWithNotes('second')]);
    expect([first, parting]).toEqual([null, null]);
    expect(firstContent?.kind).toBe('reply to synthesis');
    expect(firstContent?.fields).toEqual([{ path: 'notes', values: ['first', 'second'] }]);
  });

  it('recognizes a fork and where it diverges', async () => {
    const journals = memoryJournals();
    let created = 0;
    const newId = () => `run-${created++}`;
    const { chain } = scriptedChain({ yield: unsureAnswer(1, {}) }, { journals, newId, limits: { maxCycles: 2 } });
    const run = chain.run({ request: 'Is it so?' });
    await run.answer;
    const at = run.entries.find(({ type }) => type === 'decision')?.seq ?? 0;
    const fork = await chain.fork(run.id, { at, set: { 'thresholds.confidence': 0.1 } });
    await fork.answer;
    const { forkedFrom, parting, settings } = compareRuns([comparedRun(run.entries), comparedRun(fork.entries)]);
    expect(forkedFrom[0]).toBeNull();
    expect(forkedFrom[1]).toMatchObject({
      runId: run.id,
      changes: [expect.stringContaining('confidence to finish')],
    });
    expect(parting?.guard?.name).toBe('confidenceReached');
    expect(settings).toEqual([{ path: 'thresholds.confidence', values: [0.9, 0.1] }]);
  });

  it('says of runs that part at different events what happened in each', async () => {
    const failure = { code: 'server_error', status: 500 };
    const limits = { maxTransportRetries: 0, maxPhaseRetries: 0 };
    const failing = startScripted({ intention: { failure } }, { limits });
    const other = startScripted({});
    await Promise.all([failing.run.answer, other.run.answer]);
    const { parting } = compareRuns([comparedRun(failing.run.entries), comparedRun(other.run.entries)]);
    expect(parting).not.toBeNull();
    expect(parting && causeWords(parting)).toEqual([
      'went to recovering because “Phase succeeded” did not hold',
      'continued with Observation because “Phase succeeded” held',
    ]);
  });
});
