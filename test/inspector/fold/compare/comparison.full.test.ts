import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ComparedRun, compareRuns } from '../../../../inspector/fold/compare/comparison.ts';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import { memoryJournals } from '../../../../src/durable/journals/memory-journals.ts';
import { folded, ownCharts } from '../../../support/inspector/inspected-runs.ts';
import { randomRunArbitrary, startRandomRun } from '../../../support/random-runs.ts';
import { repliesWith, scriptedChain, startScripted, unsureAnswer } from '../../../support/run-chain.ts';

/** A run as the inspector's page compares it. */
const comparedRun = (entries: readonly JournalEntry[]): ComparedRun => ({
  runId: 'run',
  kind: 'run',
  isOver: true,
  charts: ownCharts,
  ...folded(entries),
});

async function runWith(confidence: number, limits = {}): Promise<readonly JournalEntry[]> {
  const answer = unsureAnswer(1, { confidence });
  const { run } = startScripted({ yield: answer }, { limits: { maxCycles: 2, ...limits } });
  await run.answer;
  return run.entries;
}

/** The steps at the first difference: their places, and where their decisions lead. */
const partingOf = ({ paths, first }: ReturnType<typeof compareRuns>) =>
  [0, 1].map((run) => {
    const step = paths[run]?.[first ?? -1];
    return [step?.place, step?.row.next ?? step?.row.title];
  });

describe('comparing runs', () => {
  it('finds no difference between a run and itself', async () => {
    await fc.assert(
      fc.asyncProperty(randomRunArbitrary, async (random) => {
        const { run } = await startRandomRun(random);
        const whole = comparedRun(run.entries);
        const { first, firstData, settings } = compareRuns([whole, comparedRun(run.entries)]);
        expect({ first, firstData, settings }).toEqual({ first: null, firstData: null, settings: [] });
      }),
      { numRuns: 20 },
    );
  });

  it('names the decision and the guard at which the runs diverge, the reply that differs before it, and settings', async () => {
    const [unsure, sure] = [await runWith(0.6), await runWith(0.95, { maxModelCalls: 50 })];
    const comparison = compareRuns([comparedRun(unsure), comparedRun(sure)]);
    expect(partingOf(comparison)).toEqual([
      ['Cycle 1, Yield', 'Action'],
      ['Cycle 1, Yield', 'Answer'],
    ]);
    expect(comparison.guards).toEqual([
      '“Answer confident enough” did not hold (confidence 0.6, needs more than 0.9)',
      '“Answer confident enough” held (confidence 0.95, needs more than 0.9)',
    ]);
    expect(comparison.firstData).toBeLessThan(comparison.first ?? 0);
    expect(comparison.settings).toEqual([{ path: 'limits.maxModelCalls', before: 100, after: 50 }]);
  });

  it('names the cause of two runs that differ by one threshold: what each decided at the end of the common path', async () => {
    const withThreshold = async (confidence: number) => {
      const plan = { yield: (call: number) => unsureAnswer(call, { confidence: call === 1 ? 0.84 : 0.95 }) };
      const { run } = startScripted(plan, { limits: { maxCycles: 4 }, thresholds: { confidence, change: 0 } });
      await run.answer;
      return comparedRun(run.entries);
    };
    const [low, high] = [await withThreshold(0.8), await withThreshold(0.9)];
    const { firstData, guards, settings } = compareRuns([low, high]);
    expect(settings).toEqual([{ path: 'thresholds.confidence', before: 0.8, after: 0.9 }]);
    expect(firstData).toBeNull();
    expect(guards?.map((words) => / did not hold /u.test(words))).toEqual([false, true]);
  });

  it('shows what the program stored with the runs', async () => {
    const entries = await runWith(0.6);
    const storedAs = (host: Record<string, string>) =>
      comparedRun(
        entries.map((entry) => (entry.type === 'start' ? { ...entry, product: { ...entry.product, host } } : entry)),
      );
    const { settings } = compareRuns([storedAs({ model: 'a' }), storedAs({ model: 'b' })]);
    expect(settings).toEqual([{ path: 'host.model', before: 'a', after: 'b' }]);
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
    const { forkedFrom, guards, settings } = compareRuns([comparedRun(run.entries), comparedRun(fork.entries)]);
    expect(forkedFrom[0]).toBeNull();
    expect(forkedFrom[1]).toMatchObject({
      runId: run.id,
      changes: [expect.stringContaining('confidence to finish')],
    });
    expect(guards?.[1]).toContain('“Answer confident enough” held');
    expect(settings).toEqual([{ path: 'thresholds.confidence', before: 0.9, after: 0.1 }]);
  });

  it('shows what happened in each run if they first differ at a failure', async () => {
    const failure = { code: 'server_error', status: 500 };
    const limits = { maxTransportRetries: 0, maxPhaseRetries: 0 };
    const failing = startScripted({ intention: { failure } }, { limits });
    const other = startScripted({ intention: repliesWith({}).intention });
    await Promise.all([failing.run.answer, other.run.answer]);
    const comparison = compareRuns([comparedRun(failing.run.entries), comparedRun(other.run.entries)]);
    expect(partingOf(comparison)).toEqual([
      ['Cycle 1, Intention', 'Intention'],
      ['Cycle 1, Intention', 'Intention'],
    ]);
    expect(comparison.guards?.filter((words) => / did not hold/u.test(words))).toHaveLength(1);
  });
});
