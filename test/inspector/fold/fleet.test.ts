import { describe, expect, it } from 'vitest';
import { runsThatTook, sumTotals, totalsOf } from '../../../inspector/fold/fleet.ts';
import { stateMeasuresOf } from '../../../inspector/fold/state-measures.ts';
import { folded, ownCharts, randomRuns, runToAnswer } from '../../support/inspector/inspected-runs.ts';
import { unsureAnswer } from '../../support/run-chain.ts';

const runs = (await randomRuns(12, 11)).map((entries) => ({ entries, ...folded(entries) }));
const totals = runs.map(({ fold, entries }) => totalsOf(fold, ownCharts, entries.length - 1));
const chain = ownCharts.charts.find(({ id }) => id === 'postChain');

describe('the sum of many runs', () => {
  it('counts, for each state, the runs that visited it, and adds up their measures', () => {
    const numbers = sumTotals(ownCharts, totals);
    for (const { id } of chain?.states ?? []) {
      const each = runs.map(({ fold, entries }) =>
        stateMeasuresOf(fold, ownCharts).at('postChain', id, entries.length - 1),
      );
      const sum = numbers['postChain']?.get(id);
      expect(sum?.runs, id).toBe(each.filter(({ visits }) => visits > 0).length);
      expect(sum?.visits, id).toBe(each.reduce((total, { visits }) => total + visits, 0));
      expect(sum?.tokens, id).toBe(each.reduce((total, { tokens }) => total + tokens, 0));
    }
    expect(numbers['postChain']?.get('postChain')?.runs).toBe(runs.length);
  });

  it('counts a run once for a line of several transitions', () => {
    const indexes = [...(chain?.transitions.keys() ?? [])];
    const alone = indexes.map((index) => runsThatTook(totals, 'postChain', [index]));
    const together = runsThatTook(totals, 'postChain', indexes);
    expect(together).toBe(runs.length);
    expect(together).toBeLessThan(alone.reduce((sum, count) => sum + count, 0));
  });

  it('names the phases of a path once, and how often a run repeats its cycle', () => {
    for (const { path } of totals) {
      expect(path[0]).toBe('routing');
      for (let length = 1; length <= path.length / 2; length += 1)
        for (let at = 0; at + 2 * length <= path.length; at += 1)
          expect(path.slice(at, at + length)).not.toEqual(path.slice(at + length, at + 2 * length));
    }
  });

  it('distinguishes runs that differ in their number of cycles, or in the guard that ended them', async () => {
    const pathOf = async (confidences: readonly number[]) => {
      const run = await runToAnswer(
        { yield: (call: number) => unsureAnswer(call, { confidence: confidences[call - 1] ?? 1 }) },
        { limits: { maxCycles: 4 } },
      );
      return totalsOf(folded(run.journal).fold, ownCharts, run.journal.length - 1).path;
    };
    const [one, three, limit] = [await pathOf([1]), await pathOf([0.2, 0.3, 1]), await pathOf([0.2, 0.3, 0.4, 0.5])];
    expect(one).toContain('synthesizing (confidence reached)');
    expect(one.filter((state) => state.includes('×'))).toEqual([]);
    expect(three.filter((state) => !one.includes(state))).toEqual(['3× from action (next phase is action)']);
    expect(limit.filter((state) => !three.includes(state))).toEqual([
      '4× from action (next phase is action)',
      'synthesizing (cycle limit reached)',
    ]);
  });
});
