import { describe, expect, it } from 'vitest';
import { runsThatTook, sumTotals, totalsOf } from '../../../inspector/fold/fleet.ts';
import { stateMeasuresOf } from '../../../inspector/fold/state-measures.ts';
import { folded, ownCharts, randomRuns } from '../../support/inspector/inspected-runs.ts';

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

  it('names the phases of a path once, however often a run repeats its cycle', () => {
    const text = (path: string) => path.split(' → ');
    for (const { path } of totals) {
      expect(text(path)[0]).toBe('routing');
      for (let length = 1; length <= text(path).length / 2; length += 1)
        for (let at = 0; at + 2 * length <= text(path).length; at += 1)
          expect(text(path).slice(at, at + length)).not.toEqual(text(path).slice(at + length, at + 2 * length));
    }
  });
});
