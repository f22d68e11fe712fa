import { expect, it } from 'vitest';
import { figuresOf } from '../../../inspector/fold/summary.ts';
import { figuresFold } from '../../../src/inspection/run-figures.ts';
import { failingRun, folded, recordedEntries } from '../../support/inspector/inspected-runs.ts';

it('counts the same cycles, calls and tokens in the table of runs as on the page of a run, wherever the run was interrupted', async () => {
  const entries = recordedEntries(await failingRun());
  const answer = entries.findIndex(({ type }) => type === 'answer');
  const [start] = entries;
  if (start?.type !== 'run-start') throw new Error('no run-start');
  const table = figuresFold(start, true);
  const { log, fold } = folded(entries);
  for (const [seq, entry] of entries.slice(0, answer).entries()) {
    table.take(entry);
    const { cycles, modelCalls, tokens } = table.figures(true);
    const page = figuresOf(log, fold, seq + 1);
    // The page's cycles are those of all its entries.
    const begun = fold.spans.phases.findLast(({ from }) => from <= seq)?.cycle ?? 0;
    expect([seq, cycles, modelCalls, (tokens?.input ?? 0) + (tokens?.output ?? 0)]).toEqual([
      seq,
      begun,
      page.calls,
      page.tokens,
    ]);
  }
});
